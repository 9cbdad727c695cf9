"""A server with InfluxDB's version 2 write API, by the synchronous writer of influxdb-client, an optional package."""

import urllib.parse
from dataclasses import dataclass
from typing import Final

from eee_testbed.lab.credentials import read_secret
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import NO_SECRET, Secret
from eee_testbed.lab.plain_text import one_line

TIMEOUT_S: Final = 5.0
_INVALID: Final = frozenset({400, 413, 422})
_SHOWN_CHARACTERS: Final = 300
"""Characters of a server's answer that an error repeats."""
_REMEDIES: Final = {
    401: "correct --influx-token-file",
    403: "correct --influx-token-file",
    404: "correct --influx-bucket or the address",
}


@dataclass(frozen=True, slots=True)
class InfluxTarget:
    """A server. `token` says where its API token is; empty for a server that needs none, such as VictoriaMetrics.

    InfluxDB 1.8 and later 1.x take USER:PASSWORD as the token and DATABASE or DATABASE/POLICY as the bucket.
    """

    url: str
    bucket: str
    organisation: str = ""
    token: Secret = NO_SECRET


class InfluxServer:
    """Sends line protocol, a request at a time, each with a time-out and without another try of the library's.

    LabError if the address is invalid, its token cannot be read, or influxdb-client is not installed.
    """

    def __init__(self, target: InfluxTarget, timeout_s: float = TIMEOUT_S) -> None:
        parts = urllib.parse.urlsplit(target.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise LabError(f"invalid address '{target.url}' of a server: write http://HOST:PORT.")
        try:
            import influxdb_client  # noqa: PLC0415 - an optional package, slow to import
            from influxdb_client.client.write_api import SYNCHRONOUS  # noqa: PLC0415
        except ImportError as error:
            raise LabError(
                "--influx needs the package influxdb-client: run `pip install 'eee-testbed[influx]'`."
            ) from error
        token = read_secret(target.token, target.url) if target.token else None
        self._name = parts.netloc
        self._target = target
        self._precision = influxdb_client.WritePrecision.NS
        self._client = influxdb_client.InfluxDBClient(
            target.url, token, timeout=round(timeout_s * 1_000), org=target.organisation, retries=False
        )
        self._writer = self._client.write_api(write_options=SYNCHRONOUS)

    def send(self, body: bytes) -> tuple[str, bool]:
        """(why it failed or "", whether the request itself is invalid)."""
        from influxdb_client.rest import ApiException  # noqa: PLC0415 - as above
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        try:
            self._writer.write(self._target.bucket, self._target.organisation, body, self._precision)
        except ApiException as error:
            if not error.status:  # no answer: TLS was refused
                return f"{self._name} does not answer ({one_line(str(error.reason))})", False
            text = str(error.body or error.reason).strip()[:_SHOWN_CHARACTERS]
            remedy = f"; {_REMEDIES[error.status]}" if error.status in _REMEDIES else ""
            return f"{self._name} refuses samples with {error.status}: {text}{remedy}", error.status in _INVALID
        except (HTTPError, OSError, UnicodeDecodeError) as error:
            return f"{self._name} does not answer ({error})", False
        return "", False

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
