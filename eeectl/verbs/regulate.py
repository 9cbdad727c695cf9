"""`eeectl regulate`: switch off or slow down the links that a program does not need, and measure what it costs."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from analysis.calibration import load_calibration
from analysis.predict.regulated_watts import NetworkWatts
from controller.applying.observe import observe_lab
from controller.drivers.table import capabilities_of
from controller.experiments.experiment import LOOP_SAMPLES, RegulationLevel
from controller.experiments.experiment_file import experiment_of
from controller.experiments.launchers.table import LAUNCHERS
from controller.experiments.level_plans import level_of
from controller.experiments.session import RunOptions, RunResult, run_new
from controller.live.export.attach import ViewOptions
from controller.planning.limits import abilities_of
from controller.planning.regulate import require_hold
from controller.regulating.in_trial import LoopsInTrials
from eeectl.exit_status import DONE
from eeectl.lab_name import lab_in_reach
from eeectl.program_options import ProgramOptions
from eeectl.regulation.auto import AutoOptions, regulate_auto
from eeectl.regulation.choosing import Method, Options, Peak, Traffic, choose, peak_named, swept
from eeectl.regulation.comparison import FACT, Comparison
from eeectl.regulation.measured import end, resume_regulation, show_table
from eeectl.regulation.outcome import FACTOR, LOOPED
from eeectl.regulation.pre_run import Source, ended_early, traffic_in
from eeectl.run_output import agreement
from eeectl.set_options import pairs, value
from lab.errors import LabError
from lab.yaml_source import YamlSource
from regulation.levels import Knob, assumed_watts
from twin.lab.lateness import Lateness

_Flag = Annotated[bool, Parameter(negative="")]
_Words = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)]
_COUNTED: dict[str, Any] = dict.fromkeys(("twin_late_share", "processor_wait_share", "steal_share", "slow_share"), 1)
"""Of a pre-run: a program sends the same however slowly it goes. Its time, of which a peak in percent is a share,
may then be too long: a peak in bytes does without it."""
regulate_app = App(name="regulate")


@regulate_app.default
def regulate(
    program: str = "",
    /,
    *,
    auto: _Flag = False,
    compare: _Flag = False,
    peak: _Words = (),
    sweep: int = 0,
    knob: Knob = "off",
    hold_us: int | None = None,
    method: Method = "both",
    traffic: Source = "messages",
    pre_run: Path | None = None,
    values: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    pre_values: Annotated[tuple[str, ...], Parameter(name="--pre-set", negative="")] = (),
    calibration: Path | None = None,
    figure: str = "",
    blocks: int = 6,
    seed: int = 1,
    time_limit_s: float = 10.0,
    plan: _Flag = False,
    resume: Path | None = None,
    yes: _Flag = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    loop: Annotated[AutoOptions, Parameter(name="*")] = AutoOptions(),  # noqa: B008 - frozen
    options: Annotated[ProgramOptions, Parameter(name="*")] = ProgramOptions(),  # noqa: B008 - frozen
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
) -> int:
    """Find the links that a program needs, measure it with the others off, then restore the lab.

    A pre-run counts who sends how much to whom. Links go off while every channel carries less than a peak: by
    Koibuchi's selection (`peak` in the table), and with trees chosen for the least power (`least`). Every choice is
    proved before anything is sent. The lab has to have multi-tree routing: see `eeectl apply`.

    With --auto there is no pre-run: a closed loop reads the switches' counters epoch after epoch, switches links off
    and on by itself, and restores the lab at its end or after Ctrl-C. A program, if one is named, runs meanwhile again
    and again. With --compare the loop is one more choice beside those of the pre-run.

    Parameters
    ----------
    program
        Its name in the table of programs; `eeectl bench --list` shows them. With --auto it may be left out.
    auto
        Regulate by a closed loop.
    compare
        Measure the closed loop too, in blocks with the choices under each peak and the baseline, and print one table.
    peak
        What a channel may carry in the pre-run, such as 12MB, or 40% of what a cable can carry in its time. Several may
        be given.
    sweep
        Try this many peaks instead of --peak, from the busiest channel's load upwards.
    knob
        What is done with links that are not needed: `off`; `speed`, lower; `eee`, low-power idle; `hold`, the
        same with the hold time of --hold-us, on links with an end whose family can set it.
    hold_us
        With --knob hold: how long a transmitter waits after its last frame before it sleeps, microseconds.
    method
        `koibuchi`, `least` or both.
    traffic
        Count `messages` between ranks, which needs --launcher openmpi, or bytes by the `counters` of switches' ports.
    pre_run
        A run of the program with --traffic, instead of a pre-run.
    values
        NAME=VALUE: a parameter of the program. Give the option once for each parameter.
    pre_values
        NAME=VALUE: the same for the pre-run alone, such as a smaller problem.
    calibration
        Fitted power of switches and ports: a file of `eeectl fit`. Without it ports are assumed to draw alike.
    figure
        The program's figure that is compared. Default: its run time, or the throughput of one that has none.
    blocks
        Number of blocks; each has the baseline and every choice, in random order.
    seed
        Seed of the random order, and of the heuristic.
    time_limit_s
        Time limit of the search for the least power, for each peak.
    plan
        Only choose and prove; nothing is changed.
    resume
        A stopped run of this command: run the remaining trials with the original choices, and print the table.
        Of a run that has ended the table is printed again. --figure and --calibration may be others.
    yes
        With --resume: do not ask about settings that somebody changed since the run stopped.
    as_json
        Print JSON.
    loop
        How the closed loop regulates.
    options
        Where the program runs, and what is recorded of it.
    views
        Where live data of the run are exported.

    """
    choosing = bool(peak or sweep or plan or pre_run is not None or knob != "off")
    if resume is not None:
        if program or auto or compare or choosing or values or pre_values:
            raise LabError(
                f"{resume} has its program and its choices already: give --resume without them, or start a new run."
            )
        return resume_regulation(
            resume, agreement(yes=yes), views, figure=figure, calibration=calibration, as_json=as_json
        )
    if (knob == "hold") != (hold_us is not None):
        raise LabError("--knob hold and --hold-us go together: give both, such as --knob hold --hold-us 500.")
    require_hold(hold_us)
    _require_sense(program, auto=auto, choosing=choosing, bounds=bool(peak) + bool(sweep))
    level = _loop_level(loop, alone=not (auto or plan or knob != "off" or method != "both")) if compare else None
    parameters = {name: value(text) for name, text in pairs(values, "--set count=100")}
    _require_counting(options, traffic, counts=not auto and pre_run is None)
    if auto:
        return regulate_auto(program, parameters, loop, options, views, as_json=as_json)
    lab = lab_in_reach(options.lab)
    watts = assumed_watts if calibration is None else NetworkWatts(lab, load_calibration(calibration)).of_trunk
    if pre_run is None:
        smaller = {name: value(text) for name, text in pairs(pre_values, "--pre-set count=10")}
        done = _pre_run(program, {**parameters, **smaller}, traffic, options, quiet=as_json)
        ended, pre_run = ended_early(done, as_json=as_json), done.folder
        if ended is not None:
            return ended
    state = observe_lab(lab)
    counted = traffic_in(pre_run, lab, state, traffic)
    sent = Traffic.of(lab, state, counted.byte_by_pair)
    peaks: tuple[Peak, ...] = (
        swept(sent, sweep) if sweep else tuple(peak_named(text, sent.network, counted.time_s) for text in peak)
    )
    abilities = abilities_of(lab, capabilities_of)
    chosen = choose(sent, peaks, knob, method, watts, abilities, time_limit_s=time_limit_s, seed=seed, hold_us=hold_us)
    compared = Comparison.of(counted, sent, chosen, looped=compare, figure=figure, calibration=calibration)
    if plan:
        show_table(None, lab, compared, as_json=as_json)
        return DONE
    if len(chosen.regulations) == 1 and level is None:
        raise LabError("no link can go under these peaks, so there is nothing to measure: give a larger --peak.")
    content = options.content(program, parameters, f"regulate-{program}") | _factor(chosen, level)
    source = YamlSource("the command line", content | {"blocks": blocks, "seed": seed})
    facts = {FACT: compared.plain()}
    run_options = RunOptions(options.runs, quiet=as_json, views=views, loops=LoopsInTrials, facts=facts)
    return end(run_new(experiment_of(source), source, run_options, Lateness.of), lab, compared, as_json=as_json)


def _require_sense(program: str, *, auto: bool, choosing: bool, bounds: int) -> None:
    """LabError for options that do not go together. `bounds`: how many of --peak and --sweep are given."""
    if auto and choosing:
        raise LabError("--auto decides by itself: leave out --peak, --sweep, --plan, --pre-run and --knob.")
    if not auto and not program:
        raise LabError("which program? Name one, such as alltoall, or give --auto.")
    if not auto and bounds != 1:
        raise LabError("how much may a channel carry? Give --peak once or more, such as --peak 40%, or --sweep 4.")


def _require_counting(options: ProgramOptions, traffic: Source, *, counts: bool) -> None:
    """LabError if a pre-run is to count messages with a launcher that cannot."""
    launcher = LAUNCHERS.get(options.launcher)
    if counts and traffic == "messages" and launcher is not None and not launcher.counts_messages:
        raise LabError(
            f"launcher {options.launcher} cannot count messages between ranks, which the pre-run needs: give --traffic "
            "counters."
        )


def _loop_level(loop: AutoOptions, *, alone: bool) -> RegulationLevel:
    """The closed loop as a choice; LabError if it is not `alone`: options say otherwise what is to be compared."""
    if not alone:
        raise LabError(
            "--compare measures both methods and the loop, which all switch links off: leave out --auto, --plan, "
            "--knob and --method."
        )
    return RegulationLevel(loop=loop.level())


def _factor(chosen: Options, level: RegulationLevel | None) -> dict[str, Any]:
    """The choices as a factor of an experiment; with a closed loop, counters are sampled often enough for it."""
    levels = {name: level_of(one) for name, one in chosen.regulations.items()}
    content: dict[str, Any] = {}
    if level is not None and level.loop is not None:
        levels[LOOPED] = level
        content["sampling"] = {"period_s": min(1.0, level.loop.epoch_s / LOOP_SAMPLES)}
    choices = {name: one.model_dump(mode="json") for name, one in levels.items()}
    return content | {"factors": {FACTOR: {"kind": "regulation", "levels": list(choices), "choices": choices}}}


def _pre_run(
    program: str, parameters: dict[str, Any], traffic: Source, options: ProgramOptions, *, quiet: bool
) -> RunResult:
    content = options.content(program, parameters, f"regulate-{program}")
    content["name"] = f"{content['name'][:50]}-pre-run"
    content |= {"blocks": 1, "repetitions": 1, "guards": _COUNTED}
    content["recordings"] = content["recordings"] | {"traffic": traffic == "messages"}
    source = YamlSource("the command line", content)
    return run_new(experiment_of(source), source, RunOptions(options.runs, quiet=quiet), Lateness.of)
