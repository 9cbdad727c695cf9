"""Exports of a lab or a run: metrics for Prometheus to scrape, lines for InfluxDB. Any verb can start them.

The exports of a run read its folder, which is the truth, in a thread of their own: ::

    with attach(run.folder, lab, ViewOptions(prometheus="127.0.0.1:9464"), print):
        ...  # the run

They cannot delay the run, and an error in them ends the export and not the run. `say` gets a sentence when an export
fails, when it works again, and at the end about what was not exported.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab, Secret
from eee_testbed.measuring.collecting.collect import SourceState
from eee_testbed.measuring.live.export.influx import InfluxWriter, line_of
from eee_testbed.measuring.live.export.influx_server import InfluxTarget
from eee_testbed.measuring.live.export.latest import Latest
from eee_testbed.measuring.live.export.prometheus import LabMetrics, PrometheusExporter
from eee_testbed.measuring.live.export.run_metrics import RunMetrics
from eee_testbed.measuring.live.export.trouble import TroubleReport
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.measuring.live.state.source_state import SourceStates
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import sentence_of
from eee_testbed.record.run_tail import RunTail, Update

_POLL_S: Final = 1.0
_ANNOTATED: Final = frozenset(
    {
        EventKind.ACTUATION,
        EventKind.TRIAL_BEGUN,
        EventKind.TRIAL_ENDED,
        EventKind.RUN_BEGUN,
        EventKind.RUN_RESUMED,
        EventKind.SWITCH_RESTARTED,
        EventKind.SOURCE_FAILED,
        EventKind.LOOP_DECIDED,
        EventKind.LOOP_UNDECIDED,
    }
)
"""Events that InfluxDB gets, for annotations in Grafana."""


class Views:
    """Exports of one lab or run until `close`. LabError if a port is taken or an address is invalid."""

    def __init__(self, lab: Lab, options: ViewOptions, run: str = "") -> None:
        self._tags = {"lab": lab.name, "run": run}
        self._latest = Latest()
        self._sources = SourceStates()
        self._lock = threading.Lock()
        self._metrics = RunMetrics(lab)
        self._exporter: PrometheusExporter | None = None
        self._writer: InfluxWriter | None = None
        self.broken = ""
        """Why the export has ended early; empty if it has not."""

        if options.prometheus:
            address, port = listening_at(options.prometheus, "metrics")
            lab_metrics = LabMetrics(lab.name, self._latest, self._states, run)
            self._exporter = PrometheusExporter(lab_metrics, self._metrics, address=address, port=port)
        if options.influx:
            try:
                self._writer = InfluxWriter(_target(options), self._tags)
            except LabError:
                self.close()
                raise

    @property
    def url(self) -> str:
        """Address of the metrics for Prometheus; empty without them."""
        return self._exporter.url if self._exporter is not None else ""

    @property
    def trouble(self) -> str:
        """Why samples are not exported; empty if they are."""
        return self.broken or (self._writer.trouble if self._writer is not None else "")

    @property
    def unsent(self) -> str:
        """What the InfluxDB server did not get, after `close`, in words; empty if it got all."""
        count = self._writer.unsent_batches if self._writer is not None else 0
        why = self.trouble or "the buffer was full, or the server refused them"
        return f"{count} polls or events were not exported ({why.rstrip('.')})" if count else ""

    def take_update(self, update: Update, facts: Mapping[str, Any]) -> None:
        """Export what is new; `facts` are those of the run, empty without a run."""
        for batch in update.batches:
            self._latest.take(batch)
            with self._lock:
                self._sources.take(batch)
            if self._writer is not None:
                self._writer.take(batch)
        self._metrics.take_update(update, facts)
        if self._writer is not None:
            for line in _lines(update, self._tags):
                self._writer.take(line)

    def close(self) -> None:
        """Stop serving; try once more to write what waits for the InfluxDB server."""
        if self._exporter is not None:
            self._exporter.close()
        if self._writer is not None:
            self._writer.close()

    def _states(self) -> Sequence[SourceState]:
        with self._lock:
            return self._sources.states()


@contextlib.contextmanager
def attach(folder: Path, lab: Lab, options: ViewOptions, say: Callable[[str], None]) -> Iterator[Views | None]:
    """Export a run while the context lasts, including its last sample. None if `options` ask for no export."""
    if not options:
        yield None
        return
    tail = RunTail(folder)
    views = Views(lab, options, str(tail.facts["name"]))
    ending = threading.Event()

    def follow() -> None:
        ended = False
        trouble = TroubleReport(say)
        while True:
            try:
                views.take_update(tail.poll(), tail.facts)
            except (LabError, OSError) as error:
                views.broken = f"the run's folder cannot be read any more: {error}"
                trouble.update(views.broken)
                return
            trouble.update(views.trouble)
            if ended:
                return
            ended = ending.wait(_POLL_S)

    thread = threading.Thread(target=follow, name=f"export {folder.name}", daemon=True)
    thread.start()
    try:
        yield views
    finally:
        ending.set()
        thread.join()
        views.close()
        if views.unsent:
            say(f"{views.unsent}; the run's folder has them.")


def _lines(update: Update, tags: Mapping[str, str]) -> Iterator[str]:
    """Events and echoes in line protocol."""
    for event in update.events:
        if event["kind"] in _ANNOTATED:
            tags_of_event = {**tags, "kind": str(event["kind"])}
            yield line_of("eee_events", tags_of_event, {"text": sentence_of(event)}, event["time_ns"])
    for echo in update.echoes:
        fields = {"lost": echo.rtt_ns is None, "gap_ns": echo.gap_ns, "rtt_ns": echo.rtt_ns}
        yield line_of("eee_probe", {**tags, "trial": str(echo.trial)}, fields, echo.sent_ns)


def _target(options: ViewOptions) -> InfluxTarget:
    token = Secret(file=str(Path(options.influx_token_file).expanduser()) if options.influx_token_file else "")
    return InfluxTarget(options.influx, options.influx_bucket, options.influx_org, token)


def listening_at(text: str, what: str) -> tuple[str, int]:
    """Address and port of [ADDRESS:]PORT, on loopback without an address; LabError, about `what`, for other text."""
    address, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise LabError(f"invalid address '{text}' to serve {what} at: write [ADDRESS:]PORT, such as 127.0.0.1:9464.")
    return address or "127.0.0.1", int(port)
