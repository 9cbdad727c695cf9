"""A lab's samples for Prometheus to scrape: base units, counters ending in `_total`; served on loopback by default.

A sample that is older than a few periods is left out, so that Prometheus shows a gap. The names and labels of metrics
are defined here only. Nothing is computed until a scrape.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.collecting.collect import SourceState
from eee_testbed.measuring.live.export.latest import Latest
from eee_testbed.record.columns import column_of
from eee_testbed.record.sample_tables import Batch

_PERIODS: Final = 5.0
_LEAST_S: Final = 5.0
_MBPS_BYTE: Final = 1e6 / 8


@dataclass(frozen=True, slots=True)
class _Family:
    """A metric: one column of a table, times a factor, with labels that are other columns and fixed ones."""

    name: str
    help: str
    table: str
    column: str
    labels: tuple[str, ...]
    fixed: tuple[tuple[str, str], ...] = ()
    factor: float = 1.0
    counter: bool = True
    whole: bool | None = None
    """Of `watts`: True the row of the whole strip, False those of outlets."""


def _frames(direction: str, cast: str) -> _Family:
    side = "in" if direction == "receive" else "out"
    labels = (("direction", direction), ("cast", cast))
    return _Family(
        "eee_port_frames", "Frames by destination.", "ports", f"{side}_{cast}_frame", ("switch", "port"), labels
    )


def _both(name: str, means: str, table: str, columns: tuple[str, str], factor: float = 1.0) -> tuple[_Family, ...]:
    """One metric for both directions; `columns` are (received, sent)."""
    directions = zip(("receive", "transmit"), columns, strict=True)
    labels = ("switch", "port")
    return tuple(
        _Family(name, means, table, column, labels, (("direction", direction),), factor)
        for direction, column in directions
    )


_FAMILIES: Final = (
    *_both("eee_port_bytes", "Bytes of frames.", "ports", ("in_byte", "out_byte")),
    *(_frames(side, cast) for side in ("receive", "transmit") for cast in ("unicast", "multicast", "broadcast")),
    *_both("eee_port_discarded_frames", "Discarded.", "ports", ("in_discard_frame", "out_discard_frame")),
    *_both("eee_port_error_frames", "With errors.", "ports", ("in_error_frame", "out_error_frame")),
    _Family("eee_port_up", "Whether the link is up.", "ports", "up", ("switch", "port"), counter=False),
    _Family(
        "eee_port_speed_bytes_per_second",
        "Speed of the link.",
        "ports",
        "rate_mbps",
        ("switch", "port"),
        factor=_MBPS_BYTE,
        counter=False,
    ),
    *_both("eee_port_lpi_seconds", "Time in Low Power Idle.", "lpi", ("rx_lpi_us", "tx_lpi_us"), 1e-6),
    *_both("eee_port_lpi_events", "Times that Low Power Idle began.", "lpi", ("rx_lpi_event", "tx_lpi_event")),
    *(
        _Family(name, means, "watts", column, labels, counter=column == "energy_joule", whole=whole)
        for name, means, column, labels, whole in (
            ("eee_outlet_power_watts", "Power of an outlet.", "power_watt", ("strip", "outlet", "feeds"), False),
            ("eee_outlet_energy_joules", "Energy of an outlet.", "energy_joule", ("strip", "outlet", "feeds"), False),
            ("eee_outlet_on", "Whether an outlet is on.", "on", ("strip", "outlet", "feeds"), False),
            ("eee_strip_power_watts", "Power of a strip.", "power_watt", ("strip",), True),
            ("eee_strip_energy_joules", "Energy of a strip.", "energy_joule", ("strip",), True),
        )
    ),
)


class LabMetrics(Collector):
    """Metrics of a lab, computed for each scrape; `run` is the run that they belong to, empty without one."""

    def __init__(self, lab: str, latest: Latest, states: Callable[[], Sequence[SourceState]], run: str = "") -> None:
        self._lab = lab
        self._run = run
        self._latest = latest
        self._states = states

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        states = self._states()
        oldest_s = {kind: _oldest_s(states, kind) for kind in ("switch", "strip", "lpi")}
        of_table = {"ports": oldest_s["switch"], "watts": oldest_s["strip"], "lpi": oldest_s["lpi"]}
        batches = {name: [one.batch for one in self._latest.batches(name, age)] for name, age in of_table.items()}
        metrics: dict[str, Metric] = {}
        for family in _FAMILIES:
            metric = metrics.get(family.name)
            if metric is None:
                labels = ["lab", "run", *family.labels, *(key for key, _ in family.fixed)]
                kind = CounterMetricFamily if family.counter else GaugeMetricFamily
                metric = metrics[family.name] = kind(family.name, family.help, labels=labels)
            for batch in batches[family.table]:
                self._fill(metric, family, batch)
        yield from metrics.values()
        yield self._energy()
        yield from self._sources(states)

    def _fill(self, metric: Any, family: _Family, batch: Batch) -> None:
        columns = [column_of(batch, name) for name in family.labels]
        values = column_of(batch, family.column)
        outlets = column_of(batch, "outlet")
        stale = [mark == "stale" for mark in column_of(batch, "mark")]
        fixed = [value for _, value in family.fixed]
        for row, value in enumerate(values):
            if value is None or stale[row] or (family.whole is not None and (outlets[row] == 0) != family.whole):
                continue
            labels = [self._lab, self._run, *(str(column[row]) for column in columns), *fixed]
            metric.add_metric(labels, float(value) * family.factor)

    def _energy(self) -> Metric:
        about = "Energy of a strip since its first sample: its power, integrated."
        metric = CounterMetricFamily("eee_strip_measured_joules", about, labels=["lab", "run", "strip"])
        for strip, joules in sorted(self._latest.joules().items()):
            metric.add_metric([self._lab, self._run, strip], joules)
        return metric

    def _sources(self, states: Sequence[SourceState]) -> Iterator[Metric]:
        up = GaugeMetricFamily("eee_source_up", "Whether it answered last.", labels=["lab", "source", "kind"])
        when = GaugeMetricFamily(
            "eee_source_last_sample_timestamp_seconds", "When it answered last.", labels=["lab", "source", "kind"]
        )
        for state in states:
            up.add_metric([self._lab, state.name, state.kind], float(state.outcome == "ok"))
            if state.received_ns:
                when.add_metric([self._lab, state.name, state.kind], state.received_ns / 1e9)
        polls = CounterMetricFamily("eee_polls", "Polls.", labels=["lab", "source", "kind", "outcome"])
        for (source, kind, outcome), count in sorted(self._latest.polls().items()):
            polls.add_metric([self._lab, source, kind, outcome], count)
        yield from (up, when, polls)


def _oldest_s(states: Sequence[SourceState], kind: str) -> float:
    return max((_PERIODS * state.period_s for state in states if state.kind == kind), default=_LEAST_S) or _LEAST_S


class PrometheusExporter:
    """Serves /metrics until `close`. LabError if the port is taken."""

    def __init__(self, *metrics: Collector, address: str = "127.0.0.1", port: int = 0) -> None:
        registry = CollectorRegistry(auto_describe=False)
        for source in metrics:
            registry.register(source)
        try:
            self._server, self._thread = start_http_server(port, addr=address, registry=registry)
        except OSError as error:
            raise LabError(
                f"metrics cannot be served at {address}:{port} ({error.strerror}): choose another port."
            ) from error
        self.url = f"http://{address}:{self._server.server_port}/metrics"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
