"""The lab as an experiment wants it: each factor of the lab set through the same proved, journalled apply as by hand.

A factor that has its level already costs nothing. Links that were touched are waited for, then the experiment's
`settle_s`, as a link does not sleep in its first second. What the lab was before the run is in the run's folder before
anything is sent, so that whoever resumes the run, after whatever crash, can put the lab back.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from controller.apply import Options, apply, require_rest
from controller.drivers.driver import aspects_of
from controller.errors import AccessDenied, DeviceError, LabError, RunFolderFailed
from controller.experiments.blocks import Levels
from controller.experiments.experiment import OF_LAB, Experiment, Factor
from controller.experiments.fitting import links_of
from controller.experiments.trials import ACTUATION
from controller.hands import driver_of
from controller.journal import Journal, read_journal
from controller.lock import Lock
from controller.model.lab import Lab, Link
from controller.model.state import Change, PortChange, State, diff, replay
from controller.plan import Plan, join_plans, make_plan
from controller.recover import recover
from controller.regulate import eee, link_off, link_on, link_speed
from controller.rounds import Crew, Progress, Stop, Stopped
from controller.statefolder import StateFolder
from controller.store import Run
from controller.switchboard import Switchboard
from controller.transports.port_watch import PortWatch
from controller.wayback import Position, way_back
from controller.wish import Wish, management_of, work_out
from controller.work import Hands, Intended, Work

_UP_WITHIN_S: Final = 60.0


class Home(BaseModel):
    """What a lab was before a run, in the run's folder."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="hex", val_json_bytes="hex", ser_json_inf_nan="strings"
    )

    state: State


def read_home(run_folder: Path) -> State | None:
    """What the lab was before a run; None if the run changed nothing."""
    path = run_folder / "home.json"
    return Home.model_validate_json(path.read_bytes()).state if path.exists() else None


@dataclass
class Stage:
    """One run's hand on its lab. Whoever makes it holds the lab's lock.

    A session with each switch is opened for a change and closed after it: while something is measured nobody is logged
    in, and no session is there to expire.
    """

    lab: Lab
    experiment: Experiment
    run: Run
    hands: Hands
    lock: Lock
    progress: Progress
    stop: Stop = field(default_factory=Stop)
    _levels: dict[str, object] = field(default_factory=dict)
    _touched: bool = False

    @property
    def acts(self) -> bool:
        """Whether the experiment changes the lab at all."""
        return bool(self.experiment.of_kind(*OF_LAB))

    @contextmanager
    def _work(self) -> Iterator[Work]:
        with Switchboard(self.lab.switches, self.hands.connect) as board:
            folder = StateFolder(self.lab.name)
            crew = Crew(self.lab, board, driver_of)
            yield Work(self.lab, folder, self.hands, crew, self.lock, self.progress, self.stop)

    def open(self) -> None:
        """Note what the lab is, once; after a crash in the middle of a change, bring it to rest first."""
        if not self.acts:
            return
        path = self.run.folder / "home.json"
        with self._work() as work:
            if path.exists():
                self._touched = True
                _recover(work)
                return
            require_rest(work)
            state = work.crew.observe()
        try:
            path.write_text(Home(state=state).model_dump_json(), encoding="utf-8")
        except OSError as error:
            path.unlink(missing_ok=True)
            raise RunFolderFailed(str(self.run.folder), error.strerror or str(error)) from error
        self._tell_ports(state)

    def has(self, levels: Levels) -> bool:
        """Whether the lab is at these levels already."""
        return all(self._levels.get(name) == levels[name] for name in self.experiment.of_kind(*OF_LAB))

    def bring(self, levels: Levels) -> bool:
        """Bring the lab to levels; whether anything was sent. LabError if it cannot be done: then it is as before."""
        wanted = {name: levels[name] for name in self.experiment.of_kind(*OF_LAB)}
        changed: list[Change] = []
        with self._work() as work:
            for kind in ("routing", "link", "speed_mbps", "eee", "hold_us"):
                for name, factor in self.experiment.of_kind(kind).items():
                    if self._levels.get(name) != wanted[name]:
                        changed += self._set(work, name, factor, wanted)
                        self._levels |= {one: wanted[one] for one in (name, *self._set_with(factor))}
        if changed:
            self._await_links(changed)
            if self.stop.wait(1, self.experiment.settle_s):
                raise Stopped("stopped while links settled.")
        return bool(changed)

    def _set(self, work: Work, name: str, factor: Factor, wanted: Mapping[str, object]) -> Sequence[Change]:
        level = wanted[name]
        began_ns = self.run.clock.now_ns()
        command = f"run {self.experiment.name}: {name} {level}"
        planner = _Planner(work, lambda state: self._plan(work, state, factor, wanted, level))
        changes = self._apply(work, command, planner)
        if changes:
            what = "speed" if factor.kind == "speed_mbps" else factor.kind
            told = {"what": what, "factor": name, "after": level, "begun_ns": began_ns}
            ended_ns = self.run.clock.now_ns()
            links = links_of(self.lab, factor) if factor.kind != "routing" else ()
            for link in [link.name for link in links] or [""]:
                self.run.event(ACTUATION, **told, link=link, ended_ns=ended_ns)
        return changes

    def _apply(self, work: Work, command: str, planner: "_Planner") -> Sequence[Change]:
        """Go through a plan as everybody does; its changes."""
        made: list[Plan] = []
        befores: list[State] = []

        def plan(state: State) -> Intended:
            intended = planner(state)
            made.append(intended.plan)
            befores.append(state)
            return intended

        self._touched = True
        result = apply(work, plan, lambda _: True, Options(command, check_hosts=False, proved=planner.proved))
        if result.ending == "nothing to do":
            return ()
        if result.ending != "applied":
            raise result.cause or LabError(result.sentence)
        self._tell_ports(replay(made[-1].changes, befores[-1]))
        return made[-1].changes

    def _plan(self, work: Work, state: State, factor: Factor, wanted: Mapping[str, object], level: object) -> Plan:
        way, abilities = management_of(self.lab, None), work.hands.abilities
        if factor.kind == "routing":
            wish = Wish(policy="one") if level == "one" else Wish()
            return work_out(self.lab, state, wish, abilities, "as the switches are now").plan
        links = links_of(self.lab, factor)
        if factor.kind in ("eee", "hold_us"):
            on, hold_us = self._eee_of(factor, wanted, level)
            return eee(
                self.lab, state, links, on=on, hold_us=hold_us, may_flap=True, management=way, abilities=abilities
            )
        plans: list[Plan] = []
        for link in links:
            if factor.kind == "speed_mbps":
                mbps = None if level == "auto" else int(str(level))
                made = [link_speed(self.lab, state, link, mbps, way, abilities)]
            else:
                made = list(_link_state(work, state, link, str(level)))
            plans += made
            state = replay([change for plan in made for change in plan.changes], state)
        return join_plans(plans)

    def _eee_of(self, factor: Factor, wanted: Mapping[str, object], level: object) -> tuple[bool, int | None]:
        """On or off, and the hold time, from both kinds of factors over the same links."""
        fellow = {
            other.kind: wanted[name]
            for name, other in self.experiment.of_kind("eee", "hold_us").items()
            if other.links == factor.links
        }
        on = fellow.get("eee", "on") == "on"
        hold = fellow.get("hold_us") if factor.kind == "eee" else level
        return on, int(str(hold)) if on and hold is not None else None

    def _set_with(self, factor: Factor) -> tuple[str, ...]:
        """Factors whose levels were set by the same orders."""
        holds = self.experiment.of_kind("hold_us") if factor.kind == "eee" else {}
        return tuple(name for name, other in holds.items() if other.links == factor.links)

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
        """Wait until every link that was touched, and is enabled at both ends, is up; LabError names one that is not.

        A switch without an SNMP agent is not waited for; hosts that look for each other tell.
        """
        state = self._now(changes)
        ports: dict[str, list[str]] = {}
        for name, port in state:
            ports.setdefault(name, []).append(port)
        for name, own in ports.items():
            try:
                with ExitStack() as stack:
                    watch = stack.enter_context(PortWatch(self.lab.switch(name), own))
                    for port in own:
                        up = watch.is_up(port) or watch.wait_for(port, up=True, timeout_s=_UP_WITHIN_S)
                        if not up:
                            sentence = f"the link at {port} does not come up: check its cable and its other end."
                            raise DeviceError(name, sentence)
            except AccessDenied:
                continue

    def _now(self, changes: Iterable[Change]) -> tuple[tuple[str, str], ...]:
        """Ports that were touched and should have a link, from the last change of each."""
        ups: dict[tuple[str, str], bool] = {}
        for change in changes:
            if isinstance(change, PortChange) and aspects_of(change) & {"link", "energy"}:
                ups[change.switch, change.port] = change.after.admin_up
        half = {
            (end.device, end.port)
            for name, factor in self.experiment.of_kind("link").items()
            if self._levels.get(name) == "half"
            for link in links_of(self.lab, factor)
            for cable in self.lab.cables_of(link)
            for end in (cable.a, cable.b)
        }
        return tuple(place for place, up in ups.items() if up and place not in half)

    def put_back(self) -> str:
        """Bring the lab back to what it was before the run; says how it ended. LabError if that failed."""
        home = read_home(self.run.folder)
        if home is None or not self._touched:
            return ""
        with self._work() as work:
            _recover(work)

            def plan(found: State) -> Plan:
                way = management_of(work.lab, None)
                return way_back(work.lab, found, Position(found, found, ()), home, way, work.hands.abilities)

            command = f"run {self.experiment.name}: put back"
            count = len(self._apply(work, command, _Planner(work, plan, proved=True)))
        return f"the lab was put back as it was: {count} settings." if count else "the lab is as it was."


def _recover(work: Work) -> None:
    """Finish what a killed run left of a change."""
    story = read_journal(work.folder.journal)
    if story is not None and not story.finished:
        work.progress.say(f"`{story.begun.command}` was cut short: the lab is brought to rest first")
        with Journal(work.folder.journal) as journal:
            work.progress.say(recover(work, journal))


@dataclass(frozen=True, slots=True)
class _Planner:
    """A planner for `apply`; `proved`: it proves its plans itself."""

    work: Work
    plan: Callable[[State], Plan]
    proved: bool = False

    def __call__(self, state: State) -> Intended:
        return Intended(self.plan(state), management_of(self.work.lab, None))


def _link_state(work: Work, state: State, link: Link, level: str) -> Iterator[Plan]:
    """The plans that bring a trunk to `on`, `off` or `half`."""
    lab, way, abilities = work.lab, management_of(work.lab, None), work.hands.abilities
    cables = lab.cables_of(link)
    ends = {(end.device, end.port) for cable in cables for end in (cable.a, cable.b)}
    first = {(cable.a.device, cable.a.port) for cable in cables}
    is_on = all(state.port(*end).admin_up for end in ends)
    if level == "on":
        if not is_on:
            yield link_on(lab, state, link, management=way, abilities=abilities)
        return
    if is_on:
        plan = link_off(lab, state, link, way, abilities)
        yield plan
        state = replay(plan.changes, state)
    wanted = _with_ports(state, {end: level == "half" and end in first for end in ends})
    if diff(state, wanted):
        yield make_plan(lab, state, wanted, way, abilities)


def _with_ports(state: State, ups: Mapping[tuple[str, str], bool]) -> State:
    switches = dict(state.switches)
    for (name, port), up in ups.items():
        ports = dict(switches[name].ports)
        ports[port] = replace(ports[port], admin_up=up)
        switches[name] = replace(switches[name], ports=ports)
    return State(switches)
