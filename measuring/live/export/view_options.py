"""What is exported of a lab or a run; apart from the exports, so that a command line is read quickly."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """Exports of what is measured.

    Parameters
    ----------
    prometheus
        Serve metrics for Prometheus at [ADDRESS:]PORT, on loopback without an address.
    influx
        Write samples to a server that speaks InfluxDB's version 2 write API, such as http://127.0.0.1:8086.
    influx_bucket
        The bucket to write to.
    influx_org
        The organisation that the bucket belongs to.
    influx_token_file
        A file with the server's API token, readable by its owner only.

    """

    prometheus: str = ""
    influx: str = ""
    influx_bucket: str = "eee"
    influx_org: str = ""
    influx_token_file: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The options that say so, for another eeectl; none if nothing is exported."""
        if not self:
            return ()
        options = {name: value for name, value in asdict(self).items() if value}
        return tuple(word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value))

    def __bool__(self) -> bool:
        """Whether anything is exported."""
        return bool(self.prometheus or self.influx)
