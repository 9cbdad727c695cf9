"""Where a live view comes from: a run's folder that anybody may be writing, or a lab that is sampled just for it."""

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from controller.applying.observe import ask_switches, read_eee
from controller.collecting.collect import Collector, Sink
from controller.collecting.lab_sources import LPI_PERIOD_S, PERIOD_S, sources_of
from controller.live.export.attach import Views
from controller.live.state.live_state import LiveState
from controller.live.state.view import Alarm, LabView
from lab.errors import DeviceError
from lab.model import Lab
from record.run_clock import RunClock
from record.run_tail import Event, RunTail, Update
from record.sample_tables import Batch

_SILENT_S: Final = 30.0
_EEE_EVERY_S: Final = 60.0

Eee = Mapping[str, bool]
"""Whether EEE is enabled, by end."""


class Feed(Protocol):
    """Looks, one after the other, from any thread."""

    def look(self) -> LabView:
        """Everything as it is now."""

    def close(self) -> None:
        """End whatever was begun."""


class RunFeed:
    """A run's folder. Nothing is sent to any device. LabError if the folder is no run's."""

    def __init__(self, folder: Path, lab: Lab, views: Views | None = None) -> None:
        self._tail = RunTail(folder)
        self._picture = LiveState(lab)
        self._views = views

    def look(self) -> LabView:
        """Read what is new."""
        news = self._tail.look()
        self._picture.take_all(news)
        if self._views is not None:
            self._views.take_all(news, self._tail.facts)
        facts = self._tail.facts
        if facts["state"] != "running":
            return self._picture.view(self._picture.last_ns, facts)
        now_ns = time.time_ns()
        silent_s = (now_ns - self._picture.last_ns) / 1e9
        if silent_s > _SILENT_S and self._picture.last_ns:
            gone = Alarm("bad", f"nothing was written for {silent_s:.0f} s: whoever ran this may be gone")
            return self._picture.view(self._picture.last_ns, facts, [gone])
        return self._picture.view(now_ns, facts)

    def close(self) -> None:
        """Nothing is open."""


class _Memory:
    """A recorder that keeps nothing: what comes waits for the next look."""

    def __init__(self, clock: RunClock) -> None:
        self.clock = clock
        self.waiting: queue.SimpleQueue[Batch | Event | dict[str, bool]] = queue.SimpleQueue()

    def append(self, batch: Batch) -> None:
        """For the next look."""
        self.waiting.put(batch)

    def event(self, kind: str, **facts: Any) -> None:
        """For the next look."""
        self.waiting.put({"time_ns": facts.pop("time_ns", self.clock.now_ns()), "kind": kind, **facts})

    def add_clocks(self, offsets: Sequence[Mapping[str, Any]]) -> None:
        """Not shown."""


def _ask_eee(lab: Lab) -> Eee:
    """What every switch that answers says of its ports."""
    told = ask_switches(lab, read_eee)
    return {
        f"{name}:{port}": status.enabled
        for name, ports in told.items()
        if not isinstance(ports, DeviceError)
        for port, status in ports.items()
    }


class LabFeed:
    """Samples a lab from its making to `close`, in memory. EEE is asked for over the switches' command lines.

    `eee_every_s` 0: it is not asked for. `ask_eee` is the seam for tests.
    """

    def __init__(
        self,
        lab: Lab,
        views: Views | None = None,
        *,
        period_s: float = PERIOD_S,
        lpi_period_s: float = LPI_PERIOD_S,
        eee_every_s: float = _EEE_EVERY_S,
        ask_eee: Callable[[Lab], Eee] = _ask_eee,
    ) -> None:
        self._lab = lab
        self._picture = LiveState(lab)
        self._views = views
        self._memory = _Memory(RunClock())
        self._ending = threading.Event()
        self._ask = ask_eee
        self._eee: queue.SimpleQueue[Eee] = queue.SimpleQueue()
        sinks: tuple[Sink, ...] = ()
        self._collector = Collector(sources_of(lab, period_s=period_s, lpi_period_s=lpi_period_s), self._memory, sinks)
        self._collector.start()
        self._asker = threading.Thread(target=self._keep_asking, args=(eee_every_s,), name="ask for EEE", daemon=True)
        if eee_every_s:
            self._asker.start()

    def look(self) -> LabView:
        """Take what was sampled since the last look; LabError if sampling has ended by itself."""
        self._collector.check()
        batches: list[Batch] = []
        events: list[Event] = []
        while not self._memory.waiting.empty():
            item = self._memory.waiting.get()
            (batches if isinstance(item, Batch) else events).append(item)  # type: ignore[arg-type]
        while not self._eee.empty():
            self._picture.know_eee(self._eee.get())
        news = Update(tuple(batches), tuple(events))
        self._picture.take_all(news)
        if self._views is not None:
            self._views.take_all(news, {})
        return self._picture.view(self._memory.clock.now_ns())

    def close(self) -> None:
        """End the sampling. A question about EEE that is under way ends by itself."""
        self._ending.set()
        self._collector.stop()

    def _keep_asking(self, every_s: float) -> None:
        while True:
            self._eee.put(self._ask(self._lab))
            if self._ending.wait(every_s):
                return
