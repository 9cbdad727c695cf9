"""Measure until known: pilot, then block after block where the decision says, until it says that nothing is left."""

import math
import os
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from rich.console import Console
from rich.table import Table

from eee_testbed.analysis.calibration import Calibration, PowerPart, save_calibration
from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.links.probe_design import about_edge
from eee_testbed.analysis.power.preflight import meter_precisions
from eee_testbed.analysis.report.table import cell_text
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.study import design
from eee_testbed.measuring.study.commands import never
from eee_testbed.measuring.study.decide import BlockKind, CannotBeKnown, Decision, Known, NeedsMore, Parameter, decide
from eee_testbed.measuring.study.ending import DONE, OUT_OF_TIME, PENDING
from eee_testbed.measuring.study.folder import Block, StudyFolder
from eee_testbed.measuring.study.parameters import (
    CARDS,
    EDGES,
    PORTS,
    POWER,
    PROBES,
    PROGRAM,
    TRAFFIC,
    Evidence,
    history_of,
    kinds_of,
    parameters_of,
    seen_of,
)
from eee_testbed.measuring.study.progress import far_words
from eee_testbed.measuring.study.standing import KNOWN, ParameterRow, Standing, write_standing
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import read_facts

if TYPE_CHECKING:
    from eee_testbed.analysis.fit_runs import FitResult
    from eee_testbed.analysis.fitted_part import Part

_NORMAL_95: Final = 1.96


_PILOT_S: Final = 900.0
"""Of the wall: a pilot takes about five minutes, but in a lab whose time is slow."""
_LONGER: Final = 1.25
"""A block may take so many times the budget that is left when it begins: its length is an estimate."""
_FIT_BESIDE_NICE: Final = 10


class Commands(Protocol):
    """Runs `eeectl` with some words; returns its exit status. Stops it once the time is `over`: OUT_OF_TIME."""

    def __call__(self, *words: str, over: Callable[[], bool] = never) -> int:
        """Run it."""


Fit = Callable[[Sequence[RunSamples], Calibration | None, "Sequence[Part]"], "FitResult"]
"""Fits parts of a calibration to runs, with what is known already."""


def _fit_runs(runs: Sequence[RunSamples], calibration: Calibration | None, parts: "Sequence[Part]") -> "FitResult":
    from eee_testbed.analysis.fit_runs import fit_runs  # noqa: PLC0415 - optimizers take half a second to load

    return fit_runs(runs, calibration, parts)


@dataclass
class Measuring:
    """One study in progress. `clock`: seconds of the wall that only grow."""

    lab: Lab
    folder: StudyFolder
    run_eeectl: Commands
    clock: Callable[[], float]
    console: Console
    fit_runs: Fit = _fit_runs
    views: Sequence[str] = ()
    """Options of each run, such as where live data are exported."""

    missing: bool = field(default=False, init=False)
    """Whether a run ended with trials missing."""
    _begun_s: float = field(default=0.0, init=False)
    _ends_s: float = field(default=math.inf, init=False)
    """When the study stops."""
    _stops_s: float = field(default=math.inf, init=False)
    """When a command is stopped that still measures: in the pilot others wait."""

    _found: Calibration | None = field(default=None, init=False)
    _failures: dict["Part", tuple[str, ...]] = field(default_factory=dict, init=False)
    _stale: set["Part"] = field(default_factory=lambda: {"links", "power"}, init=False)
    _fit_s: dict["Part", float] = field(default_factory=dict, init=False)
    """How long the last fit of each part took."""

    _rows: tuple[ParameterRow, ...] = field(default=(), init=False)
    """The table as it was printed last."""

    _beside: "Future[None] | None" = field(default=None, init=False)
    """A fit of links that goes on beside a block in which nothing is timed."""

    def execute(self) -> int:
        """Measure; DONE, or the exit status of the command that failed or was interrupted."""
        spent_s = sum(block.time_s for block in self.folder.blocks)
        self._begun_s = self.clock() - spent_s
        self._ends_s = self.clock() + max(_LONGER * self._left_s(), _PILOT_S)
        status = self._pilot() or self._further_blocks()
        if status == OUT_OF_TIME:
            self._stop_here()
            return DONE
        return status

    def _pilot(self) -> int:
        """Finish what was begun, and begin what was not, each in its share of the time; then what needs more."""
        for is_shared in (True, False):
            todo = self._unfinished()
            for place, (name, run) in enumerate(todo):
                waiting = len(todo) - place if is_shared else 1
                self._stops_s = self.clock() + (self._ends_s - self.clock()) / waiting
                if name == PROGRAM and run is None:
                    self._keep_pauses_from_holds()
                status = self._block(name, run)
                if status and (status != OUT_OF_TIME or self.clock() >= self._ends_s):
                    return status
        self._stops_s = self._ends_s
        return DONE

    def _unfinished(self) -> list[tuple[str, Path | None]]:
        """Kinds of blocks with their runs: those that were begun, and those that were not."""
        begun = [path for path in self.folder.all_runs() if read_facts(path).get("state") != "finished"]
        new = [name for name in self.folder.names if self.folder.run_of(name) is None]
        return [*((_kind_of(path), path) for path in begun), *((name, None) for name in new)]

    def _further_blocks(self) -> int:
        """Block after block, until the decision is to end."""
        while True:
            decision, parameters = self._decide()
            self._show(decision, parameters)
            if decision.block is None:
                self._save()
                self._stand("", decision.why, ended=True)
                return DONE
            if status := self._next(decision.block, decision.why):
                return status

    def _stop_here(self) -> None:
        """End with what was measured until the time was over."""
        self.missing = True
        said = (
            f"stopped after {_duration(self.clock() - self._begun_s)}, as the budget is "
            f"{_duration(self.folder.aim.budget_s)}: {far_words(self.folder)}. All of it is kept, and in the report. "
            f"`eeectl study --resume {self.folder.path} --budget 40m` goes on; a virtual lab is faster while this "
            "machine does nothing else."
        )
        self.console.print(said, style="yellow", markup=False, soft_wrap=not self.console.is_terminal)
        decision, parameters = self._decide()
        verdicts = {name: one if one == Known() else NeedsMore(math.inf) for name, one in decision.verdicts.items()}
        self._show(Decision(verdicts, None, "the budget is spent"), parameters)
        self._save()
        self._stand("", said, ended=True)

    def _show(self, decision: Decision, parameters: Sequence[Parameter]) -> None:
        self._rows = rows_of(decision, parameters)
        print_table(self.console, table_of(decision, self._rows, self._left_s()))

    def _keep_pauses_from_holds(self) -> None:
        """Change the program's pauses, now that holds are known, as `design.beside_holds` says."""
        policies = self._evidence().links.values()
        holds = [
            hold.interval for policy in policies for hold in (policy.hold_us, policy.card_hold_us) if hold is not None
        ]
        program = self.folder.content(PROGRAM)
        changed = design.beside_holds(program, holds)
        was, now = set(program["factors"]["sleep_us"]), set(changed["factors"]["sleep_us"])
        if now != was:
            pause_lists = (", ".join(f"{pause} us" for pause in sorted(some)) for some in (was - now, now - was))
            near, instead = pause_lists
            why = "whether links sleep so near a hold is chance"
            self.console.print(f"{PROGRAM}: pauses of {instead} instead of {near}: {why}.", markup=False)
            self.folder.add_experiment(changed)

    def _stand(self, step: str, why: str, *, ended: bool = False) -> None:
        standing = Standing(
            step=step, why=why, left_s=self._left_s(), at_s=self.clock(), ended=ended, parameters=self._rows
        )
        write_standing(self.folder.path, standing)

    def _over(self) -> bool:
        return self.clock() >= self._stops_s

    def _left_s(self) -> float:
        return self.folder.aim.budget_s - (self.clock() - self._begun_s)

    def _decide(self) -> tuple[Decision, tuple[Parameter, ...]]:
        evidence = self._evidence()
        parameters = parameters_of(evidence, self.folder.aim.precision)
        kinds = [self._with_fit(kind) for kind in kinds_of(evidence, parameters, self.folder.blocks)]
        blocks = self.folder.blocks
        if blocks and not blocks[-1].seen:
            self.folder.see(seen_of(parameters, kinds))
        decision = decide(parameters, kinds, self._left_s(), history_of(self.folder.blocks))
        return decision, parameters

    def _with_fit(self, kind: BlockKind) -> BlockKind:
        """A block is worth nothing before it is fitted: that is part of its cost."""
        fit_s = sum(self._fit_s.get(part, 0.0) for part in _parts_of(kind.name))
        return replace(kind, cost_s=kind.cost_s + fit_s)

    def _evidence(self) -> Evidence:
        """What is known now; only what new blocks may have changed is fitted anew."""
        if self._beside is not None:
            self._beside.result()
            self._beside = None
        paths = self.folder.all_runs()
        runs = {str(read_facts(path)["name"]): (path, _blocks_of(path)) for path in paths}
        for part in sorted(self._stale):
            self._fit(part, [RunSamples(path) for path in paths])
        self._stale.clear()
        failures = tuple(sentence for part in self._failures.values() for sentence in part)
        third, _ = design.stream_of(self.lab, self.folder.content(PROBES)) if PROBES in runs else ("", ())
        return Evidence(self._found, failures, runs, *self._metered(runs), bool(third))

    def _fit_links_beside(self, block: Path | None) -> None:
        """Fit links in a thread, to all runs but the one of the block, which takes as long."""
        runs = [RunSamples(path) for path in self.folder.all_runs() if path != block]
        if not runs:
            return
        future: Future[None] = Future()
        self._stale.discard("links")
        self._beside = future

        def fit() -> None:
            os.nice(_FIT_BESIDE_NICE)  # of this thread: the run that samples meanwhile needs its processor first
            try:
                self._fit("links", runs)
            except BaseException as error:  # noqa: BLE001 - the study's own thread gets it, whatever it is
                future.set_exception(error)
            else:
                future.set_result(None)

        # A daemon: a study that is interrupted does not wait for it.
        threading.Thread(target=fit, name="fit of links", daemon=True).start()

    def _fit(self, part: "Part", runs: Sequence[RunSamples]) -> None:
        """Fit one part; what was known of it before is forgotten."""
        begun_s = self.clock()
        calibration = self._found
        if calibration is not None:
            calibration = calibration.model_copy(update={"links": {}} if part == "links" else {"power": PowerPart()})
        try:
            result = self.fit_runs(runs, calibration, [part])
        except NotEnoughData as error:
            self._found, self._failures[part] = calibration, (str(error),)
        else:
            self._found, self._failures[part] = result.calibration, result.failures
        self._fit_s[part] = self.clock() - begun_s

    def _save(self) -> None:
        """Fit run time to what is known by now, and write the calibration; without any result there is none."""
        failures = [sentence for part in self._failures.values() for sentence in part]
        calibration = self._found
        try:
            result = self.fit_runs([RunSamples(path) for path in self.folder.all_runs()], calibration, ["run-time"])
        except NotEnoughData as error:
            failures.append(str(error))
        else:
            calibration = result.calibration
            failures += result.failures
        for sentence in failures:
            self.console.print(f"not fitted: {sentence}", style="yellow", markup=False)
        if calibration is not None:
            save_calibration(self.folder.calibration, calibration)

    def _metered(self, runs: Mapping[str, tuple[Path, int]]) -> tuple[dict[str, float], dict[str, float]]:
        """Switches whose ports were switched while a meter watched, with what its steps leave of a port's watts.

        Switched means shut or, where none was, put to sleep. Then hosts at whose links EEE was on and off, with what is
        left of theirs.
        """
        if POWER not in runs:
            return {}, {}
        content = self.folder.content(POWER)
        factors = content["factors"]
        eee = factors.get("eee") or {}  # a user may have edited the file
        links = [self.lab.find_link(name) for name in (factors.get("link") or eee).get("links", ())]
        switches = {switch.name for switch in self.lab.switches}
        ends = [end.device for link in links for end in (link.a, link.b) if end.device in switches]
        hosts = [name for name in content["measure"]["power"].get("hosts", ()) if name in eee.get("links", ())]
        meters = meter_precisions(RunSamples(runs[POWER][0]), [*dict.fromkeys(ends), *hosts])
        left_watt = {meter.name: _NORMAL_95 * math.sqrt(2) * meter.rounding_watt for meter in meters}
        return (
            {name: left_watt[name] / ends.count(name) for name in left_watt if name in ends},
            {name: left_watt[name] for name in left_watt if name in hosts},
        )

    def _next(self, kind: str, why: str) -> int:
        """Measure a block of a kind; `why` is the decision's."""
        if kind.startswith(f"{EDGES}-"):
            name = self._edges(kind)
        elif kind == CARDS and self.folder.run_of(kind) is None:
            name = kind
            probes, every_us = self.folder.content(PROBES), self._evidence().stream_us
            self.folder.add_experiment(design.cards_alone(self.lab, probes, every_us))
        elif kind in self._later and self.folder.run_of(kind) is None:
            name = kind
            self.folder.add_experiment(self._later[kind])
        else:
            return self._block(kind, self.folder.run_of(kind), more=1, why=why)
        return self._block(kind, None, experiment=name, why=why)

    @cached_property
    def _later(self) -> Mapping[str, design.Content]:
        """Experiments that the pilot does not have, by name, where the lab allows them."""
        return {TRAFFIC: design.traffic(self.lab, self.folder.content(POWER))} if POWER in self.folder.names else {}

    def _edges(self, kind: str) -> str:
        """Write the experiment of a block near the edges of a pair's policy; its name."""
        name = kind.removeprefix(f"{EDGES}-")
        policy = None if self._found is None else self._found.links[name]
        if policy is None or policy.hold_us is None or policy.sleep_us is None:
            raise AssertionError("edges are only measured of a policy with a hold and a Ts")
        content = design.edges(
            self.folder.content(PROBES),
            self._pair(name),
            about_edge(policy.hold_us.interval, policy.sleep_us.interval),
            1 + sum(block.kind == kind for block in self.folder.blocks),
        )
        self.folder.add_experiment(content)
        return str(content["name"])

    def _pair(self, name: str) -> tuple[str, str]:
        """The two hosts in the name of a path; a host's name may have hyphens of its own."""
        hosts = {host.name for host in self.lab.hosts}
        parts = name.split("-")
        pairs = (("-".join(parts[:place]), "-".join(parts[place:])) for place in range(1, len(parts)))
        return next(pair for pair in pairs if hosts.issuperset(pair))

    def _block(self, kind: str, run: Path | None, *, more: int = 0, experiment: str = "", why: str = "") -> int:
        """Begin a run, resume it, or extend it; DONE, or the exit status of what went wrong."""
        if self._over():
            return OUT_OF_TIME
        if run is None:
            argv = [str(self.folder.experiment(experiment or kind))]
        else:
            argv = [str(run), "--resume", *(["--blocks", str(_blocks_of(run) + more)] if more else [])]
        begun_s = self.clock()
        self._stand(kind, why or ("the pilot measures it first" if run is None else "its run was stopped"))
        if kind == POWER and "links" in self._stale:
            self._fit_links_beside(run)
        self.console.rule(f"eeectl {shlex.join(['run', *argv])}", align="left")
        status = self.run_eeectl("run", *argv, "--runs", str(self.folder.runs), *self.views, over=self._over)
        if status not in (DONE, PENDING, OUT_OF_TIME):
            return status
        self.missing = self.missing or status == PENDING
        self._stale |= _parts_of(kind)
        self.folder.add_block(Block(kind=kind, time_s=max(self.clock() - begun_s, 0.0), complete=status == DONE))
        self._stand("", "fits are made of what was measured")
        return OUT_OF_TIME if status == OUT_OF_TIME else DONE


def _parts_of(kind: str) -> set["Part"]:
    """What a block of a kind may change; run times are fitted at the end, as no decision needs their models."""
    if kind in (PROBES, PORTS, CARDS) or kind.startswith(f"{EDGES}-"):
        return {"links"}
    return {"power"} if kind in (POWER, TRAFFIC) else set()


def _blocks_of(run: Path) -> int:
    return int(read_facts(run)["experiment"]["blocks"])


def _kind_of(run: Path) -> str:
    """The kind of a run's blocks; runs near edges are numbered."""
    name = str(read_facts(run)["name"])
    return name.rpartition("-")[0] if name.startswith(f"{EDGES}-") else name


def rows_of(decision: Decision, parameters: Sequence[Parameter]) -> tuple[ParameterRow, ...]:
    """Each parameter with its interval, what is wanted and how it stands, as text."""
    rows = []
    for parameter in parameters:
        now = "-" if parameter.interval is None else f"{cell_text(parameter.interval)} {parameter.unit}"
        target = "-" if parameter.interval is None else f"± {parameter.wanted:.2g} {parameter.unit}"
        rows.append(
            ParameterRow(name=parameter.name, now=now, wanted=target, verdict=words_of(decision, parameter.name))
        )
    return tuple(rows)


def table_of(decision: Decision, rows: Sequence[ParameterRow], left_s: float) -> Table:
    """What is known of each parameter; what is measured next, and why."""
    after = f"next: {decision.block}, because {decision.why}" if decision.block else f"end: {decision.why}"
    title = f"{after}; {max(left_s, 0.0) / 60:.1f} min left"
    table = Table(title=title, title_justify="left")
    for heading in ("parameter", "now (95 %)", "wanted", ""):
        table.add_column(heading)
    for row in rows:
        table.add_row(row.name, row.now, row.wanted, row.verdict)
    return table


def words_of(decision: Decision, name: str) -> str:
    """How a parameter stands, or ends."""
    match decision.verdicts[name]:
        case Known():
            return KNOWN
        case CannotBeKnown(why):
            return f"cannot be known here, because {why[:1].lower()}{why[1:]}"
        case NeedsMore(time_s):
            return f"needs about {_duration(time_s)} more" if math.isfinite(time_s) else "needs more"


def _duration(time_s: float) -> str:
    """To read: minutes, of long times hours or days."""
    if time_s < 2 * 3_600:
        return f"{max(time_s / 60, 1):.0f} min"
    return f"{time_s / 3_600:.0f} h" if time_s < 48 * 3_600 else f"{time_s / 86_400:.0f} days"
