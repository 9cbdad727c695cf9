"""What a program's pre-run lets go: its links chosen and proved, and measured beside the baseline."""

from dataclasses import dataclass, replace
from typing import Any, Final

from eee_testbed.analysis.calibration import load_calibration
from eee_testbed.controller.applying.observe import observe_lab
from eee_testbed.controller.drivers.table import capabilities_of
from eee_testbed.controller.planning.limits import abilities_of
from eee_testbed.eeectl.lab_name import lab_in_reach
from eee_testbed.eeectl.notice import Notice
from eee_testbed.eeectl.program_options import LaunchOptions
from eee_testbed.eeectl.regulation.measured import end, ended_early
from eee_testbed.eeectl.regulation.options import ChoiceOptions, KnobOptions, TrialOptions
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.yaml_source import CommandLine
from eee_testbed.measuring.experiments.experiment import LOOP_SAMPLES, LoopLevel, RegulationLevel
from eee_testbed.measuring.experiments.experiment_file import experiment_of
from eee_testbed.measuring.experiments.level_wishes import level_of
from eee_testbed.measuring.experiments.session import RunOptions, RunResult, run_new
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.measuring.regulating.choosing import Options, Rules, Traffic, choose
from eee_testbed.measuring.regulating.comparison import FACT, Comparison
from eee_testbed.measuring.regulating.in_trial import LoopsInTrials
from eee_testbed.measuring.regulating.outcome import FACTOR, LOOPED, modelled_watts
from eee_testbed.measuring.regulating.pre_run import traffic_in
from eee_testbed.regulation.levels import assumed_watts
from eee_testbed.twin.lab.lateness import Lateness

_COUNTING_GUARDS: Final[dict[str, Any]] = dict.fromkeys(
    ("twin_late_share", "processor_wait_share", "steal_share", "slow_share"), 1
)
"""Of a pre-run: a program sends the same however slowly it goes. Its time, of which a peak in percent is a share,
may then be too long: a peak in bytes does without it."""


@dataclass(frozen=True, slots=True)
class ProgramChoices:
    """A program, where it runs, and by which rules links are chosen for it."""

    program: str
    launch: LaunchOptions
    choices: ChoiceOptions
    knob: KnobOptions

    @property
    def run_name(self) -> str:
        """What its runs are called unless `--name` says otherwise."""
        return f"regulate-{self.program}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choices of a program's links on a lab, and what its table compares."""

    lab: Lab
    options: Options
    compared: Comparison


def choose_links(request: ProgramChoices, *, as_json: bool) -> Chosen | int:
    """Make the pre-run unless one is given, then choose and prove; the exit status if the pre-run ended early.

    LabError for options out of range, before the pre-run.
    """
    choices, knob = request.choices, request.knob
    choices.require(request.launch)
    knob.require()
    parameters = choices.pre_parameters
    lab = lab_in_reach(request.launch.lab)
    watts = assumed_watts
    if choices.calibration is not None:
        watts = modelled_watts(lab, load_calibration(choices.calibration)).of_trunk
    folder = choices.pre_run
    if folder is None:
        result = _pre_run(request, parameters, quiet=as_json)
        status, folder = ended_early(result, as_json=as_json), result.folder
        if status is not None:
            return status
    state = observe_lab(lab)
    counted = traffic_in(folder, lab, state, choices.traffic)
    sent = Traffic.of(lab, state, counted.byte_by_pair)
    rules = Rules(
        knob.knob,
        knob.method,
        watts,
        hold_us=knob.hold_us,
        time_limit_s=choices.time_limit_s,
        seed=choices.seed,
    )
    options = choose(sent, choices.peaks(sent, counted.time_s), rules, abilities_of(lab, capabilities_of))
    return Chosen(lab, options, Comparison.of(counted, sent, options, calibration=choices.calibration))


def measure_choices(
    request: ProgramChoices,
    trials: TrialOptions,
    views: ViewOptions,
    *,
    loop: LoopLevel | None,
    notice: Notice,
    as_json: bool,
) -> int:
    """Choose links, measure the program with each choice, and with a closed loop if one is given; print the table.

    The exit status. LabError for options out of range, before the pre-run, and if there is nothing to measure.
    """
    chosen = choose_links(request, as_json=as_json)
    if isinstance(chosen, int):
        return notice.ended(chosen, "its pre-run ended early")
    if len(chosen.options.regulations) == 1 and loop is None:
        raise LabError("no link can be turned off with these peaks, so nothing is measured: give a larger --peak.")
    compared = replace(chosen.compared, looped=loop is not None, figure=trials.figure)
    launch, choices = request.launch, request.choices
    content = trials.added_to(launch.content(request.program, choices.parameters, request.run_name))
    source = CommandLine(content | _factor(chosen.options, loop) | {"seed": choices.seed})
    facts = {FACT: compared.plain()}
    run_options = RunOptions(launch.runs, quiet=as_json, views=views, loops=LoopsInTrials, facts=facts)
    result = run_new(experiment_of(source), source, run_options, Lateness.of)
    return notice.run_ended(end(result, chosen.lab, compared, as_json=as_json), result)


def _factor(chosen: Options, loop: LoopLevel | None) -> dict[str, Any]:
    """The choices as a factor of an experiment; with a closed loop, counters are sampled often enough for it."""
    levels = {name: level_of(one) for name, one in chosen.regulations.items()}
    content: dict[str, Any] = {}
    if loop is not None:
        levels[LOOPED] = RegulationLevel(loop=loop)
        content["sampling"] = {"period_s": min(1.0, loop.epoch_s / LOOP_SAMPLES)}
    choices = {name: one.model_dump(mode="json") for name, one in levels.items()}
    return content | {"factors": {FACTOR: {"kind": "regulation", "levels": list(choices), "choices": choices}}}


def _pre_run(request: ProgramChoices, parameters: dict[str, Any], *, quiet: bool) -> RunResult:
    launch = request.launch
    content = launch.content(request.program, parameters, request.run_name)
    content["name"] = f"{content['name'][:50]}-pre-run"
    content |= {"blocks": 1, "guards": _COUNTING_GUARDS}
    content["recordings"] = content["recordings"] | {"traffic": request.choices.traffic == "messages"}
    source = CommandLine(content)
    return run_new(experiment_of(source), source, RunOptions(launch.runs, quiet=quiet), Lateness.of)
