"""The closed loop on a lab, epoch after epoch: count, decide, change the lab by a proved plan, record why.

`regulation.closed_loop.decide` decides. A decision becomes one wish (`planning.wishes.Regulated`), whose plan moves
hosts to other trees before a link is shut, and back to it when it is up; it is applied like every other change of a
run: proved, journalled, read back, rolled back if it fails. After each epoch the trees run over the links that are
active, and over no others.

The next epoch begins when the lab was changed, so no epoch has counts of two settings. An epoch that was not counted as
a whole has no decision, and an event that says why. A switch that restarted has lost its settings: then the lab is
restored first, and all links are active.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from eee_testbed.controller.applying.rounds import Stopped
from eee_testbed.controller.planning.wishes import Regulated
from eee_testbed.lab.errors import Drift, JournalFailed, LabError, RollbackFailed, RunFolderFailed
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.regulating.epoch_counters import EpochCounters, EpochCounts
from eee_testbed.measuring.regulating.looped_network import LoopedNetwork
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.regulation.closed_loop import (
    Decision,
    LinkChange,
    LinkState,
    LoopState,
    Settings,
    all_on,
    decide,
    no_decision,
    refused,
)
from eee_testbed.regulation.traffic import HostBytes

_FATAL: Final = (Stopped, RollbackFailed, JournalFailed, RunFolderFailed)
_STATES: Final[tuple[LinkState, ...]] = ("active", "shadow", "off", "waking", "down")


@dataclass
class ClosedLoop:
    """Regulates one lab. Its maker holds the lab's lock, has opened `lab_controller`, and restores the lab at the end.

    `run` is for a thread of its own; `tell_slowdown`, `decides` and `failure` are for another one.
    """

    network: LoopedNetwork
    lab_controller: LabController
    counters: EpochCounters
    settings: Settings
    epoch_s: float
    check: Callable[[], None] = lambda: None
    """Raises what ended the sampling; called once an epoch."""

    decides: threading.Event = field(default_factory=threading.Event)
    """Not set: the loop counts only, such as while a program's time with all links on is measured."""

    ended: threading.Event = field(default_factory=threading.Event)
    failure: LabError | None = None
    state: LoopState = field(init=False)
    changes: Counter[LinkState] = field(default_factory=Counter)
    """How many links got each state so far."""

    steady_epochs: int = 0
    """How many epochs in a row were decided, nothing was changed, and links might have gone."""

    _links: frozenset[int] = field(init=False)
    """The links that the trees may run over now: those that were active when the lab was set last."""

    _set: Regulated = field(init=False)
    _home: Regulated = field(init=False)
    _sent: deque[HostBytes] = field(init=False)
    _slowdown: float | None = None
    _shown_slowdown: float | None = None
    _lost: str = ""
    """Why the lab has to be restored before the next decision."""

    def __post_init__(self) -> None:
        self.state = LoopState.begin(self.network.fabric)
        self._links = self.state.having("active")
        self._home = self._set = self.network.regulation(self.state, self._links)
        self._sent = deque(maxlen=self.settings.deactivation_epochs)
        self._guard = threading.Lock()

    def tell_slowdown(self, share: float) -> None:
        """How much slower than with all links on a program has just been, as a share; for the next decision."""
        with self._guard:
            self._slowdown = self._shown_slowdown = share

    def run(self) -> None:
        """Epoch after epoch, until the lab controller's `stop` is asked; what ended it early is in `failure`."""
        stop, clock = self.lab_controller.stop, self.lab_controller.run.clock
        orderly = True
        try:
            self.counters.begin(clock.now_ns())
            while not stop.wait(1, self.epoch_s):
                self.lab_controller.lock.renew()
                self.check()
                self.step(self.counters.counts(), self.counters.restarted())
                self.counters.begin(clock.now_ns())
        except Stopped:
            pass
        except LabError as error:
            self.failure = error
        except BaseException:
            orderly = False
            raise
        finally:
            if not orderly:
                self.failure = LabError("the loop ended with a bug in this program: report the trace above.")
            self.ended.set()

    def step(self, counts: EpochCounts | str, restarted: Sequence[str] = ()) -> None:
        """The end of an epoch: decide, change the lab, and record both. LabError if the loop cannot go on."""
        if restarted:
            self._lost = f"{', '.join(restarted)} restarted"
        if self._lost:
            self._put_home()
        elif isinstance(counts, str):
            self._carry_out(no_decision(self.network.fabric, self.state, self.settings), why=counts)
        else:
            self._decide(counts)

    # -- one epoch

    def _decide(self, counts: EpochCounts) -> None:
        traffic = self.network.traffic(counts, self._links, self.epoch_s)
        self._sent.append(traffic.byte_by_pair)
        if not self.decides.is_set():
            self._note_epoch(traffic.busiest_share)
            return
        with self._guard:
            slowdown, self._slowdown = self._slowdown, None
        decision = decide(
            self.network.fabric,
            self.state,
            traffic.used,
            up=traffic.up,
            slowdown=slowdown,
            predict=self.network.predict(tuple(self._sent), self.epoch_s),
            settings=self.settings,
        )
        self._carry_out(decision, busiest_share=traffic.busiest_share)
        backs_off = self.state.epoch < self.state.quiet_until
        self.steady_epochs = 0 if decision.changes or backs_off else self.steady_epochs + 1

    def _carry_out(self, decision: Decision, why: str = "", busiest_share: float | None = None) -> None:
        before, self.state = self.state, decision.state
        try:
            regulation = self.network.regulation(decision.state, self._links)
            if regulation != self._set:
                self._change(regulation, decision.changes)
        except Drift as error:
            self.state, self._lost = before, f"settings were changed by somebody else ({error})"
            why = why or f"{self._lost}."
        except _FATAL:
            raise
        except LabError as error:
            self.state = refused(before, decision, self.settings)
            self._event(EventKind.LOOP_REFUSED, why=str(error))
        else:
            active = decision.state.having("active")
            self._links = active if self.network.network.connects(active) else self._links
            for change in decision.changes:
                self._note(change)
        self._note_epoch(busiest_share, why)

    def _change(self, regulation: Regulated, changes: Sequence[LinkChange]) -> None:
        controller = self.lab_controller
        began_ns = controller.run.clock.now_ns()
        if regulation == self._home:
            controller.go_home()
        else:
            changed_text = ", ".join(f"{self._name(one.link)} {one.after}" for one in changes) or "trees"
            # VIDs of the state before the run stay free of other trees, so that one plan can lead back to it.
            spared = frozenset().union(*(switch.vids for switch in controller.home.switches.values()))
            controller.change(f"epoch {self.state.epoch}: {changed_text}", replace(regulation, spared=spared))
        ended_ns = controller.run.clock.now_ns()
        self._set = regulation
        for change in changes:
            if change.is_physical:
                facts = {"what": "link", "factor": "", "link": self._name(change.link)}
                after = "off" if change.after == "off" else "on"
                controller.run.event(EventKind.ACTUATION, **facts, after=after, begun_ns=began_ns, ended_ns=ended_ns)

    def _put_home(self) -> None:
        """Restore the lab, all links active; tried again after the next epoch if a switch does not answer yet."""
        why = self._lost
        try:
            trouble = self.lab_controller.go_home()
        except _FATAL:
            raise
        except LabError as error:
            self.state = no_decision(self.network.fabric, self.state, self.settings).state
            self._note_epoch(None, f"{why}, and the lab could not be restored yet: {error}")
            return
        self._lost = ""
        self.steady_epochs = 0
        self._set, self._links = self._home, frozenset(self.network.network.trunks)
        self._sent.clear()
        self.state = all_on(no_decision(self.network.fabric, self.state, self.settings).state, self.settings)
        self._note_epoch(None, f"{why}: {trouble}")

    # -- recording

    def _name(self, number: int) -> str:
        return self.network.topology.trunks[number].name

    def _note(self, change: LinkChange) -> None:
        self.changes[change.after] += 1
        facts = {"link": self._name(change.link), "before": change.before, "after": change.after}
        self._event(EventKind.LOOP_DECIDED, **facts, why=change.reason)

    def _note_epoch(self, busiest_share: float | None, why: str = "") -> None:
        """One event an epoch, and one more if it had no decision."""
        if why:
            self._event(EventKind.LOOP_UNDECIDED, why=why)
        links = {
            state: [self._name(number) for number in sorted(self.state.having(state))]
            for state in _STATES
            if state != "active"
        }
        quiet = self.state.epoch < self.state.quiet_until
        facts = {"active": len(self.state.having("active")), "links": links, "busiest_share": busiest_share}
        self._event(EventKind.LOOP_EPOCH, **facts, slowdown=self._shown_slowdown, backs_off=quiet, undecided=why)

    def _event(self, kind: EventKind, **facts: Any) -> None:
        self.lab_controller.run.event(kind, epoch=self.state.epoch, **facts)
