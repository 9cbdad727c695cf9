"""The lab as an experiment wants it: each factor of the lab set through the same proved, journalled apply as by hand.

A factor that has its level already costs nothing. Links that were touched are waited for, then the experiment's
`settle_s`, as a link does not sleep in its first second. What the lab was before the run, and the way from there, is in
the run's folder before anything is sent, so that whoever resumes the run, after whatever crash, can put the lab back.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from controller.applying.apply import Options, apply, require_rest
from controller.applying.journal import Journal, read_journal
from controller.applying.lock import Lock
from controller.applying.recover import recover
from controller.applying.rounds import Executor, Progress, Stop, Stopped
from controller.applying.statefolder import StateFolder
from controller.applying.switchboard import Switchboard
from controller.applying.work import Backend, ProvedPlan, Work
from controller.drivers.driver import aspects_of
from controller.drivers.table import driver_of
from controller.experiments.blocks import Levels
from controller.experiments.experiment import OF_LAB, Experiment
from controller.experiments.level_plans import ORDER, half_open, plan_of, set_with
from controller.experiments.restore_journal import RestoreJournal
from controller.experiments.validation import links_of
from controller.model.state import Change, PortChange, State, diff, replay
from controller.planning.plan import Plan
from controller.planning.rollback import Position, rollback_plan
from controller.planning.routing_options import management_of
from controller.transports.port_watch import PortWatch
from lab.errors import AccessDenied, DeviceError, LabError
from lab.model import Lab
from record.store import Run
from record.trial_events import ACTUATION, Level

_UP_WITHIN_S: Final = 60.0

_PlanFrom = Callable[[State], Plan]


@dataclass
class LabController:
    """One run's hand on its lab. Whoever makes it holds the lab's lock.

    Sessions with switches are opened for a change and closed after it: while something is measured nobody is logged in,
    and no session is there to expire.
    """

    lab: Lab
    experiment: Experiment
    run: Run
    backend: Backend
    lock: Lock
    progress: Progress
    was_down: Callable[[str, str], bool] = lambda _switch, _port: False
    """Whether a port had no link before a change: a host that is off, or a cable that is not there."""

    stop: Stop = field(default_factory=Stop)
    _levels: dict[str, Level] = field(default_factory=dict)
    _way: RestoreJournal | None = None

    @property
    def acts(self) -> bool:
        """Whether the experiment changes the lab at all."""
        return bool(self.experiment.of_kind(*OF_LAB))

    @contextmanager
    def _work(self) -> Iterator[Work]:
        with Switchboard(self.lab.switches, self.backend.connect) as board:
            folder = StateFolder(self.lab.name)
            executor = Executor(self.lab, board, driver_of)
            yield Work(self.lab, folder, self.backend, executor, self.lock, self.progress, self.stop)

    def open(self) -> None:
        """Note what the lab is, once; after a crash in the middle of a change, bring it to rest first."""
        if not self.acts:
            return
        self._way = RestoreJournal.load(self.run.folder)
        with self._work() as work:
            if self._way is not None:
                _recover(work)
            require_rest(work)
            state = work.executor.observe()
        if self._way is None:
            self._way = RestoreJournal(self.run.folder, state)
        self._way.settle(state)
        self._tell_ports(state)

    def has(self, levels: Levels) -> bool:
        """Whether the lab is at these levels already."""
        return self._wanted(levels) == self._levels

    def bring(self, levels: Levels) -> bool:
        """Bring the lab to levels; whether anything was sent. LabError if it cannot be done: then it is as before."""
        wanted, way = self._wanted(levels), self._known_way()
        before, self._levels = self._levels, {}
        index = way.index_of(wanted)
        began_ns = self.run.clock.now_ns()
        with self._work() as work:
            if index is not None:
                changed = self._go_back(work, index, "back to levels that were there before")
                self._tell_actuation(self._differing(before, wanted), wanted, began_ns)
            else:
                changed = self._go_on(work, before, wanted)
        way.settle(way.state(way.length), wanted)
        self._levels = wanted
        if changed:
            self._await_links(changed)
            if self.stop.wait(1, self.experiment.settle_s):
                raise Stopped("stopped while links settled.")
        return bool(changed)

    def put_back(self) -> str:
        """Bring the lab back to what it was before the run; says how it ended. LabError if that failed."""
        if self._way is None:
            return ""
        with self._work() as work:
            _recover(work)
            found = work.executor.observe()
            if not diff(found, self._way.home):
                return "the lab is as it was."
            self._way.settle(found)
            count = len(self._go_back(work, 0, "put back"))
        return f"the lab was put back as it was: {count} settings."

    # -- going

    def _known_way(self) -> RestoreJournal:
        if self._way is None:
            raise AssertionError("the stage was opened")
        return self._way

    def _wanted(self, levels: Levels) -> dict[str, Level]:
        return {name: levels[name] for name in self.experiment.of_kind(*OF_LAB)}

    def _differing(self, before: Mapping[str, Level], wanted: Mapping[str, Level]) -> list[str]:
        names = [name for kind in ORDER for name in self.experiment.of_kind(kind)]
        return [name for name in names if before.get(name) != wanted[name]]

    def _go_on(self, work: Work, before: Mapping[str, Level], wanted: Mapping[str, Level]) -> list[Change]:
        """Factor by factor to what is wanted."""
        changed: list[Change] = []
        done: set[str] = set()
        for name in self._differing(before, wanted):
            if name in done:
                continue
            began_ns = self.run.clock.now_ns()
            made = self._apply(work, f"{name} {wanted[name]}", self._planner(work, name, wanted))
            done |= set(set_with(self.experiment, name))
            if made:
                self._tell_actuation([name], wanted, began_ns)
            changed += made
        return changed

    def _planner(self, work: Work, name: str, wanted: Levels) -> _PlanFrom:
        management, abilities = management_of(self.lab, None), work.backend.abilities
        return lambda state: plan_of(self.experiment, name, wanted, self.lab, state, management, abilities)

    def _go_back(self, work: Work, index: int, why: str) -> Sequence[Change]:
        """Back to a state of the way."""
        way, management = self._known_way(), management_of(self.lab, None)
        target = way.state(index)
        rest = way.back(self.lab, index).steps

        def plan(found: State) -> Plan:
            return rollback_plan(
                self.lab, found, Position(found, found, rest), target, management, work.backend.abilities
            )

        changes = self._apply(work, why, plan, forward=False)
        way.cut(index)
        return changes

    def _apply(self, work: Work, what: str, plan_from: _PlanFrom, *, forward: bool = True) -> Sequence[Change]:
        """Go through a plan as everybody does; its changes. The way is written down before anything is sent."""
        way = self._known_way()
        made: list[tuple[State, Plan]] = []

        def planner(state: State) -> ProvedPlan:
            plan = plan_from(state)
            made.append((state, plan))
            return ProvedPlan(plan, management_of(self.lab, None))

        def note(_: object) -> bool:
            if forward:
                way.add(made[-1][1])
            return True

        options = Options(f"run {self.experiment.name}: {what}", check_hosts=False, proved=not forward)
        length = way.length
        result = apply(work, planner, note, options)
        if result.ending == "nothing to do":
            return ()
        if result.ending != "applied":
            if result.ending == "taken back":
                way.cut(length)
            raise result.cause or LabError(result.sentence)
        state, plan = made[-1]
        self._tell_ports(replay(plan.changes, state))
        return plan.changes

    # -- telling, and waiting

    def _tell_actuation(self, names: Iterable[str], wanted: Mapping[str, Level], began_ns: int) -> None:
        ended_ns = self.run.clock.now_ns()
        for name in names:
            factor = self.experiment.factors[name]
            what = "speed" if factor.kind == "speed_mbps" else factor.kind
            links = links_of(self.lab, factor) if factor.kind != "routing" else ()
            for link in [link.name for link in links] or [""]:
                told = {"what": what, "factor": name, "link": link, "after": wanted[name]}
                self.run.event(ACTUATION, **told, begun_ns=began_ns, ended_ns=ended_ns)

    def _tell_ports(self, state: State) -> None:
        """What every port with a cable is set to now, for whoever makes a model of its power."""
        ports: dict[str, dict[str, object]] = {}
        for name, switch in state.switches.items():
            cabled = {end.port for link in self.lab.links for end in (link.a, link.b) if end.device == name}
            ports[name] = {
                port: {"admin_up": one.admin_up, "speed_mbps": one.speed_mbps, "eee": one.eee, "hold_us": one.hold_us}
                for port, one in switch.ports.items()
                if port in cabled
            }
        self.run.event("ports_set", ports=ports)

    def _await_links(self, changes: Iterable[Change]) -> None:
        """Wait until every link that was touched and is enabled at both ends is up; DeviceError names one that is not.

        A switch without an SNMP agent is not waited for, as hosts that look for each other tell; nor is a port that was
        enabled before and had no link.
        """
        ups: dict[tuple[str, str], bool] = {}
        dead: set[tuple[str, str]] = set()
        for change in changes:
            if isinstance(change, PortChange) and aspects_of(change) & {"link", "energy"}:
                place = (change.switch, change.port)
                if place not in ups and change.before.admin_up and self.was_down(*place):
                    dead.add(place)
                ups[place] = change.after.admin_up
        half = half_open(self.experiment, self._levels, self.lab)
        ports: dict[str, list[str]] = {}
        for (name, port), up in ups.items():
            if up and (name, port) not in half | dead:
                ports.setdefault(name, []).append(port)
        for name, own in ports.items():
            try:
                self._await_ports(name, own)
            except AccessDenied:
                continue

    def _await_ports(self, name: str, ports: Sequence[str]) -> None:
        with PortWatch(self.lab.switch(name), ports) as watch:
            for port in ports:
                if not watch.is_up(port) and watch.wait_for(port, up=True, timeout_s=_UP_WITHIN_S) is None:
                    raise DeviceError(name, f"the link at {port} does not come up: check its cable and its other end.")


def _recover(work: Work) -> None:
    """Finish what a killed run left of a change."""
    journaled = read_journal(work.folder.journal)
    if journaled is not None and not journaled.finished:
        work.progress.say(f"`{journaled.begun.command}` was cut short: the lab is brought to rest first")
        with Journal(work.folder.journal) as journal:
            work.progress.say(recover(work, journal))
