"""Watch links go down and come up: time each change, and make sure that no traffic moves to a link that is down.

A port that was enabled needs seconds until its link is up, and so does one that restarts. The next round, which may
move hosts there, begins when every link that should be up is up. In rounds that change few links they are watched from
before the first order, which times them. In other rounds they are polled after the last order, as a watch polls its
switch hundreds of times a second.

A switch that has lost a member of a LAG may go on sending flows over it until its hardware spreads them over the
others. No switch shows when that is done, so the round lasts for as long as it may take: then traffic that was moved
away may come back.

The times of a change are those of all orders that its switch got in its round: exact where a round has one change for
each switch, as in `link off` and `link on`, and an upper bound elsewhere.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from eee_testbed.controller.applying.journal import Acknowledged, JournalState, LinkSeen, RollingBack
from eee_testbed.controller.applying.rounds import LinkReport, Links, WatchLinks
from eee_testbed.controller.drivers.driver import aspects_of
from eee_testbed.controller.model.state import Change, Draft, PortChange, State
from eee_testbed.controller.planning.broadcast import working_members
from eee_testbed.controller.planning.disruption import MEMBER_S
from eee_testbed.controller.planning.plan_text import target_of, words_of
from eee_testbed.controller.transports.port_watch import LinkEvent, PortWatch
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab, Switch
from eee_testbed.lab.topology import Topology

_MOST_LINKS: Final = 4
_GOING_S: Final = 2.0
"""How long a link may take to go down after its order was accepted; nothing waits longer for it."""

_COMING_S: Final = 15.0
"""How long a link may take to come up."""


class Watched(Protocol):
    """Watched ports of one switch, from entering the context to leaving it."""

    def is_up(self, port: str) -> bool:
        """Whether its link is up now."""

    def wait_for(self, port: str, *, up: bool, timeout_s: float, since_ns: int = 0) -> LinkEvent | None:
        """The first change to `up` after `since_ns`."""


Place = tuple[str, str]
LinkStates = tuple[bool, ...]
"""The states that a link should go through: up or not."""

Waiting = Callable[[], AbstractContextManager[object]]

Watcher = Callable[[Switch, Sequence[str]], AbstractContextManager[Watched]]


@dataclass
class _Report:
    """Collects the changes of some links within the time that they may take."""

    number: int
    watches: dict[str, Watched]
    seen: list[LinkSeen] = field(default_factory=list)
    missing: list[Place] = field(default_factory=list)

    def collect(self, expected: dict[Place, LinkStates]) -> LinkReport:
        start_s = time.monotonic()
        for place, states in expected.items():
            since_ns = 0
            for up in states:
                patience_s = _COMING_S if up else _GOING_S
                since_ns = self._wait(place, start_s + patience_s, since_ns, up=up)
            if states[-1] and not self.watches[place[0]].is_up(place[1]):
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


_NO_LINKS: Final = LinkReport((), ())


class _Live:
    """Links watched from before the first order."""

    def __init__(self, number: int, expected: dict[Place, LinkStates], watches: dict[str, Watched]) -> None:
        self._number = number
        self._watches = watches
        self._expected = {
            place: states for place, states in expected.items() if states[0] or watches[place[0]].is_up(place[1])
        }

    def report(self) -> LinkReport:
        """Wait for what is still to be seen."""
        try:
            return _Report(self._number, self._watches).collect(self._expected)
        except LabError:
            return _NO_LINKS  # a watch that fails does not fail the change, which is read back elsewhere


class _Late:
    """Links polled after the last order: those that were off and should come up.

    Simplification: nothing waits here for a link that restarts. Plans restart many links at once only where nothing
    moves to them afterwards.
    """

    def __init__(self, lab: Lab, number: int, expected: dict[Place, LinkStates], watcher: Watcher) -> None:
        self._lab = lab
        self._number = number
        coming: LinkStates = (True,)
        self._expected = {place: states for place, states in expected.items() if states == coming}
        self._watcher = watcher

    def report(self) -> LinkReport:
        """Wait until they are up."""
        try:
            with ExitStack() as stack:
                watches = _enter(stack, self._lab, self._expected, self._watcher)
                return _Report(self._number, watches).collect(self._expected)
        except LabError:
            return _NO_LINKS


@dataclass(frozen=True, slots=True)
class _Settling:
    """Links of a round after which LAGs have fewer members, and may need a while to follow."""

    links: Links

    def report(self) -> LinkReport:
        """What was seen, once the LAGs have followed."""
        report = self.links.report()
        time.sleep(MEMBER_S)  # nothing shows when a switch has followed
        return report


def _enter(stack: ExitStack, lab: Lab, places: dict[Place, LinkStates], watcher: Watcher) -> dict[str, Watched]:
    ports: dict[str, list[str]] = {}
    for name, port in places:
        ports.setdefault(name, []).append(port)
    return {name: stack.enter_context(watcher(lab.switch(name), own)) for name, own in ports.items()}


def link_watch(lab: Lab, watcher: Watcher = PortWatch) -> WatchLinks:
    """A watch on the links between switches that a round changes, at both ends.

    The links of a switch without an SNMP agent are not watched; the round ends when it is read back.
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
            yield _Settling(links) if _loses_members(topology, before, after) else links

    return watch


@dataclass(frozen=True, slots=True)
class _Waited:
    """Links of a round for which the rest is waited within a context."""

    links: Links
    waiting: Waiting

    def report(self) -> LinkReport:
        """What was seen."""
        with self.waiting():
            return self.links.report()


def waiting_within(watch: WatchLinks, waiting: Waiting) -> WatchLinks:
    """The same watch, which enters a context while it waits for links after the last order of a round.

    Where time passes faster in that context, as in a virtual lab, links are seen less closely: each change still lies
    between the moments that are reported.
    """

    @contextmanager
    def watched(number: int, before: State, after: State, changes: Sequence[Change]) -> Iterator[Links]:
        with watch(number, before, after, changes) as links:
            yield _Waited(links, waiting)

    return watched


def _loses_members(topology: Topology, before: State, after: State) -> bool:
    """Whether a LAG works with fewer cables than before."""
    for number in topology.lags:
        was, now = (working_members(topology, Draft(state), number) for state in (before, after))
        if now and not set(was) <= set(now):
            return True
    return False


def _expected(topology: Topology, before: State, after: State, changes: Sequence[Change]) -> dict[Place, LinkStates]:
    """Ends of cables whose link will go down, come up, or restart."""
    touched = {
        (change.switch, change.port)
        for change in changes
        if isinstance(change, PortChange) and aspects_of(change) & {"link", "energy"}
    }
    expected: dict[Place, LinkStates] = {}
    for cables in topology.cables.values():
        for cable in cables:
            ends = [(end.device, end.port) for end in (cable.a, cable.b)]
            if touched.isdisjoint(ends):
                continue
            was, is_up = (all(state.port(*end).admin_up for end in ends) for state in (before, after))
            if was or is_up:
                states = (False, True) if was and is_up else (is_up,)
                expected |= dict.fromkeys(ends, states)
    return expected


def first_order_ns(record: JournalState) -> int | None:
    """When the first order was sent, monotonic ns; None if none was."""
    orders = [
        order.sent_ns
        for entry in record.entries
        if isinstance(entry, Acknowledged)
        for own in entry.taken.values()
        for order in own
    ]
    return min(orders, default=None)


def timings(record: JournalState) -> list[dict[str, Any]]:
    """For each change of the forward pass its times, in seconds after the first order was sent."""
    acknowledged: dict[int, Acknowledged] = {}
    seen: dict[int, list[LinkSeen]] = {}
    for entry in record.entries:
        match entry:
            case Acknowledged():
                acknowledged[entry.round] = entry
            case LinkSeen():
                seen.setdefault(entry.round, []).append(entry)
            case RollingBack():
                break
            case _:
                continue
    zero_ns = first_order_ns(record)
    if zero_ns is None:
        return []
    start_ns = zero_ns

    def after_s(time_ns: int) -> float:
        return round((time_ns - start_ns) / 1e9, 6)

    rows = []
    for step in record.begun.steps:
        entry_of_round = acknowledged.get(step.round)
        own = entry_of_round.taken.get(step.change.switch, ()) if entry_of_round else ()
        if own:
            rows.append(
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
    return rows + links
