"""A closed loop of link regulation in a process of its own, and the events in its run's folder."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from eee_testbed.record.event_kinds import EventKind
from tests.support.labs.engineer import Engineer, Running
from tests.support.labs.lab_client import EEECTL, LabClient, eventually

PATIENCE_S: Final = 150.0
SENSITIVE: Final = ("--epoch", "1s", "--high-water-mark", "0.1%")
"""Links above 1 Mb/s are too busy, so that pings are a load."""

Event = dict[str, Any]


def decided(after: str, why: str = "") -> Callable[[Event], bool]:
    """Whether an event is a decision to bring a link into that state."""
    return lambda event: event["kind"] == EventKind.LOOP_DECIDED and event["after"] == after and why in event["why"]


class LoopRun:
    """`eeectl regulate auto` on a lab."""

    def __init__(self, engineer: Engineer, runs: Path, *words: str) -> None:
        here = ("--lab", engineer.folder, "--runs", str(runs))
        known = set(runs.glob("*-regulate-auto"))
        self.running = Running([*EEECTL, "regulate", "auto", *here, *words], engineer.environment())
        (self.folder,) = eventually("a run's folder", lambda: set(runs.glob("*-regulate-auto")) - known)
        self._seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.running.process.poll() is None:
            self.running.kill()

    def await_event(
        self, what: str, wanted: Callable[[Event], bool], provoke: Callable[[], object] = lambda: None
    ) -> Event:
        """The first such event after the last one that was awaited. `provoke` is called until it is there."""

        def found() -> Event | None:
            provoke()
            assert self.running.process.poll() is None, self.running.end()
            events = self.events()
            for place, event in enumerate(events[self._seen :], self._seen):
                if wanted(event):
                    self._seen = place + 1
                    return event
            return None

        event = eventually(what, found, patience_s=PATIENCE_S)
        assert event is not None
        return event

    def events(self) -> list[Event]:
        """All events so far."""
        path = self.folder / "events.jsonl"
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def epochs(self) -> int:
        """How many epochs have ended."""
        return sum(event["kind"] == EventKind.LOOP_EPOCH for event in self.events())


@contextmanager
def load(lab: LabClient, source: str, target: str) -> Iterator[None]:
    """About 3 Mb/s each way, in bursts of many frames, which leave the machine time in between."""
    argv = ["ssh", "-tt", "-F", str(lab.config), f"root@{source}", f"ping -q -n -i 0.1 -s 40000 {lab.address(target)}"]
    null = subprocess.DEVNULL
    with subprocess.Popen(argv, stdin=null, stdout=null, stderr=null) as sending:
        try:
            yield
        finally:
            sending.kill()
