"""The closed loop on a running lab: links off and on under load, counters reset, a switch that restarts, a kill."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from record.event_kinds import EventKind
from tests.support.labs.engineer import Engineer, Running
from tests.support.labs.lab_client import EEECTL, eventually

_PATIENCE_S = 150.0
_BESIDE_ROOT = 4
"""Links that are not in the root network: of the two cables between each two switches, all but two from one switch."""

_LOOP = ("--epoch", "1s", "--deactivation-epochs", "1", "--high-water-mark", "0.1%")
"""Links above 1 Mb/s are too busy, so that pings are a load."""


def _decided(after: str, why: str = "") -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["kind"] == EventKind.LOOP_DECIDED and event["after"] == after and why in event["why"]


class _Loop:
    """A loop in a process of its own, and the events in its run's folder."""

    def __init__(self, engineer: Engineer, runs: Path) -> None:
        words = ("regulate", "--auto", "--lab", engineer.folder, "--runs", str(runs), *_LOOP)
        self.running = Running([*EEECTL, *words], engineer.environment())
        self._seen = 0
        (self.folder,) = eventually("a run's folder", lambda: tuple(runs.glob("*-regulate-auto")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.running.process.poll() is None:
            self.running.kill()

    def await_event(
        self, what: str, wanted: Callable[[dict[str, Any]], bool], provoke: Callable[[], object] = lambda: None
    ) -> dict[str, Any]:
        """The first such event after the last one that was awaited. `provoke` is called until it is there."""

        def found() -> dict[str, Any] | None:
            provoke()
            assert self.running.process.poll() is None, self.running.end()
            events = self._events()
            for place, event in enumerate(events[self._seen :], self._seen):
                if wanted(event):
                    self._seen = place + 1
                    return event
            return None

        event = eventually(what, found, patience_s=_PATIENCE_S)
        assert event is not None
        return event

    def _events(self) -> list[dict[str, Any]]:
        path = self.folder / "events.jsonl"
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith(b"\n")]


@contextmanager
def _load(engineer: Engineer, source: str, target: str) -> Iterator[None]:
    """About 3 Mb/s each way, in bursts of many frames, which leave the machine time in between."""
    address = next(host.data_address for host in engineer.lab.lab.hosts if host.name == target)
    argv = ["ssh", "-tt", "-F", str(engineer.lab.config), f"root@{source}", f"ping -q -n -i 0.1 -s 40000 {address}"]
    null = subprocess.DEVNULL
    with subprocess.Popen(argv, stdin=null, stdout=null, stderr=null) as sending:
        try:
            yield
        finally:
            sending.kill()


def test_links_follow_the_load_and_the_lab_is_restored_after_a_restart_and_a_kill(
    engineer: Engineer, tmp_path: Path
) -> None:
    assert engineer.apply().returncode == 0
    before = engineer.read()
    with _Loop(engineer, tmp_path) as loop:
        for _ in range(_BESIDE_ROOT):
            loop.await_event("a link goes off", _decided("off"))
        with _load(engineer, "n03", "n05"):
            woken = loop.await_event("a link is switched on", _decided("waking", "links beside it are above"))
            active = loop.await_event("it is in use", _decided("active", "it is up"))
            assert active["link"] == woken["link"]

        loop.await_event("a link goes off again", _decided("off"))
        with engineer.lab.terminal("sw1") as terminal:
            loop.await_event(
                "an epoch is not counted, as counters were reset within it",
                lambda event: event["kind"] == EventKind.LOOP_UNDECIDED and "sw1:gi1/0/" in event["why"],
                provoke=lambda: terminal.type("clear counters"),
            )
        engineer.lab.reboot("sw2")
        loop.await_event(
            "the lab is restored, as the switch restarted or its settings are others",
            lambda event: event["kind"] == EventKind.LOOP_UNDECIDED and "the lab was restored" in event["why"],
        )
        loop.await_event("a link goes off after that", _decided("off"))
        loop.running.kill()
    status = engineer.eeectl("status")
    assert status.returncode == 3
    assert f"`eeectl run {loop.folder} --put-back` only restores the lab" in status.stdout
    assert "--resume" not in status.stdout
    assert engineer.words("run", str(loop.folder), "--resume").returncode == 1
    put_back = engineer.words("run", str(loop.folder), "--put-back")
    assert put_back.returncode == 0, put_back.stderr
    assert engineer.read() == before
