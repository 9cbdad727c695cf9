"""`eeectl run`: run an experiment that a file describes."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from eee_testbed.eeectl.lab_name import NamedLab, lab_operand, require_up
from eee_testbed.eeectl.notice import Notice, NoticeOptions
from eee_testbed.eeectl.run_output import agreement, print_order, print_result
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.yaml_source import YamlSource
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.experiment_file import read_experiment
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.twin.lab.lateness import Lateness

if TYPE_CHECKING:
    from collections.abc import Callable

    from eee_testbed.measuring.experiments.session import RunOptions, RunResult
    from eee_testbed.record.store import RunFolder

_Flag = Annotated[bool, Parameter(negative="")]
_Json = Annotated[bool, Parameter(name="--json", negative="")]

run_app = App(name="run")


@run_app.default
def run(
    file: Path,
    /,
    *,
    lab: NamedLab = "",
    trace: _Flag = False,
    runs: Path = Path("runs"),
    resume: _Flag = False,
    blocks: int = 0,
    put_back: _Flag = False,
    preflight: _Flag = False,
    order: _Flag = False,
    anyway: _Flag = False,
    yes: _Flag = False,
    as_json: _Json = False,
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
    telling: NoticeOptions = NoticeOptions(),  # noqa: B008 - frozen
) -> int:
    """Run an experiment: trials in interleaved random blocks, everything sampled, the lab restored at the end.

    Exit status 3 means that the run ended with trials missing: `eeectl run FOLDER --resume` tries them again.

    Parameters
    ----------
    file
        The experiment's file, see experiments/; with --resume and --put-back the run's folder.
    lab
        Name of a lab, or its folder: run it there. Default: the lab that the file names.
    trace
        Record every call of MPI functions, as `recordings: {trace: true}` in the file does, for `eeectl trace import`.
    runs
        Folder in which the run's folder is made.
    resume
        Resume a run that was stopped or killed; valid trials are kept. A run of `eeectl regulate` ends with its table.
    blocks
        With --resume: extend the run to this number of blocks; those that it has stay as they are.
    put_back
        Only restore the lab to its state before a run that was killed. The run's folder may be damaged, full or gone.
    preflight
        Only sample the meters for a while, and report whether they can resolve the effect.
    order
        Only print the trials in their order.
    anyway
        Run even if the meters cannot resolve the expected effect.
    yes
        With --resume and --put-back: do not ask about settings that somebody changed since the run stopped.
    as_json
        Print JSON.
    views
        Where live data are exported.
    telling
        Whom it tells at its end.

    """
    from eee_testbed.measuring.experiments.session import (
        RunOptions,
        lab_of_run,
        restore_lab,
        run_new,
        validated_lab,
    )
    from eee_testbed.measuring.regulating.in_trial import LoopsInTrials
    from eee_testbed.record.store import RunFolder

    with telling.notice("run", measures=not (order or preflight or put_back)) as notice:
        _require_new(resume=resume, put_back=put_back, trace=trace)
        if put_back:
            changed, note = lab_of_run(file)
            require_up(changed)
            print(restore_lab(changed, note, agreement(yes=yes)))
            return 0
        options = RunOptions(runs, anyway, views=views, agree=agreement(yes=yes), loops=LoopsInTrials)
        if resume:
            return _resume(RunFolder.read(file), options, blocks, notice, as_json=as_json)
        if blocks:
            raise LabError("--blocks goes with --resume: an experiment's file has its own `blocks`.")
        experiment, source = read_experiment(file)
        if lab:
            experiment = experiment.model_copy(update={"lab": lab_operand(lab)})
        experiment = _traced(experiment, trace=trace)
        known = validated_lab(experiment, source)
        if order:
            return print_order(experiment, as_json=as_json)
        require_up(known)
        if preflight:
            return _preflight(experiment, source, options, as_json=as_json)
        return _measured(notice, partial(run_new, experiment, source, options, Lateness.of), as_json=as_json)


def _measured(notice: Notice, measure: "Callable[[], RunResult]", *, as_json: bool) -> int:
    result = measure()
    return notice.run_ended(print_result(result, as_json=as_json), result)


def _require_new(*, resume: bool, put_back: bool, trace: bool) -> None:
    if trace and (resume or put_back):
        raise LabError("--trace is for a new run: an earlier one records what its own experiment says.")


def _traced(experiment: Experiment, *, trace: bool) -> Experiment:
    """The experiment, with traces if they are asked for here."""
    recordings = experiment.recordings.model_copy(update={"trace": experiment.recordings.trace or trace})
    return experiment.model_copy(update={"recordings": recordings})


def _resume(run: "RunFolder", options: "RunOptions", blocks: int, notice: Notice, *, as_json: bool) -> int:
    """Resume a run, that of `eeectl regulate` with its table; the exit status."""
    from eee_testbed.eeectl.regulation.measured import resume_regulation
    from eee_testbed.measuring.experiments.session import begun_run, resume_run
    from eee_testbed.measuring.regulating.comparison import compares  # what chooses links takes a second to load

    if compares(run):
        notice.run = run.path
        status = resume_regulation(run, options.agree, options.views, blocks, as_json=as_json)
        return notice.ended(status, str(run.path))
    begun = begun_run(run)
    require_up(begun.lab)
    notice.run = run.path
    return _measured(notice, partial(resume_run, begun, options, Lateness.of, blocks), as_json=as_json)


def _preflight(experiment: Experiment, source: YamlSource, options: "RunOptions", *, as_json: bool) -> int:
    from eee_testbed.measuring.experiments.session import run_preflight

    verdict = run_preflight(experiment, source, options)
    fields = {"seen": verdict.seen, "sentence": verdict.sentence, "smallest_watt": verdict.smallest_watt}
    print(json.dumps(fields | {"blocks_needed": verdict.blocks_needed}, indent=1) if as_json else verdict.sentence)
    return 0 if verdict.seen else 1
