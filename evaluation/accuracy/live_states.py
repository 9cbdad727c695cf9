"""What the ports of a live lab did between two moments of lab time, by the twin's own account.

A thread asks the lab's daemon again and again, in the wall's time: the slower the lab, the closer its moments lie. The
totals at any moment between two answers are interpolated.
"""

import bisect
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

from eee_engine import read_lab_clock

from eee_testbed.simulation.energy import StateShares
from eee_testbed.twin.lab import lifecycle as labs
from eee_testbed.twin.power.watts import PortLedger, port_joule
from eee_testbed.twin.truth.truth import PortPowerTruth

if TYPE_CHECKING:
    from eee_engine import TimeInState

_EVERY_S: Final = 0.05
"""Of the wall, between two questions."""

_STATES: Final = ("active", "transmit", "sleep", "quiet", "refresh", "wake", "fast", "down", "total")

Totals = Mapping[str, "TimeInState"]
"""Of each end of a cable, its transmitter's time in each state since the lab began."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The daemon's account at a moment of lab time (ns, monotonic)."""

    at_ns: int
    ports: Totals


class Watch:
    """Asks a running lab while the block runs. What it was told stands in `answers`."""

    def __init__(self, lab: str) -> None:
        self._lab = lab
        self._page = labs.clock_page(lab)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="watch", daemon=True)
        self.answers: list[Answer] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._over.wait(_EVERY_S):
            _, before_ns, _ = read_lab_clock(self._page)
            told: dict[str, Any] = labs.order(self._lab, "truth")
            _, after_ns, _ = read_lab_clock(self._page)
            ports = {end: _parsed(one["time_in_state"]) for end, one in told["ports"].items()}
            self.answers.append(Answer((before_ns + after_ns) // 2, ports))


def _parsed(told: Mapping[str, Any]) -> "TimeInState":
    found: Any = {**told, "up_by_mbps": {int(mbps): ps for mbps, ps in told["up_by_mbps"].items()}}
    return cast("TimeInState", found)


def totals_at(answers: Sequence[Answer], at_ns: int) -> Totals:
    """Interpolated between the answers around a moment; ValueError if none lies before or behind it."""
    index = bisect.bisect(answers, at_ns, key=lambda one: one.at_ns)
    if not 0 < index < len(answers):
        raise ValueError("the lab was not watched at that moment: watch it from before the program to behind it.")
    before, after = answers[index - 1], answers[index]
    share = (at_ns - before.at_ns) / (after.at_ns - before.at_ns)
    return {end: _between(before.ports[end], after.ports[end], share) for end in before.ports}


def _between(before: "TimeInState", after: "TimeInState", share: float) -> "TimeInState":
    def mean(early: int, late: int) -> int:
        return round(early + share * (late - early))

    found: dict[str, Any] = {
        name: mean(early, after[name])  # type: ignore[literal-required]
        for name, early in before.items()
        if isinstance(early, int)
    }
    rates = before["up_by_mbps"] | after["up_by_mbps"]
    found["up_by_mbps"] = {
        mbps: mean(before["up_by_mbps"].get(mbps, 0), after["up_by_mbps"].get(mbps, 0)) for mbps in rates
    }
    return cast("TimeInState", found)


def shares_between(before: Totals, after: Totals, ends: Sequence[str]) -> StateShares:
    """Of the time of the transmitters at some ends, as a simulation has them."""
    spent = {
        name: sum(after[end][f"{name}_ps"] - before[end][f"{name}_ps"] for end in ends)  # type: ignore[literal-required]
        for name in _STATES
    }
    time = spent["total"]
    if not time:
        return StateShares()
    awake = spent["active"] - spent["transmit"]
    named = {name: spent[name] / time for name in ("transmit", "sleep", "quiet", "refresh", "wake", "fast")}
    return StateShares(idle=awake / time, off=spent["down"] / time, **named)


def joule_between(
    before: Totals, after: Totals, partner: Mapping[str, str], truths: Mapping[str, PortPowerTruth]
) -> float:
    """What ports drew, by the twin's law of power, on their supplies' output side. `partner`: the cable's other end.

    `truths` has the ports that count. Left out: what each bit and frame takes, which this account does not hold.
    """
    return sum(
        port_joule(_ledger(before, end, partner), _ledger(after, end, partner), truth) for end, truth in truths.items()
    )


def _ledger(totals: Totals, end: str, partner: Mapping[str, str]) -> PortLedger:
    return PortLedger(totals[end], totals[partner[end]], admin_up=totals[end]["down_ps"] == 0)
