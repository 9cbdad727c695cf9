"""Set a lab to the levels of an experiment, through the same proved and journalled apply as by hand.

A factor that has its level already costs nothing. After a change the run waits until its links are up, and then for
the experiment's `settle_s`, as a link does not sleep in its first second. The state of the lab before the run, and the
plans applied since, are beside the lab's journal before anything is sent. So the lab can be restored after any crash,
whatever happens to the run's folder.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from eee_testbed.controller.applying.actuation import Waiting, Watcher, waiting_within
from eee_testbed.controller.applying.apply import require_rest
from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.observe import ask_switches, read_eee
from eee_testbed.controller.applying.processes import ProcessId
from eee_testbed.controller.applying.rounds import Executor, Progress, Stop, Stopped
from eee_testbed.controller.applying.run_notes import RunNote, RunNotes
from eee_testbed.controller.applying.statefolder import StateFolder, digest_of
from eee_testbed.controller.applying.switchboard import Switchboard
from eee_testbed.controller.applying.work import Backend, Work
from eee_testbed.controller.drivers.driver import aspects_of
from eee_testbed.controller.model.state import Change, PortChange, State
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.wishes import Wish
from eee_testbed.controller.transports.port_watch import seldom
from eee_testbed.lab.errors import AccessDenied, DeviceError, LabError, PlanError
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.blocks import Levels
from eee_testbed.measuring.experiments.experiment import OF_LAB, Experiment
from eee_testbed.measuring.experiments.identities import Identities, identities
from eee_testbed.measuring.experiments.level_wishes import ORDER, half_open, loop_at, set_with, wish_of
from eee_testbed.measuring.experiments.restore_journal import RestoreJournal
from eee_testbed.measuring.experiments.restoring import (
    Agree,
    Applied,
    RunChanges,
    finish_and_say,
    forget_restored,
    restored_words,
)
from eee_testbed.measuring.experiments.validation import links_of
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.store import Run
from eee_testbed.record.trial_events import Level

_UP_WITHIN_S: Final = 60.0


@dataclass
class LabController:
    """Sets one run's lab to levels, and restores it. Its maker holds the lab's lock.

    Sessions with switches are opened for a change and closed after it: during a measurement no session is open, and
    none can expire.
    """

    lab: Lab
    experiment: Experiment
    run: Run
    backend: Backend
    lock: Lock
    progress: Progress
    was_down: Callable[[str, str], bool] = lambda _switch, _port: False
    """Whether a port had no link before a change: its host is off, or it has no cable."""

    waiting: Waiting = nullcontext
    """What is entered while links come up and settle, which nobody times."""

    watch_ports: Watcher = seldom
    """Watches ports of a switch that are to come up."""

    stop: Stop = field(default_factory=Stop)
    restored: bool = True
    """Whether the lab is as it was before the run, as far as the run knows."""

    in_loop: bool = False
    """Whether a closed loop changes the lab, which no factor of the experiment says."""

    _levels: dict[str, Level] = field(default_factory=dict)
    _restore: RestoreJournal | None = None
    _handed_over: bool = False
    _noted: bool = False

    def __post_init__(self) -> None:
        self.folder = StateFolder.of(self.lab)

    @property
    def changes_lab(self) -> bool:
        """Whether the experiment, or a closed loop, changes the lab at all."""
        return self.in_loop or bool(self.experiment.of_kind(*OF_LAB))

    @contextmanager
    def _work(self, waiting: Waiting = nullcontext) -> Iterator[Work]:
        """`waiting`: not `self.waiting` while a trial runs, as beside a closed loop."""
        backend, watch = self.backend, self.backend.watch_links
        if watch is not None:
            backend = replace(backend, watch_links=waiting_within(watch, waiting))
        with Switchboard(self.lab.switches, self.backend.connect) as board:
            executor = Executor(self.lab, board, self.backend.driver_of)
            yield Work(self.lab, self.folder, backend, executor, self.lock, self.progress, self.stop)

    def begin(self) -> None:
        """Write down that the run works on the lab; JournalFailed if that fails: then nothing may be changed."""
        command = f"run {self.experiment.name}"
        note = RunNote(
            run=str(self.run.folder.resolve()),
            lab_folder=self.lab.folder,
            lab_digest=digest_of(self.lab),
            command=command,
            resumable=not self.in_loop,
            begun=datetime.now(UTC),
            process=ProcessId.me(),
        )
        RunNotes(self.folder).write(note)
        self._noted = True

    def end(self) -> None:
        """Nothing is pending if the lab is restored; else the run stays noted, for whoever restores it."""
        if self.restored and self._noted:
            forget_restored(self.folder, self.run.folder)

    @property
    def left_words(self) -> str:
        """What a Ctrl-C leaves that ends even the restoring; empty if the lab is as it was before the run."""
        if self.restored:
            return ""
        return f"lab {self.lab.name} is not restored: run `eeectl recover {self.folder.operand}`."

    def _load(self) -> RestoreJournal | None:
        return RestoreJournal.load(RunNotes(self.folder).journal(self.run.folder), self.run.folder)

    def ask_about_changes(self, agree: Agree) -> None:
        """Before a run goes on or its lab is restored: LabError if settings were changed since, unless it is agreed.

        A change that the killed run left half-way is recovered first.
        """
        restore = self._load()
        if restore is None:
            return
        killed = RunNotes(self.folder).journal(self.run.folder).exists() or restore.length > 0
        self.restored = not killed
        with self._work() as work:
            finish_and_say(work)
            changes = restore.changed_since(work.executor.observe())
        if changes and not agree(changes):
            raise LabError(
                f"settings of lab {self.lab.name} were changed since {self.run.folder} stopped, and the run would undo "
                "that in the end: nothing was sent."
            )

    def open(self) -> None:
        """Record the state before the run, once; after a crash in the middle of a change, recover first."""
        self._restore = self._load()
        if not self.changes_lab and self._restore is None:
            return
        with self._work() as work:
            if self._restore is not None:
                finish_and_say(work)
            require_rest(work)
            state = work.executor.observe()
        if self._restore is None:
            self._restore = RestoreJournal(RunNotes(self.folder).journal(self.run.folder), state)
        self.restored = False
        self._restore.settle(state)
        self._record_ports(state)

    def has(self, levels: Levels) -> bool:
        """Whether the lab is at these levels already."""
        return self._wanted(levels) == self._levels

    def hand_over(self) -> None:
        """A closed loop changes the lab from now on, by `change`, until levels are set again."""
        self._levels, self._handed_over = {}, True

    def set_levels(self, levels: Levels) -> bool:
        """Set the lab to levels; returns whether anything was sent. LabError if that fails: it is then rolled back.

        The level of a closed loop is the state before the run, where it begins.
        """
        wanted, journal = self._wanted(levels), self._opened()
        before, self._levels = self._levels, {}
        changed: list[Change] = []
        began_ns = self.run.clock.now_ns()
        with self._work(self.waiting) as work:
            if self._handed_over:
                changed += self._recorded(self._changes(work).return_home())
                self._handed_over = False
            index = 0 if loop_at(self.experiment, wanted) is not None else journal.index_of(wanted)
            if index is not None:
                changed += self._go_back(work, index, "back to earlier levels")
                self._record_actuation(self._differing(before, wanted), wanted, began_ns)
            else:
                changed += self._go_forward(work, before, wanted)
        journal.settle(journal.state(journal.length), wanted)
        self._levels = wanted
        if changed:
            with self.waiting():
                self._await_links(changed)
                if self.stop.wait(1, self.experiment.settle_s):
                    raise Stopped("stopped while links settled.")
        return bool(changed)

    @property
    def home(self) -> State:
        """The state of the lab before the run; `open` comes first."""
        return self._opened().home

    def change(self, what: str, wish: Wish) -> Sequence[Change]:
        """Grant a closed loop's wish; returns its changes. LabError if that fails: it is then rolled back.

        Drift, and nothing is sent, if settings are not what the run left. The journal is kept short: from many small
        plans it becomes one from the first state to the present one, wherever that one can be proved too.
        """
        journal = self._opened()
        with self._work() as work:
            changes = self._apply(work, what, wish, journal.state(journal.length))
        journal.settle(journal.state(journal.length))
        if journal.length > 1:
            with suppress(PlanError):
                now = journal.state(journal.length)
                journal.shorten(Site.of(self.lab, self.backend.abilities).plan(journal.home, now))
        return changes

    def go_home(self) -> str:
        """Restore the lab, to change it again later; returns how that ended. LabError if it failed."""
        said = self._restored(nullcontext)
        self.restored = False
        return said

    def eee_shown(self) -> dict[str, dict[str, object]]:
        """EEE of every port with a cable as the switches show it now; those that do not answer are left out."""
        cabled = {str(end) for link in self.lab.links for end in (link.a, link.b)}
        answers = ask_switches(self.lab, read_eee, self.backend.connect)
        return {
            f"{name}:{port}": asdict(status)
            for name, answer in answers.items()
            if not isinstance(answer, DeviceError)
            for port, status in answer.items()
            if f"{name}:{port}" in cabled
        }

    def identities(self) -> Identities:
        """Model and firmware of the switches that say them."""
        return identities(self.lab, self.backend.connect, self.backend.driver_of)

    def restore(self) -> str:
        """Restore the lab to its state before the run; returns how that ended. LabError if it failed."""
        return self._restored(self.waiting)

    # -- changing the lab

    def _restored(self, waiting: Waiting) -> str:
        if self._restore is None:
            return ""
        with self._work(waiting) as work:
            applied = self._changes(work).return_home()
        self._recorded(applied)
        self.restored = True
        return restored_words(applied)

    def _opened(self) -> RestoreJournal:
        if self._restore is None:
            raise AssertionError("open() comes first")
        return self._restore

    def _wanted(self, levels: Levels) -> dict[str, Level]:
        return {name: levels[name] for name in self.experiment.of_kind(*OF_LAB)}

    def _differing(self, before: Mapping[str, Level], wanted: Mapping[str, Level]) -> list[str]:
        names = [name for kind in ORDER for name in self.experiment.of_kind(kind)]
        return [name for name in names if before.get(name) != wanted[name]]

    def _go_forward(self, work: Work, before: Mapping[str, Level], wanted: Mapping[str, Level]) -> list[Change]:
        """Set factor by factor to the levels wanted."""
        changed: list[Change] = []
        done: set[str] = set()
        for name in self._differing(before, wanted):
            if name in done:
                continue
            began_ns = self.run.clock.now_ns()
            made = self._apply(work, f"{name} {wanted[name]}", wish_of(self.experiment, name, wanted, self.lab))
            done |= set(set_with(self.experiment, name))
            if made:
                self._record_actuation([name], wanted, began_ns)
            changed += made
        return changed

    def _go_back(self, work: Work, index: int, why: str) -> Sequence[Change]:
        """Go back to a state of the restore journal."""
        return self._recorded(self._changes(work).go_back(index, why))

    def _apply(self, work: Work, what: str, wish: Wish, expected: State | None = None) -> Sequence[Change]:
        """Grant a wish; returns the changes. Its plan is written down before anything is sent."""
        return self._recorded(self._changes(work).apply(what, wish, expected))

    def _changes(self, work: Work) -> RunChanges:
        return RunChanges(work, self._opened(), self.run.folder, f"run {self.experiment.name}")

    def _recorded(self, applied: Applied) -> Sequence[Change]:
        if applied.plan is None:
            return ()
        self._record_ports(applied.plan.end)
        return applied.plan.changes

    # -- recording, and waiting

    def _record_actuation(self, names: Iterable[str], wanted: Mapping[str, Level], began_ns: int) -> None:
        ended_ns = self.run.clock.now_ns()
        for name in names:
            factor = self.experiment.factors[name]
            what = "speed" if factor.kind == "speed_mbps" else factor.kind
            links = links_of(self.lab, factor) if factor.kind != "routing" else ()
            for link in [link.name for link in links] or [""]:
                change = {"what": what, "factor": name, "link": link, "after": wanted[name]}
                self.run.event(EventKind.ACTUATION, **change, begun_ns=began_ns, ended_ns=ended_ns)

    def _record_ports(self, state: State) -> None:
        """Record the settings of every port with a cable, for models of its power."""
        ports: dict[str, dict[str, object]] = {}
        for name, switch in state.switches.items():
            cabled = {end.port for link in self.lab.links for end in (link.a, link.b) if end.device == name}
            ports[name] = {
                port: {"admin_up": one.admin_up, "speed_mbps": one.speed_mbps, "eee": one.eee, "hold_us": one.hold_us}
                for port, one in switch.ports.items()
                if port in cabled
            }
        self.run.event(EventKind.PORTS_SET, ports=ports)

    def _await_links(self, changes: Iterable[Change]) -> None:
        """Wait until every link that changed and is enabled at both ends is up; DeviceError names one that is not.

        A switch without an SNMP agent is not waited for: the check between hosts shows its links. Nor is a port that
        was enabled before and had no link.
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
        with self.watch_ports(self.lab.switch(name), ports) as watch:
            for port in ports:
                if not watch.is_up(port) and watch.wait_for(port, up=True, timeout_s=_UP_WITHIN_S) is None:
                    raise DeviceError(
                        name, f"the link at {port} does not come up: check its cable, and the port at its other end."
                    )
