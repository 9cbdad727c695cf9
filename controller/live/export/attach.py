"""Views of a lab or a run for others: metrics for Prometheus to scrape, lines for InfluxDB. For any verb to start.

A run's views read its folder, which is the truth, at a pace of their own and in a thread of their own: ::

    with attach(run.folder, lab, ViewOptions(prometheus="127.0.0.1:9464")):
        ...  # the run

Nothing of it can hold the run up, and an error in it ends the view and not the run.
"""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from controller.collecting.collect import SourceState
from controller.live.export.influx import InfluxTarget, InfluxWriter, line_of
from controller.live.export.latest import Latest
from controller.live.export.prometheus import LabMetrics, PrometheusExporter
from controller.live.export.run_metrics import RunMetrics
from controller.live.state.event_text import words_of
from controller.live.state.source_state import SourceStates
from lab.errors import LabError
from lab.model import Lab, Secret
from record.run_tail import RunTail, Update

_LOOK_S: Final = 1.0
_ANNOTATED: Final = frozenset({"actuation", "trial_begun", "trial_ended", "begun", "resumed", "restarted", "failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """Who else is shown what is measured.

    Parameters
    ----------
    prometheus
        Serve metrics for Prometheus at [ADDRESS:]PORT, on loopback if there is no address.
    influx
        Write samples to a server that speaks InfluxDB's version 2 write API, such as http://127.0.0.1:8086.
    influx_bucket
        Its bucket.
    influx_org
        The organisation that the bucket belongs to.
    influx_token_file
        A file, readable for its owner alone, with the token that the server wants.

    """

    prometheus: str = ""
    influx: str = ""
    influx_bucket: str = "eee"
    influx_org: str = ""
    influx_token_file: str = ""

    def __bool__(self) -> bool:
        """Whether there is any view."""
        return bool(self.prometheus or self.influx)


class Views:
    """Sinks of one lab or run, from their making to `close`. LabError if a port is taken or an address is none."""

    def __init__(self, lab: Lab, options: ViewOptions, run: str = "") -> None:
        self._tags = {"lab": lab.name, "run": run}
        self._latest = Latest()
        self._sources = SourceStates()
        self._lock = threading.Lock()
        self._metrics = RunMetrics(lab)
        self._exporter: PrometheusExporter | None = None
        self._writer: InfluxWriter | None = None
        self.broken = ""
        """Why nothing new is shown."""

        if options.prometheus:
            address, port = _listen(options.prometheus)
            known = LabMetrics(lab.name, self._latest, self._states)
            self._exporter = PrometheusExporter(known, self._metrics, address=address, port=port)
        if options.influx:
            try:
                self._writer = InfluxWriter(_target(options), self._tags)
            except LabError:
                self.close()
                raise

    @property
    def url(self) -> str:
        """Where Prometheus is served; empty if it is not."""
        return self._exporter.url if self._exporter is not None else ""

    @property
    def trouble(self) -> str:
        """What keeps samples from being shown; empty if nothing does."""
        return self.broken or (self._writer.trouble if self._writer is not None else "")

    def take_all(self, news: Update, facts: Mapping[str, Any]) -> None:
        """Show what is new; `facts` are those of a run, empty without one."""
        for batch in news.batches:
            self._latest.take(batch)
            with self._lock:
                self._sources.take(batch)
            if self._writer is not None:
                self._writer.take(batch)
        self._metrics.take_all(news, facts)
        if self._writer is not None:
            for line in _lines(news, self._tags):
                self._writer.take(line)

    def close(self) -> None:
        """End serving; what waits for the InfluxDB server is offered to it once more."""
        if self._exporter is not None:
            self._exporter.close()
        if self._writer is not None:
            self._writer.close()

    def _states(self) -> Sequence[SourceState]:
        with self._lock:
            return self._sources.states()


@contextlib.contextmanager
def attach(folder: Path, lab: Lab, options: ViewOptions) -> Iterator[Views | None]:
    """Show a run to others while the context lasts, and to its last sample. None if no view is wanted."""
    if not options:
        yield None
        return
    tail = RunTail(folder)
    views = Views(lab, options, str(tail.facts["name"]))
    ending = threading.Event()

    def follow() -> None:
        ended = False
        while True:
            try:
                views.take_all(tail.look(), tail.facts)
            except (LabError, OSError) as error:
                views.broken = f"the folder cannot be read any more: {error}"
                return
            if ended:
                return
            ended = ending.wait(_LOOK_S)

    thread = threading.Thread(target=follow, name=f"show {folder.name}", daemon=True)
    thread.start()
    try:
        yield views
    finally:
        ending.set()
        thread.join()
        views.close()


def _lines(news: Update, tags: Mapping[str, str]) -> Iterator[str]:
    """Events and echoes in line protocol."""
    for event in news.events:
        if event["kind"] in _ANNOTATED:
            kind = str(event["kind"])
            yield line_of("eee_events", {**tags, "kind": kind}, {"text": words_of(event)}, event["time_ns"])
    for echo in news.echoes:
        fields = {"lost": echo.rtt_ns is None, "gap_ns": echo.gap_ns, "rtt_ns": echo.rtt_ns}
        yield line_of("eee_probe", {**tags, "trial": str(echo.trial)}, fields, echo.sent_ns)


def _target(options: ViewOptions) -> InfluxTarget:
    token = Secret(file=str(Path(options.influx_token_file).expanduser()) if options.influx_token_file else "")
    return InfluxTarget(options.influx, options.influx_bucket, options.influx_org, token)


def _listen(text: str) -> tuple[str, int]:
    address, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise LabError(f"'{text}' is no place to serve metrics: write [ADDRESS:]PORT, as in 127.0.0.1:9464.")
    return address or "127.0.0.1", int(port)
