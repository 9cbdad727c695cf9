"""Load that comes and goes under a closed loop: what the loop makes of it, and what hosts notice."""

import math
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any, Final

from eee_testbed.eeectl.exit_status import INTERRUPTED
from eee_testbed.record.event_kinds import EventKind
from tests.support.labs.engineer import Engineer
from tests.support.labs.lab_client import eventually
from tests.support.labs.loop_run import SENSITIVE, LoopRun, load

_ONE_AT_EACH: Final = ("n01", "n03", "n05")
_SENDER, _TARGET = "n03", "n05"
_IDLE: Final = "n02"
_DEACTIVATION: Final = 2


@dataclass(frozen=True, slots=True)
class Wave:
    """A loop under a square wave. `sent` and `received` are echoes between all pairs of switches, at all times.

    `offs` and `ons`: how often each link went off and was switched on. `floods`: frames for others that reached an idle
    host. `loops`: what the twin said of them. `refused`: reasons for which changes could not be made. `undecided`:
    reasons for which epochs had no decision. `rests`: how often each link was not needed for so long that the rule
    forgets how often it went off.
    """

    epochs: int
    half_epochs: int
    offs: dict[str, int]
    ons: dict[str, int]
    sent: int
    received: int
    floods: int
    loops: tuple[str, ...]
    refused: tuple[str, ...]
    undecided: dict[str, int] = field(default_factory=dict)
    rests: dict[str, int] = field(default_factory=dict)

    def most_offs(self, link: str) -> int:
        """How often a link may go off: it has to be active twice as long each time, but after long rests."""
        return math.floor(math.log2(max(self.epochs, 1))) + 1 + self.rests.get(link, 0)

    @property
    def most_floods(self) -> int:
        """On a new tree a frame to a host floods until its switches have learned: once from each pair, each change."""
        return len(list(permutations(_ONE_AT_EACH, 2))) * (sum(self.offs.values()) + sum(self.ons.values()))

    @property
    def faults(self) -> tuple[str, ...]:
        """What should not have been: lost echoes, loops, too many floods, too many switchings, refused changes."""
        often = {link: offs for link, offs in self.offs.items() if offs > self.most_offs(link)}
        return (
            *((f"{self.sent - self.received} of {self.sent} echoes lost",) if self.received != self.sent else ()),
            *((f"{self.floods} frames flooded, {self.most_floods} may",) if self.floods > self.most_floods else ()),
            *(f"{link} went off {offs} times, {self.most_offs(link)} it may" for link, offs in often.items()),
            *self.loops,
            *self.refused,
        )


def square_wave(engineer: Engineer, runs: Path, epochs: int, half_epochs: int, interval_s: float = 0.1) -> Wave:
    """Regulate a triangle for so many epochs, with load in every second half period; the lab has to have its trees.

    AssertionError if the loop ended early.
    """
    lab = engineer.lab
    before = set(engineer.loops())
    with ExitStack() as stack:
        port = next(end for link in lab.lab.links for end, far in _ways(link) if far.device == _IDLE)
        strange = ("not", "ether", "host", lab.mac(_IDLE), "and", "not", "ether", "multicast")
        watch = stack.enter_context(lab.watching(f"{port.device}:{port.port}", *strange))
        pings = [_Ping(lab, a, b, interval_s) for a, b in permutations(_ONE_AT_EACH, 2)]
        loop = stack.enter_context(LoopRun(engineer, runs, *SENSITIVE, "--deactivation-epochs", str(_DEACTIVATION)))
        begun, loaded = loop.epochs(), False
        while loop.epochs() - begun < epochs:
            end = min(epochs, loop.epochs() - begun + half_epochs)
            with ExitStack() as half:
                if loaded:
                    half.enter_context(load(lab, _SENDER, _TARGET))
                eventually("half a period is over", lambda: _epochs(loop) - begun >= end, patience_s=1200.0)  # noqa: B023
            loaded = not loaded
        counts = [ping.end() for ping in pings]
        events = loop.events()
        loop.running.interrupt()
        done = loop.running.end()
        assert done.returncode == INTERRUPTED, done
    decided = [event for event in events if event["kind"] == EventKind.LOOP_DECIDED]
    return Wave(
        loop.epochs(),
        half_epochs,
        _by_link(decided, "off"),
        _by_link(decided, "waking"),
        sum(sent for sent, _ in counts),
        sum(received for _, received in counts),
        len(watch.lines),
        tuple(set(engineer.loops()) - before),
        tuple(event["why"] for event in events if event["kind"] == EventKind.LOOP_REFUSED),
        dict(Counter(event["why"] for event in events if event["kind"] == EventKind.LOOP_UNDECIDED)),
        long_rests(events, _DEACTIVATION),
    )


def _epochs(loop: LoopRun) -> int:
    assert loop.running.process.poll() is None, loop.running.end()
    return loop.epochs()


def _ways(link: Any) -> tuple[tuple[Any, Any], ...]:
    return (link.a, link.b), (link.b, link.a)


def _by_link(decided: list[dict[str, Any]], after: str) -> dict[str, int]:
    return dict(Counter(event["link"] for event in decided if event["after"] == after))


def long_rests(events: Iterable[Mapping[str, Any]], deactivation_epochs: int) -> dict[str, int]:
    """How often each link was not needed for a hundred deactivation epochs, or for four times its hold if longer.

    Its hold is how long it has to be active: doubled when it was needed sooner, and as at first after such a rest.
    """
    epoch, left, rests = 0, dict[str, int](), Counter[str]()
    held: defaultdict[str, int] = defaultdict(lambda: deactivation_epochs)
    for event in events:
        if event["kind"] == EventKind.LOOP_EPOCH:
            epoch += 1
        elif event["kind"] == EventKind.LOOP_DECIDED:
            link = event["link"]
            if event["before"] == "active":
                left[link] = epoch
            elif event["before"] in ("shadow", "off") and link in left:
                if event["after"] not in ("active", "waking"):
                    continue
                rested = epoch - left.pop(link) >= max(100 * deactivation_epochs, 4 * held[link])
                held[link] = deactivation_epochs if rested else 2 * held[link]
                rests[link] += rested
    return dict(rests)


class _Ping:
    """Echoes from one host to another until `end`."""

    def __init__(self, lab: Any, source: str, target: str, interval_s: float) -> None:
        order = f"exec ping -n -q -i {interval_s} {lab.address(target)}"
        argv = ["ssh", "-tt", "-F", str(lab.config), f"root@{source}", order]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end(self) -> tuple[int, int]:
        """Stop it as Ctrl-C does; echoes sent and answered, without one that may be on its way."""
        assert self._process.stdin is not None
        self._process.stdin.write("\x03")
        self._process.stdin.flush()
        printed, _ = self._process.communicate(timeout=60)
        found = re.search(r"(\d+) packets transmitted, (\d+) received", printed)
        assert found is not None, printed
        sent, received = int(found[1]), int(found[2])
        return (sent - 1, received) if received == sent - 1 else (sent, received)
