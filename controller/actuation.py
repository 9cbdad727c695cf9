"""How long a change takes: sent, acknowledged, link down or up here and at the partner.

Times of a change are those of all orders that its switch got in its round: exact where a round has one change a switch,
as `link off` and `link on` have, and an upper bound elsewhere.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, Protocol

from controller.drivers.driver import aspects_of
from controller.errors import LabError
from controller.journal import Acknowledged, LinkSeen, Sending, Story, TakingBack
from controller.model.lab import Lab, Switch
from controller.model.state import Change, PortChange, State
from controller.model.topology import Topology
from controller.plan_text import target_of, words_of
from controller.rounds import Links, WatchLinks
from controller.transports.port_watch import LinkEvent, PortWatch

_MOST_LINKS: Final = 4  # a watch polls its switch hundreds of times a second: not for a whole lab at once
_PATIENCE_S: Final = 8.0


class Watched(Protocol):
    """Ports of one switch under watch, from entering the context to leaving it."""

    def is_up(self, port: str) -> bool:
        """Whether its link is up now."""

    def wait_for(self, port: str, *, up: bool, timeout_s: float, since_ns: int = 0) -> LinkEvent | None:
        """The first change to `up` after `since_ns`."""


Place = tuple[str, str]
Watcher = Callable[[Switch, Sequence[str]], AbstractContextManager[Watched]]


class _Seen:
    """What is to be seen of some links, and the watches that see it."""

    def __init__(self, number: int, expected: dict[Place, tuple[bool, ...]], watches: dict[str, Watched]) -> None:
        self._number = number
        self._expected = expected
        self._watches = watches

    def events(self) -> tuple[LinkSeen, ...]:
        """What was seen; a change that does not come in time is left out."""
        end_s = time.monotonic() + _PATIENCE_S
        return tuple(seen for place, turns in self._expected.items() for seen in self._of(place, turns, end_s))

    def _of(self, place: Place, turns: tuple[bool, ...], end_s: float) -> Iterator[LinkSeen]:
        name, port = place
        since_ns = 0
        for up in turns:
            try:
                left_s = max(end_s - time.monotonic(), 0.0)
                event = self._watches[name].wait_for(port, up=up, timeout_s=left_s, since_ns=since_ns)
            except LabError:
                return  # what a watch misses is no fault of the change, which is read back elsewhere
            if event is None:
                return
            since_ns = event.seen_ns
            yield LinkSeen(
                round=self._number, switch=name, port=port, up=up, before_ns=event.before_ns, seen_ns=event.seen_ns
            )


class _Nothing:
    def events(self) -> tuple[LinkSeen, ...]:
        """Nothing is watched."""
        return ()


def link_watch(lab: Lab, watcher: Watcher = PortWatch) -> WatchLinks:
    """A watch on the links between switches that a round changes, at both ends; on none if there are many."""
    topology = Topology.of(lab)

    @contextmanager
    def watch(number: int, before: State, after: State, changes: Sequence[Change]) -> Iterator[Links]:
        expected = _expected(topology, before, after, changes)
        if not expected or len(expected) > 2 * _MOST_LINKS:
            yield _Nothing()
            return
        ports: dict[str, list[str]] = {}
        for name, port in expected:
            ports.setdefault(name, []).append(port)
        with ExitStack() as stack:
            try:
                watches = {name: stack.enter_context(watcher(lab.switch(name), own)) for name, own in ports.items()}
            except LabError:  # no SNMP there: the change goes on without its times
                yield _Nothing()
                return
            there = {place: turns for place, turns in expected.items() if watches[place[0]].is_up(place[1]) != turns[0]}
            yield _Seen(number, there, watches)

    return watch


def _expected(
    topology: Topology, before: State, after: State, changes: Sequence[Change]
) -> dict[Place, tuple[bool, ...]]:
    """Ends of cables whose link will go, come, or go and come."""
    touched = {
        (change.switch, change.port)
        for change in changes
        if isinstance(change, PortChange) and aspects_of(change) & {"link", "energy"}
    }
    found: dict[Place, tuple[bool, ...]] = {}
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


def timings(story: Story) -> list[dict[str, Any]]:
    """For each change of the way forward its times in seconds after the first order of all was sent."""
    taken: dict[int, Acknowledged] = {}
    seen: dict[int, list[LinkSeen]] = {}
    for entry in story.entries:
        match entry:
            case Acknowledged():
                taken[entry.round] = entry
            case LinkSeen():
                seen.setdefault(entry.round, []).append(entry)
            case TakingBack():
                break
            case Sending() | _:
                continue
    orders = [order for entry in taken.values() for own in entry.taken.values() for order in own]
    if not orders:
        return []
    zero_ns = min(order.sent_ns for order in orders)

    def after_s(time_ns: int) -> float:
        return round((time_ns - zero_ns) / 1e9, 6)

    told = []
    for step in story.begun.steps:
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
