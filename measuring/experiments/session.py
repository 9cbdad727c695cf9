"""A run from beginning to end: lock the lab, create the run's folder, collect, run the trials, restore the lab."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from eee_testbed.controller.applying.backend import measured_backend
from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.rounds import Stop
from eee_testbed.controller.applying.run_notes import RunNote, RunNotes, note_of
from eee_testbed.controller.applying.statefolder import StateFolder, digest_of
from eee_testbed.controller.applying.work import at_work
from eee_testbed.lab.errors import LabError, RunFolderFailed, UnreadableFile
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.lab.yaml_source import YamlSource
from eee_testbed.measuring.collecting.collect import Collector
from eee_testbed.measuring.collecting.lab_sources import note_clocks, sources_of
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.guards import GuardSink, LatenessMonitor, untimed
from eee_testbed.measuring.experiments.identities import changes_said, noted
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.experiments.launchers.asking import launcher_fact
from eee_testbed.measuring.experiments.prepared_lab import PreparedLab, TrialLoops
from eee_testbed.measuring.experiments.recorded_trials import RecordedTrials
from eee_testbed.measuring.experiments.recordings import require_rights
from eee_testbed.measuring.experiments.restoring import Agree, restore_killed
from eee_testbed.measuring.experiments.run_progress import RunProgress
from eee_testbed.measuring.experiments.running import Outcome, Runner
from eee_testbed.measuring.experiments.signal_handling import SignalHandling
from eee_testbed.measuring.experiments.trial_verdicts import TrialVerdicts
from eee_testbed.measuring.experiments.validation import order_for, validate_experiment
from eee_testbed.measuring.live.export.attach import attach
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.store import Facts, Run, RunFolder, read_events

if TYPE_CHECKING:
    from eee_testbed.analysis.power.preflight import Verdict

ROOT: Final = Path("runs")
CLOSED_LOOP: Final = "closed_loop"
"""The fact of a run that has its closed loop's settings."""

_NS: Final = 1_000_000_000

LatenessMonitorOf = Callable[[str], LatenessMonitor | None]
"""Returns a monitor for a virtual lab of that name; None for a real lab."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run. `root`: folder of runs; `anyway`: run even if the preflight fails; `views`: exports of live data.

    `agree` is asked when somebody changed the lab's settings while the run was stopped. `loops` makes what runs closed
    loops beside trials, for experiments with such a level. `facts` go into a new run's `run.yaml`, beside its own.
    """

    root: Path = ROOT
    anyway: bool = False
    quiet: bool = False
    views: ViewOptions = ViewOptions()  # noqa: RUF009 - frozen
    agree: Agree = lambda _: False
    loops: Callable[[], TrialLoops] | None = None
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run that ended, and its folder."""

    folder: Path
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class BegunRun:
    """An experiment's run that began before: its folder as it was read, its lab, and its experiment."""

    folder: RunFolder
    lab: Lab
    experiment: Experiment

    @property
    def is_loop(self) -> bool:
        """Whether it is that of a closed loop of link regulation."""
        return CLOSED_LOOP in self.folder.facts


def validated_lab(experiment: Experiment, source: YamlSource) -> Lab:
    """Load the experiment's lab and validate the experiment against it; LabError or ExperimentError if that fails."""
    lab = load_lab(find_lab(experiment.lab))
    validate_experiment(experiment, lab, source)
    return lab


def run_new(
    experiment: Experiment, source: YamlSource, options: RunOptions, lateness_monitor_of: LatenessMonitorOf
) -> RunResult:
    """Run an experiment in a new run folder. LabError if it could not begin."""
    lab = validated_lab(experiment, source)
    _require_loops(experiment, options)
    total = len(order_for(experiment))
    with RunProgress(total, quiet=options.quiet) as progress, _locked(lab, experiment, progress) as lock:
        run = create_run(lab, experiment, options.root, progress, {"slot_count": total, **options.facts})
        return _run(lab, experiment, run, lock, progress, options, lateness_monitor_of)


def create_run(lab: Lab, experiment: Experiment, root: Path, progress: RunProgress, facts: Facts) -> Run:
    """The run of an experiment, in a new folder; `facts` beside those of every run. LabError if that cannot be done."""
    require_rights([lab.host(name) for name in experiment.measure.hosts], experiment.recordings)
    of_every_run = {
        "what": "experiment",
        "lab": lab.name,
        "lab_folder": lab.folder,
        "lab_digest": digest_of(lab),
        "experiment": experiment.model_dump(mode="json", by_alias=True),
    }
    run = Run.create(root, experiment.name, {**of_every_run, **facts, **launcher_fact(experiment, lab)})
    progress.say(f"run {run.folder}")
    return run


def resume_run(
    begun: BegunRun, options: RunOptions, lateness_monitor_of: LatenessMonitorOf, blocks: int = 0
) -> RunResult:
    """Resume a run that ended early, or extend it to `blocks` blocks: the order of the first ones stays the same.

    LabError if it is the run of a closed loop, or if it has more blocks already.
    """
    folder, lab, experiment = begun.folder.path, begun.lab, begun.experiment
    if begun.is_loop:
        raise LabError(
            f"{folder} is the run of a closed loop, which cannot be resumed: `eeectl run {folder} --put-back` restores "
            "the lab; then start a new one."
        )
    if blocks and blocks < experiment.blocks:
        raise LabError(f"{folder} has {experiment.blocks} blocks already: give --blocks that or more.")
    _require_loops(experiment, options)
    longer = experiment.model_copy(update={"blocks": blocks}) if blocks > experiment.blocks else None
    experiment = longer or experiment
    total = len(order_for(experiment))
    with RunProgress(total, quiet=options.quiet) as progress, _locked(lab, experiment, progress) as lock:
        run = Run.resume(begun.folder)
        for sentence in run.set_aside:
            progress.say(sentence)
        if longer is not None:
            run.add_facts({"experiment": longer.model_dump(mode="json", by_alias=True), "slot_count": total})
        return _run(lab, experiment, run, lock, progress, options, lateness_monitor_of)


def begun_run(run: RunFolder) -> BegunRun:
    """The lab and the experiment of a run; LabError if it is not an experiment's run, or if its lab has changed."""
    folder, facts = run.path, run.facts
    if facts.get("what") != "experiment":
        raise LabError(f"{folder} is not the run of an experiment: name the folder of one.")
    lab = load_lab(Path(str(facts.get("lab_folder", ""))))
    if digest_of(lab) != facts.get("lab_digest"):
        raise LabError(
            f"the inventory of lab {lab.name} has changed since {folder} began: restore it, or start a new run."
        )
    try:
        return BegunRun(run, lab, Experiment.model_validate(facts.get("experiment")))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, ("experiment", *first["loc"])))
        remedy = "restore it from a copy, or start a new run"
        raise UnreadableFile(str(folder / "run.yaml"), 0, f"is damaged ({key}: {first['msg']})", remedy) from error


def lab_of_run(folder: Path) -> tuple[Lab, RunNote]:
    """The lab of a run, and its note; a folder that is damaged or gone is not needed if the run was killed here.

    LabError if neither a note nor the folder says which lab it was.
    """
    note = note_of(folder)
    if note is None or not note.lab_folder:
        begun = begun_run(RunFolder.read(folder))
        note = RunNote(
            run=str(folder.resolve()),
            lab_folder=begun.lab.folder,
            lab_digest=digest_of(begun.lab),
            command=f"run {begun.experiment.name}",
            resumable=not begun.is_loop,
        )
    return load_lab(Path(note.lab_folder)), note


def restore_lab(lab: Lab, note: RunNote, agree: Agree) -> str:
    """Restore a lab to its state before a run that was killed, as `lab_of_run` found both; a sentence on the result.

    LabError if somebody changed settings since and `agree` does not allow to undo that.
    """
    stop = Stop()
    with RunProgress(0) as progress, SignalHandling() as signals, signals.asking(stop):
        backend = measured_backend(lab, progress.say)
        with at_work(lab, backend, f"{note.command or note.folder.name}: restore", progress, stop) as work:
            return restore_killed(work, note, agree)


def run_preflight(experiment: Experiment, source: YamlSource, options: RunOptions) -> "Verdict":
    """Sample the lab's meters in a run of their own, and assess whether they can resolve the expected effect."""
    lab = validated_lab(experiment, source)
    facts = {"what": "preflight", "lab": lab.name, "experiment": experiment.model_dump(mode="json", by_alias=True)}
    sources = sources_of(lab, period_s=experiment.sampling.period_s, lpi_period_s=0)
    name = f"{experiment.name[:50]}-preflight"
    with Run.create(options.root, name, facts) as run, Collector(sources, run) as collector:
        return assess_meters(experiment, run, collector)


def assess_meters(experiment: Experiment, run: Run, collector: Collector) -> "Verdict":
    """Sample for `look_s`, then assess what the meters can resolve; LabError if no meter delivers samples."""
    from eee_testbed.analysis.power.preflight import meter_precisions, preflight  # noqa: PLC0415 - statistics take seconds to load
    from eee_testbed.record.samples import RunSamples  # noqa: PLC0415

    run.clock.wait_until(run.clock.now_ns() + round(experiment.expect.look_s * _NS), collector.ending)
    collector.check()
    run.flush()
    meters = meter_precisions(RunSamples(run.folder), experiment.expect.meters)
    if not meters:
        raise LabError("no meter reported watts: check the power strips, or remove `expect` from the experiment.")
    window = experiment.measure.window
    window_s = window.window_s if window is not None else experiment.expect.trial_s
    trials, effect = experiment.repetitions, experiment.expect.effect_watt
    return preflight(meters, window_s=window_s, blocks=experiment.blocks, trials=trials, effect_watt=effect)


def _locked(lab: Lab, experiment: Experiment, progress: RunProgress) -> Lock:
    return Lock(StateFolder.of(lab), f"run {experiment.name}", warn=progress.say)


def _run(
    lab: Lab,
    experiment: Experiment,
    run: Run,
    lock: Lock,
    progress: RunProgress,
    options: RunOptions,
    lateness_monitor_of: LatenessMonitorOf,
) -> RunResult:
    guard_sink = GuardSink(lab.links)
    loops = options.loops() if options.loops is not None and _has_loop(experiment) else None
    hosts = [lab.host(name) for name in experiment.measure.hosts]
    sampling = experiment.sampling
    sources = sources_of(lab, period_s=sampling.period_s, lpi_period_s=sampling.lpi_period_s)
    outcomes: list[Outcome] = []
    lab_controller = LabController(
        lab, experiment, run, measured_backend(lab, progress.say), lock, progress, guard_sink.was_down
    )
    try:
        warn_of_another(lab_controller.folder, run, progress)
        lab_controller.begin()
        lab_controller.ask_about_changes(options.agree)
        # Before anything is asked: a lab that sets its own rate may be slow until then.
        lateness_monitor = lateness_monitor_of(lab.name)
        if lateness_monitor is not None:
            progress.wait_by(lateness_monitor.wall_s)
        lab_controller.waiting = partial(untimed, lateness_monitor)
        with (
            SignalHandling() as signals,
            attach(run.folder, lab, options.views, progress.say),
            Collector(sources, run, (guard_sink, *([loops] if loops is not None else []))) as collector,
        ):
            note_clocks(run, hosts)
            switches = noted(run.facts, lab_controller.identities(), run.clock.now_ns())
            run.add_facts(switches)
            for sentence in changes_said(switches):
                progress.say(sentence)
            _require_resolvable(experiment, run, collector, progress, options)
            collector.await_first("switch")
            runner = Runner(
                PreparedLab(lab, experiment, lab_controller, guard_sink, signals, run.clock, loops),
                RecordedTrials(experiment, run, progress, lateness_monitor),
                TrialVerdicts(experiment, guard_sink, lateness_monitor, has_strips=bool(lab.strips)),
                collector,
            )
            outcomes.append(runner.execute())
            if outcomes[0].complete:
                note_clocks(run, hosts)
        run.close("finished" if outcomes[0].complete else "interrupted")
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(lab_controller.left_words) from error
    except RunFolderFailed as error:
        if not outcomes:
            raise
        return RunResult(run.folder, replace(outcomes[0], cause=outcomes[0].cause or error))
    finally:
        lab_controller.end()
        with suppress(RunFolderFailed):  # already reported, or less important than the error that is being raised
            run.close("interrupted")
    return RunResult(run.folder, outcomes[0])


def _require_loops(experiment: Experiment, options: RunOptions) -> None:
    if _has_loop(experiment) and options.loops is None:
        raise LabError("a level of this experiment is a closed loop: run it with `eeectl run`.")


def _has_loop(experiment: Experiment) -> bool:
    factors = experiment.of_kind("regulation").values()
    return any(choice.loop is not None for factor in factors for choice in factor.choices.values())


def warn_of_another(folder: StateFolder, run: Run, progress: RunProgress) -> None:
    """Say which other runs were killed and left the lab changed."""
    for note in RunNotes(folder).all():
        if note.folder != run.folder.resolve():
            progress.say(
                f"the run {note.run} was killed, and its lab not restored: `eeectl recover {folder.operand}` after "
                "this run restores the state from before that one"
            )


def _require_resolvable(
    experiment: Experiment, run: Run, collector: Collector, progress: RunProgress, options: RunOptions
) -> None:
    """LabError if the meters cannot resolve the expected effect, unless `anyway` is set; checked once for a run."""
    if experiment.expect.effect_watt is None or any(
        event["kind"] == EventKind.TRIAL_BEGUN for event in read_events(run.folder)
    ):
        return
    progress.say(f"preflight: sampling the meters for {experiment.expect.look_s:g} s")
    verdict = assess_meters(experiment, run, collector)
    run.event(EventKind.PREFLIGHT, seen=verdict.seen, sentence=verdict.sentence, smallest_watt=verdict.smallest_watt)
    progress.say(verdict.sentence)
    if not verdict.seen and not options.anyway:
        raise LabError(
            "these meters cannot resolve the effect, so nothing was changed: use --anyway to run it even so."
        )
