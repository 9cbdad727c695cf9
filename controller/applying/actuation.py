"""Links as they go down and come up: how long a change takes, and that traffic never moves to a link that is down.

A port that was switched on needs seconds to have a link, and so does one that restarts. The next round, which may move
hosts there, begins when every link that shall be up is up. Links of rounds that change few are watched from before the
first order, which times them; those of others are asked for when the orders are through, as a watch polls its switch
hundreds of times a second.

Times of a change are those of all orders that its switch got in its round: exact where a round has one change a switch,
as `link off` and `link on` have, and an upper bound elsewhere.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from controller.applying.journal import Acknowledged, JournalState, LinkSeen, TakingBack
from controller.applying.rounds import LinkReport, Links, WatchLinks
from controller.drivers.driver import aspects_of
from controller.model.state import Change, PortChange, State
from controller.planning.plan_text import target_of, words_of
from controller.transports.port_watch import LinkEvent, PortWatch
from lab.errors import LabError
from lab.model import Lab, Switch
from lab.topology import Topology

_MOST_LINKS: Final = 4
_GOING_S: Final = 2.0
"""How long a link may take to go down once the order was taken; one that does not go down at all is not waited for."""

_COMING_S: Final = 15.0
"""How long a link may take to come up."""


class Watched(Protocol):
    """Ports of one switch under watch, from entering the context to leaving it."""

    def is_up(self, port: str) -> bool:
        """Whether its link is up now."""

    def wait_for(self, port: str, *, up: bool, timeout_s: float, since_ns: int = 0) -> LinkEvent | None:
        """The first change to `up` after `since_ns`."""


Place = tuple[str, str]
Turns = tuple[bool, ...]
"""What a link is to become, one after the other: up or not."""

Watcher = Callable[[Switch, Sequence[str]], AbstractContextManager[Watched]]


@dataclass
class _Report:
    """Collects what is seen of some links within the time that they may take."""

    number: int
    watches: dict[str, Watched]
    seen: list[LinkSeen] = field(default_factory=list)
    missing: list[Place] = field(default_factory=list)

    def collect(self, expected: dict[Place, Turns]) -> LinkReport:
        start_s = time.monotonic()
        for place, turns in expected.items():
            since_ns = 0
            for up in turns:
                patience_s = _COMING_S if up else _GOING_S
                since_ns = self._wait(place, start_s + patience_s, since_ns, up=up)
            if turns[-1] and not self.watches[place[0]].is_up(place[1]):
                self.missing.append(place)
        return LinkReport(tuple(self.seen), tuple(self.missing))

    def _wait(self, place: Place, end_s: float, since_ns: int, *, up: bool) -> int:
        name, port = place
        watch = self.watches[name]
        if up and since_ns == 0 and watch.is_up(port):
            return 0
        event = watch.wait_for(port, up=up, timeout_s=max(end_s - time.monotonic(), 0.0), since_ns=since_ns)
        if event is None:
            return since_ns
        self.seen.append(
            LinkSeen(round=self.number, switch=name, port=port, up=up, before_ns=event.before_ns, seen_ns=event.seen_ns)
        )
        return event.seen_ns


_NOTHING: Final = LinkReport((), ())


class _Live:
    """Links that are watched since before the first order."""

    def __init__(self, number: int, expected: dict[Place, Turns], watches: dict[str, Watched]) -> None:
        self._number = number
        self._watches = watches
        self._expected = {
            place: turns for place, turns in expected.items() if turns[0] or watches[place[0]].is_up(place[1])
        }

    def report(self) -> LinkReport:
        """Wait for what is still to be seen."""
        try:
            return _Report(self._number, self._watches).collect(self._expected)
        except LabError:
            return _NOTHING  # what a watch misses is no fault of the change, which is read back elsewhere


class _Late:
    """Links that are asked for when all orders are through: those that were off and shall come up.

    Simplification: one that restarts is not waited for here. Plans restart many links at once only where nothing moves
    to them afterwards.
    """

    def __init__(self, lab: Lab, number: int, expected: dict[Place, Turns], watcher: Watcher) -> None:
        self._lab = lab
        self._number = number
        self._expected: dict[Place, Turns] = {place: turns for place, turns in expected.items() if turns == (True,)}
        self._watcher = watcher

    def report(self) -> LinkReport:
        """Wait until they are up."""
        try:
            with ExitStack() as stack:
                watches = _enter(stack, self._lab, self._expected, self._watcher)
                return _Report(self._number, watches).collect(self._expected)
        except LabError:
            return _NOTHING


def _enter(stack: ExitStack, lab: Lab, places: dict[Place, Turns], watcher: Watcher) -> dict[str, Watched]:
    ports: dict[str, list[str]] = {}
    for name, port in places:
        ports.setdefault(name, []).append(port)
    return {name: stack.enter_context(watcher(lab.switch(name), own)) for name, own in ports.items()}


def link_watch(lab: Lab, watcher: Watcher = PortWatch) -> WatchLinks:
    """A watch on the links between switches that a round changes, at both ends.

    Where a switch has no SNMP agent, nothing is watched, and the round ends when it is read back.
    """
    topology = Topology.of(lab)

    @contextmanager
    def watch(number: int, before: State, after: State, changes: Sequence[Change]) -> Iterator[Links]:
        expected = _expected(topology, before, after, changes)
        with ExitStack() as stack:
            links: Links = _Late(lab, number, expected, watcher)
            if 0 < len(expected) <= 2 * _MOST_LINKS:
                try:
                    links = _Live(number, expected, _enter(stack, lab, expected, watcher))
                except LabError:
                    links = _Late(lab, number, {}, watcher)
            yield links

    return watch


def _expected(topology: Topology, before: State, after: State, changes: Sequence[Change]) -> dict[Place, Turns]:
    """Ends of cables whose link will go, come, or go and come."""
    touched = {
        (change.switch, change.port)
        for change in changes
        if isinstance(change, PortChange) and aspects_of(change) & {"link", "energy"}
    }
    found: dict[Place, Turns] = {}
    for cables in topology.cables.values():
        for cable in cables:
            ends = [(end.device, end.port) for end in (cable.a, cable.b)]
            if touched.isdisjoint(ends):
                continue
            was, is_up = (all(state.port(*end).admin_up for end in ends) for state in (before, after))
            if was or is_up:
                turns = (False, True) if was and is_up else (is_up,)
                found |= dict.fromkeys(ends, turns)
    return found


def first_order_ns(journaled: JournalState) -> int | None:
    """When the first order of all was sent, monotonic ns; None if none was."""
    orders = [
        order.sent_ns
        for entry in journaled.entries
        if isinstance(entry, Acknowledged)
        for own in entry.taken.values()
        for order in own
    ]
    return min(orders, default=None)


def timings(journaled: JournalState) -> list[dict[str, Any]]:
    """For each change of the way forward its times in seconds after the first order of all was sent."""
    taken: dict[int, Acknowledged] = {}
    seen: dict[int, list[LinkSeen]] = {}
    for entry in journaled.entries:
        match entry:
            case Acknowledged():
                taken[entry.round] = entry
            case LinkSeen():
                seen.setdefault(entry.round, []).append(entry)
            case TakingBack():
                break
            case _:
                continue
    zero_ns = first_order_ns(journaled)
    if zero_ns is None:
        return []
    start_ns = zero_ns

    def after_s(time_ns: int) -> float:
        return round((time_ns - start_ns) / 1e9, 6)

    told = []
    for step in journaled.begun.steps:
        own = taken[step.round].taken.get(step.change.switch, ()) if step.round in taken else ()
        if own:
            told.append(
                {
                    "round": step.round,
                    "target": target_of(step.change),
                    "change": words_of(step.change),
                    "sent_s": after_s(min(order.sent_ns for order in own)),
                    "acknowledged_s": after_s(max(order.acknowledged_ns for order in own)),
                }
            )
    links = [
        {
            "round": link.round,
            "port": f"{link.switch}:{link.port}",
            "up": link.up,
            "not_before_s": after_s(link.before_ns),
            "seen_s": after_s(link.seen_ns),
        }
        for number in sorted(seen)
        for link in seen[number]
    ]
    return told + links
