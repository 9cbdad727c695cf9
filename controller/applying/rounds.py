"""Execute a plan's steps: announce, send, read back, round after round. The one place that sends changes.

Each round is announced in the journal, sent to all its switches at once, and read back where it touched them before
the next one begins. Any other outcome than the desired one stops it: DeviceError, Ignored, Drift, JournalFailed or
Stopped. The journal has what was sent until then.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from functools import partial
from itertools import groupby
from typing import Protocol

from eee_testbed.controller.applying.journal import AcceptedOrder, Acknowledged, Entry, LinkSeen, Sending, Verified
from eee_testbed.controller.applying.observe import ALL, read_switch
from eee_testbed.controller.applying.switchboard import Switchboard, require
from eee_testbed.controller.drivers.driver import Aspect, Command, Driver, KeepsText, Line, aspects_of
from eee_testbed.controller.model.state import (
    Change,
    PortChange,
    PortState,
    State,
    StaticsChange,
    StpChange,
    SwitchState,
    VlanChange,
    diff,
    replay,
)
from eee_testbed.controller.planning.plan_text import target_of, words_of
from eee_testbed.controller.planning.steps import Step
from eee_testbed.controller.transports import session
from eee_testbed.controller.transports.session import Session
from eee_testbed.lab.errors import DeviceError, Drift, Ignored, LabError, Rejected
from eee_testbed.lab.model import Lab, Switch


class Stopped(LabError):
    """A person asked to stop; orders in flight were finished."""


class Stop:
    """Counts how often a person asked to stop; any thread may read it."""

    def __init__(self) -> None:
        self._count = 0
        self._changed = threading.Condition()

    def ask(self) -> None:
        """Ask to stop."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def asked(self, times: int = 1) -> bool:
        """Whether a person asked at least that many times."""
        return self._count >= times

    def unless_asked(self, act: Callable[[], None]) -> None:
        """Run something that may be left unfinished; Stopped if a person asks to stop before it has ended."""
        future: Future[None] = Future()

        def do() -> None:
            try:
                act()
            except BaseException as error:  # noqa: BLE001 - the waiting thread gets it, whatever it is
                future.set_exception(error)
            else:
                future.set_result(None)
            with self._changed:
                self._changed.notify_all()

        threading.Thread(target=do, name="may be left unfinished", daemon=True).start()
        with self._changed:
            self._changed.wait_for(lambda: future.done() or self.asked())
        if not future.done():
            raise Stopped("stopped while the hosts were checked.")
        future.result()

    def wait(self, times: int, timeout_s: float) -> bool:
        """Wait until a person asked that many times, or for the time given; whether they did."""
        with self._changed:
            return self._changed.wait_for(lambda: self.asked(times), timeout_s)


class Progress(Protocol):
    """Receives the progress of a piece of work."""

    def begin(self, doing: str, rounds: int) -> None:
        """A pass of that many rounds begins."""

    def step(self, doing: str) -> None:
        """One round is done; `doing` says what the next one is for."""

    def say(self, sentence: str) -> None:
        """Report something to the person who waits."""


@dataclass(frozen=True, slots=True)
class LinkReport:
    """Changes seen of the links that a round touches, and the ports whose link should be up and is not."""

    seen: tuple[LinkSeen, ...]
    missing: tuple[tuple[str, str], ...]


class Links(Protocol):
    """Links that are watched while a round is sent."""

    def report(self) -> LinkReport:
        """What was seen; waits for links that are still to change, as long as links may take."""


WatchLinks = Callable[[int, State, State, Sequence[Change]], AbstractContextManager[Links]]
"""From a round's number, the states before and after it and its changes to a watch on their links."""


@dataclass(frozen=True, slots=True)
class Sink:
    """Where entries of a journal go: `announce` must not fail silently, `note` may."""

    announce: Callable[[Entry], None]
    note: Callable[[Entry], None]


Orders = Mapping[str, Sequence[Command]]
"""By switch, what to send."""


class Executor:
    """Acts on the switches of one lab through a switchboard."""

    def __init__(self, lab: Lab, board: Switchboard, driver_of: Callable[[Switch], Driver]) -> None:
        self._lab = lab
        self._switches = {switch.name: switch for switch in lab.switches}
        self._board = board
        self._driver_of = driver_of

    def observe(self) -> State:
        """The present settings of every switch; raises the first error if one cannot be read."""
        return State(require(self.try_observing()))

    def try_observing(self) -> dict[str, SwitchState | DeviceError]:
        """The present settings of every switch, or the error of one that cannot be read."""
        return self._board.each({name: self._reader(name, ALL, None) for name in self._switches})

    def at_each(self, names: Iterable[str], job: Callable[[Switch, Session], None]) -> None:
        """Do something at each of some switches, all at once; raises the first error."""
        jobs = {name: partial(job, self._switches[name]) for name in names}
        require(self._board.each(jobs))

    def save(self, names: Sequence[str]) -> None:
        """Save running configurations as startup configurations."""
        orders = {name: self._driver_of(self._switches[name]).save(self._switches[name]) for name in names}
        require(self._board.each({name: _sender(orders[name], lambda: False, lambda _: None) for name in names}))

    def orders_back(self, found: State, wanted: State) -> Orders:
        """By switch, what puts lines of its configuration back that no setting holds; none where none differ."""
        orders: dict[str, tuple[Command, ...]] = {}
        for name, switch in self._switches.items():
            driver, now, then = self._driver_of(switch), found.switches[name].text, wanted.switches[name].text
            if isinstance(driver, KeepsText) and now is not None and then is not None:
                orders[name] = driver.put_back(switch, now, then)
        return {name: own for name, own in orders.items() if own}

    def type_in(self, orders: Orders, halt: Callable[[], bool]) -> list[Rejected]:
        """Send what no setting depends on; returns what was refused, after which that switch got nothing more.

        `halt` is called before each order. Any other error is raised; Stopped if `halt` says so.
        """
        taken: dict[str, list[session.Acknowledged]] = {name: [] for name in orders}
        answers = self._board.each({name: _sender(own, halt, taken[name].append) for name, own in orders.items()})
        refused = [error for error in answers.values() if isinstance(error, Rejected)]
        done = {name: outcome for name, outcome in answers.items() if not isinstance(outcome, Rejected)}
        require(done)
        if any(len(taken[name]) < len(orders[name]) for name in done):
            raise Stopped("stopped between two orders.")
        return refused

    def execute(
        self,
        start: State,
        steps: Sequence[Step],
        sink: Sink,
        *,
        halt: Callable[[], bool],
        progress: Progress,
        between: Callable[[], None] = lambda: None,
        watch: WatchLinks | None = None,
        patient: bool = False,
    ) -> State:
        """Execute the steps from `start`; returns the state reached. `halt` is called before each order.

        A link that does not come up is a DeviceError, as hosts may be about to move there; `patient`: only a report.
        """
        rounds = [(number, tuple(step.change for step in own), own) for number, own in _rounds(steps)]
        state = start
        progress.begin(rounds[0][2][0].reason if rounds else "", len(rounds))
        for place, (number, changes, _) in enumerate(rounds):
            between()
            if halt():
                raise Stopped("stopped between two rounds.")
            after = replay(changes, state)
            with watch(number, state, after, changes) if watch else nullcontext() as links:
                self._send(number, changes, sink, halt)
                self._verify(changes, state, after)
                if links is not None:
                    _require_links(links.report(), sink, progress, patient=patient)
            sink.announce(Verified(round=number))
            state = after
            progress.step(rounds[place + 1][2][0].reason if place + 1 < len(rounds) else "")
        return state

    def _send(self, number: int, changes: Sequence[Change], sink: Sink, halt: Callable[[], bool]) -> None:
        orders = {
            name: self._driver_of(self._switches[name]).render(self._switches[name], own)
            for name, own in _by_switch(changes).items()
        }
        sink.announce(Sending(round=number, orders=words_by_switch(orders)))
        accepted: dict[str, list[session.Acknowledged]] = {name: [] for name in orders}
        failed = threading.Event()

        def stop() -> bool:
            return failed.is_set() or halt()

        def guarded(name: str) -> Callable[[Session], None]:
            sender = _sender(orders[name], stop, accepted[name].append)

            def send(line: Session) -> None:
                try:
                    sender(line)
                except DeviceError:
                    failed.set()
                    raise

            return send

        answers = self._board.each({name: guarded(name) for name in orders})
        taken = {name: tuple(map(_accepted, own)) for name, own in accepted.items()}
        sink.note(Acknowledged(round=number, taken=taken))
        require(answers)
        if any(len(accepted[name]) < len(orders[name]) for name in orders):
            raise Stopped("stopped between two orders.")

    def _verify(self, changes: Sequence[Change], before: State, after: State) -> None:
        """Read back what the changes touch."""
        by_switch = _by_switch(changes)
        aspects = {name: frozenset[Aspect]().union(*map(aspects_of, made)) for name, made in by_switch.items()}
        shown = require(
            self._board.each({name: self._reader(name, aspects[name], before.switches[name]) for name in by_switch})
        )
        state = State({**after.switches, **shown})
        differing = diff(state, after)
        if differing:
            raise _mismatch(differing, changes)

    def _reader(
        self, name: str, aspects: frozenset[Aspect], base: SwitchState | None
    ) -> Callable[[Session], SwitchState]:
        switch = self._switches[name]
        driver = self._driver_of(switch)

        def read(line: Session) -> SwitchState:
            return read_switch(self._lab, switch, driver, line, aspects, base)

        return read


def _require_links(report: LinkReport, sink: Sink, progress: Progress, *, patient: bool) -> None:
    for seen in report.seen:
        sink.note(seen)
    for name, port in report.missing:
        error = DeviceError(
            name, f"the link at {port} does not come up: check its cable, and the port at its other end."
        )
        if not patient:
            raise error
        progress.say(str(error))


def _rounds(steps: Sequence[Step]) -> Iterator[tuple[int, tuple[Step, ...]]]:
    for number, own in groupby(steps, key=lambda step: step.round):
        yield number, tuple(own)


def _by_switch(changes: Sequence[Change]) -> Mapping[str, list[Change]]:
    by_switch: dict[str, list[Change]] = {}
    for change in changes:
        by_switch.setdefault(change.switch, []).append(change)
    return by_switch


def _sender(
    orders: Sequence[Command], stop: Callable[[], bool], took: Callable[[session.Acknowledged], None]
) -> Callable[[Session], None]:
    def send(line: Session) -> None:
        for order in orders:
            if stop():
                return
            took(line.send(order))

    return send


def words_by_switch(orders: Orders) -> dict[str, tuple[str, ...]]:
    """Orders in words."""
    return {name: tuple(map(_text, own)) for name, own in orders.items()}


def _text(order: Command) -> str:
    return order.text if isinstance(order, Line) else order.what


def _accepted(order: session.Acknowledged) -> AcceptedOrder:
    return AcceptedOrder(order=_text(order.command), sent_ns=order.sent_ns, acknowledged_ns=order.acknowledged_ns)


def _mismatch(differing: Sequence[Change], changes: Sequence[Change]) -> LabError:
    """The error for a round that reads back differently; each change leads from what was found to what is desired.

    Ignored if it concerns what the round set, Drift if something else changed.
    """
    asked = {target_of(change) for change in changes}
    for change in differing:
        target = target_of(change)
        if target in asked:
            return Ignored(change.switch, f"{target} {_end(change)}", f"{target} {_end(change.inverse)}")
    return Drift(differing)


def _end(change: Change) -> str:
    """The value that a change leads to, in words."""
    match change:
        case VlanChange():
            return "present" if change.after else "absent"
        case StaticsChange():
            return f"with {len(change.after)} static entries"
        case StpChange():
            return words_of(change)
        case PortChange():
            return _port_end(change)


def _port_end(change: PortChange) -> str:
    pairs = ((key.name, getattr(change.before, key.name), getattr(change.after, key.name)) for key in fields(PortState))
    return ", ".join(
        f"{name} {sorted(new) if isinstance(new, frozenset) else new}" for name, old, new in pairs if old != new
    )
