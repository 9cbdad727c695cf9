"""Sources of a live view: a run's folder that another process may be writing, or a lab that is sampled for the view."""

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from eee_testbed.controller.applying.observe import ask_switches, read_eee
from eee_testbed.lab.errors import DeviceError
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.collecting.collect import Collector, Timed
from eee_testbed.measuring.collecting.lab_sources import LPI_PERIOD_S, PERIOD_S, sources_of
from eee_testbed.measuring.live.clocks import ReadClock, now_of
from eee_testbed.measuring.live.export.attach import Views
from eee_testbed.measuring.live.state.live_state import LiveState
from eee_testbed.measuring.live.state.view import Alarm, LabView
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import Event
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.run_tail import RunTail, Update
from eee_testbed.record.sample_tables import Batch

_SILENT_S: Final = 30.0
_EEE_EVERY_S: Final = 60.0

Eee = Mapping[str, bool]
"""Whether EEE is enabled, by end."""

_Item = Batch | Event


class Feed(Protocol):
    """A source of views, polled by one thread at a time."""

    def poll(self) -> LabView:
        """The view of now."""

    @property
    def url(self) -> str:
        """Address of the metrics for Prometheus; empty without them."""

    @property
    def trouble(self) -> str:
        """Why samples are not exported; empty if they are, or need not be."""

    def close(self) -> None:
        """Stop what the feed has started."""


def _export_alarms(trouble: str) -> list[Alarm]:
    return [Alarm("bad", f"samples are not exported: {trouble}")] if trouble else []


class RunFeed:
    """A run's folder. Sends nothing to any device, and closes its views. LabError if the folder is not a run's.

    `read_clock`: the clock of a virtual lab that has one of its own.
    """

    def __init__(self, folder: Path, lab: Lab, views: Views | None = None, read_clock: ReadClock | None = None) -> None:
        self._read_clock = read_clock
        self._tail = RunTail(folder)
        self._state = LiveState(lab)
        self._views = views

    def poll(self) -> LabView:
        """Read what is new."""
        update = self._tail.poll()
        self._state.take_update(update)
        if self._views is not None:
            self._views.take_update(update, self._tail.facts)
        facts = self._tail.facts
        alarms = _export_alarms(self.trouble)
        if facts["state"] != "running":
            return self._state.view(self._state.last_ns, facts, alarms)
        now_ns, clocks = now_of(self._read_clock)
        silent_s = (now_ns - self._state.last_ns) / 1e9
        if silent_s > _SILENT_S and self._state.last_ns:
            gone = Alarm("bad", f"nothing was written for {silent_s:.0f} s: the run's process may be gone")
            return self._state.view(self._state.last_ns, facts, [gone, *alarms])
        return self._state.view(now_ns, facts, alarms, clocks)

    @property
    def url(self) -> str:
        """Address of the metrics for Prometheus; empty without them."""
        return self._views.url if self._views is not None else ""

    @property
    def trouble(self) -> str:
        """Why samples are not exported; empty if they are, or need not be."""
        return self._views.trouble if self._views is not None else ""

    def close(self) -> None:
        """Close its views: nothing else is open."""
        if self._views is not None:
            self._views.close()


class _Memory:
    """A recorder in memory: batches and events wait for the next poll of the feed."""

    def __init__(self, clock: RunClock) -> None:
        self.clock = clock
        self.waiting: queue.SimpleQueue[_Item] = queue.SimpleQueue()

    def append(self, batch: Batch) -> None:
        """Keep rows."""
        self.waiting.put(batch)

    def event(self, kind: EventKind, **facts: Any) -> None:
        """Keep an event."""
        self.waiting.put({"time_ns": facts.pop("time_ns", self.clock.now_ns()), "kind": kind, **facts})

    def add_clocks(self, offsets: Sequence[Mapping[str, Any]]) -> None:
        """Do nothing: a live view shows no clocks."""


def _ask_eee(lab: Lab) -> Eee:
    """Whether EEE is enabled, from every switch that answers."""
    answers = ask_switches(lab, read_eee)
    return {
        f"{name}:{port}": status.enabled
        for name, ports in answers.items()
        if not isinstance(ports, DeviceError)
        for port, status in ports.items()
    }


class LabFeed:
    """Samples a lab in memory until `close`. Reads EEE settings from the switches' command lines.

    `read_clock` is as of `RunFeed`. `sources` are sampled instead of the lab's own; `ask_eee` reads settings.
    """

    def __init__(
        self,
        lab: Lab,
        views: Views | None = None,
        *,
        period_s: float = PERIOD_S,
        read_clock: ReadClock | None = None,
        sources: Sequence[Timed] | None = None,
        ask_eee: Callable[[Lab], Eee] = _ask_eee,
    ) -> None:
        self._lab = lab
        self._read_clock = read_clock
        self._state = LiveState(lab)
        self._views = views
        self._memory = _Memory(RunClock())
        self._ending = threading.Event()
        self._ask = ask_eee
        self._eee: queue.SimpleQueue[Eee] = queue.SimpleQueue()
        sampled = sources_of(lab, period_s=period_s, lpi_period_s=LPI_PERIOD_S) if sources is None else sources
        self._collector = Collector(sampled, self._memory)
        self._collector.start()
        threading.Thread(target=self._keep_asking, name="ask for EEE", daemon=True).start()

    def poll(self) -> LabView:
        """Take what was sampled since the last poll; LabError if sampling has ended by itself."""
        self._collector.check()
        batches: list[Batch] = []
        events: list[Event] = []
        while not self._memory.waiting.empty():
            item = self._memory.waiting.get()
            (batches if isinstance(item, Batch) else events).append(item)  # type: ignore[arg-type]
        while not self._eee.empty():
            self._state.set_eee(self._eee.get())
        update = Update(tuple(batches), tuple(events))
        self._state.take_update(update)
        if self._views is not None:
            self._views.take_update(update, {})
        _, clocks = now_of(self._read_clock)
        return self._state.view(self._memory.clock.now_ns(), more=_export_alarms(self.trouble), clocks=clocks)

    @property
    def url(self) -> str:
        """Address of the metrics for Prometheus; empty without them."""
        return self._views.url if self._views is not None else ""

    @property
    def trouble(self) -> str:
        """Why samples are not exported; empty if they are, or need not be."""
        return self._views.trouble if self._views is not None else ""

    def close(self) -> None:
        """End the sampling. A query of EEE settings that is under way ends by itself."""
        self._ending.set()
        self._collector.stop()

    def _keep_asking(self) -> None:
        while True:
            self._eee.put(self._ask(self._lab))
            if self._ending.wait(_EEE_EVERY_S):
                return
