"""A regulation's run, run through or resumed: both end with the same table."""

from dataclasses import replace
from pathlib import Path

from eee_testbed.analysis.calibration import load_calibration
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED
from eee_testbed.eeectl.lab_name import require_up
from eee_testbed.eeectl.regulation.outcome_text import show
from eee_testbed.eeectl.run_output import print_result
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.restoring import Agree
from eee_testbed.measuring.experiments.session import RunOptions, RunResult, begun_run, resume_run
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.measuring.regulating.comparison import Comparison, comparison_in
from eee_testbed.measuring.regulating.in_trial import LoopsInTrials
from eee_testbed.measuring.regulating.outcome import network_watts, rows_of
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import RunFolder
from eee_testbed.record.trials import read_trials
from eee_testbed.twin.lab.lateness import Lateness


def ended_early(done: RunResult, *, as_json: bool) -> int | None:
    """The exit status of a command whose pre-run was stopped, failed or has no valid trial; None if it goes on."""
    if done.outcome.valid and done.outcome.complete:
        return None
    return print_result(done, as_json=as_json)


def resume_regulation(
    run: RunFolder,
    agree: Agree,
    views: ViewOptions,
    blocks: int = 0,
    *,
    figure: str = "",
    calibration: Path | None = None,
    as_json: bool,
) -> int:
    """Run the trials that a regulation's run misses, then print its table; the exit status.

    Of a run that has ended only the table is printed, unless it is extended to `blocks`. `figure` and `calibration`
    replace those that the run compares with. LabError if it is no such run.
    """
    compared, begun = comparison_in(run), begun_run(run)
    file = compared.calibration if calibration is None else str(calibration)
    compared = replace(compared, figure=figure or compared.figure, calibration=file)
    if not blocks and _is_whole(run):
        show_table(RunSamples.of(run), begun.lab, compared, as_json=as_json)
        return DONE
    require_up(begun.lab)
    options = RunOptions(run.path.parent, quiet=as_json, views=views, agree=agree, loops=LoopsInTrials)
    return end(resume_run(begun, options, Lateness.of, blocks), begun.lab, compared, as_json=as_json)


def end(result: RunResult, lab: Lab, compared: Comparison, *, as_json: bool) -> int:
    """Print the table of a run that has all its trials, else how to get them; the exit status."""
    if result.outcome.missing or result.outcome.cause is not None:
        return print_result(result, as_json=as_json)
    show_table(RunSamples(result.folder), lab, compared, as_json=as_json)
    return INTERRUPTED if result.outcome.interrupted else DONE


def show_table(run: RunSamples | None, lab: Lab, compared: Comparison, *, as_json: bool) -> None:
    """Print what a run of a regulation measured; without a run nothing was."""
    power = network_watts(lab, load_calibration(Path(compared.calibration))) if compared.calibration else None
    rows = rows_of(run, lab, compared, power, compared.figure)
    show(rows, compared, power, lab, folder=None if run is None else run.folder, as_json=as_json)


def _is_whole(run: RunFolder) -> bool:
    """Whether a run has ended by itself, with all its trials: its lab is restored."""
    valid = {trial.slot for trial in read_trials(run.path) if trial.valid}
    return run.facts["state"] == "finished" and len(valid) == int(run.facts.get("slot_count", 0))
