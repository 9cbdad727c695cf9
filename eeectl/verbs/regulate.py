"""`eeectl regulate`: switch off or slow down the links that a program does not need, and measure what it costs."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.program_options import LaunchOptions
from eee_testbed.eeectl.regulation.options import (
    ChoiceOptions,
    EndOptions,
    KnobOptions,
    RuleOptions,
    TrialOptions,
    parameters_in,
)
from eee_testbed.eeectl.run_output import agreement
from eee_testbed.measuring.live.export.view_options import ViewOptions

_Flag = Annotated[bool, Parameter(negative="")]
_Json = Annotated[bool, Parameter(name="--json", negative="")]

regulate_app = App(
    name="regulate", help="Find the links that a program needs, measure it with the others off, then restore the lab."
)


@regulate_app.command
def choose(
    program: str,
    /,
    *,
    choices: Annotated[ChoiceOptions, Parameter(name="*")] = ChoiceOptions(),  # noqa: B008 - frozen
    knob: Annotated[KnobOptions, Parameter(name="*")] = KnobOptions(),  # noqa: B008 - frozen
    launch: Annotated[LaunchOptions, Parameter(name="*")] = LaunchOptions(),  # noqa: B008 - frozen
    as_json: _Json = False,
) -> int:
    """Show which links a program does not need, after a pre-run; nothing is changed.

    A pre-run counts the bytes between hosts. Links are chosen to go off as long as every channel carries less than a
    peak: by Koibuchi's selection (`peak` in the table), and with trees chosen for the least power (`least`). Every
    choice is proved. The lab has to have multi-tree routing: see `eeectl apply`.

    Parameters
    ----------
    program
        Name of a program that eeectl knows; `eeectl bench --list` shows them.
    choices
        What is chosen, and from which traffic.
    knob
        What is done with links that are not needed.
    launch
        Where the program runs.
    as_json
        Print JSON.

    """
    from eee_testbed.eeectl.regulation.chosen import ProgramChoices, choose_links
    from eee_testbed.eeectl.regulation.measured import show_table

    chosen = choose_links(ProgramChoices(program, launch, choices, knob), as_json=as_json)
    if isinstance(chosen, int):
        return chosen
    show_table(None, chosen.lab, chosen.compared, as_json=as_json)
    return DONE


@regulate_app.command
def run(
    program: str,
    /,
    *,
    choices: Annotated[ChoiceOptions, Parameter(name="*")] = ChoiceOptions(),  # noqa: B008 - frozen
    knob: Annotated[KnobOptions, Parameter(name="*")] = KnobOptions(),  # noqa: B008 - frozen
    trials: Annotated[TrialOptions, Parameter(name="*")] = TrialOptions(),  # noqa: B008 - frozen
    launch: Annotated[LaunchOptions, Parameter(name="*")] = LaunchOptions(),  # noqa: B008 - frozen
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
    ending: Annotated[EndOptions, Parameter(name="*")] = EndOptions(),  # noqa: B008 - frozen
) -> int:
    """Choose as `choose` does, run the program with each choice beside the baseline, then restore the lab.

    Parameters
    ----------
    program
        Name of a program that eeectl knows; `eeectl bench --list` shows them.
    choices
        What is chosen, and from which traffic.
    knob
        What is done with links that are not needed.
    trials
        How often it is measured, and what is recorded.
    launch
        Where the program runs.
    views
        Where live data of the run are exported.
    ending
        What is printed at the end, and who is told.

    """
    from eee_testbed.eeectl.regulation.chosen import ProgramChoices, measure_choices

    with ending.telling.notice("regulate") as notice:
        request = ProgramChoices(program, launch, choices, knob)
        return measure_choices(request, trials, views, loop=None, notice=notice, as_json=ending.as_json)


@regulate_app.command
def auto(
    program: str = "",
    /,
    *,
    values: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    for_time: Annotated[str | None, Parameter(name="--for")] = None,
    rules: Annotated[RuleOptions, Parameter(name="*")] = RuleOptions(),  # noqa: B008 - frozen
    launch: Annotated[LaunchOptions, Parameter(name="*")] = LaunchOptions(),  # noqa: B008 - frozen
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
    ending: Annotated[EndOptions, Parameter(name="*")] = EndOptions(),  # noqa: B008 - frozen
) -> int:
    """Let a closed loop switch links off and on by the switches' counters, without a pre-run; then restore the lab.

    The loop decides once each epoch, and restores the lab at its end or after Ctrl-C. A program that is named runs
    again and again meanwhile.

    Parameters
    ----------
    program
        Name of a program that eeectl knows; `eeectl bench --list` shows them. Without one the loop regulates whatever
        runs on the lab.
    values
        NAME=VALUE: a parameter of the program. Give the option once for each parameter.
    for_time
        How long to regulate, such as 10m. Default: until Ctrl-C.
    rules
        How the closed loop regulates.
    launch
        Where the program runs.
    views
        Where live data of the run are exported.
    ending
        What is printed at the end, and who is told.

    """
    from eee_testbed.eeectl.regulation.auto import regulate_auto

    with ending.telling.notice("regulate") as notice:
        loop = rules.options(for_time)
        status = regulate_auto(program, parameters_in(values), loop, launch, views, as_json=ending.as_json)
        return notice.ended(status, "the closed loop has ended, and the lab is restored")


@regulate_app.command
def compare(
    program: str,
    /,
    *,
    choices: Annotated[ChoiceOptions, Parameter(name="*")] = ChoiceOptions(),  # noqa: B008 - frozen
    rules: Annotated[RuleOptions, Parameter(name="*")] = RuleOptions(),  # noqa: B008 - frozen
    settle_within: str = "15m",
    trials: Annotated[TrialOptions, Parameter(name="*")] = TrialOptions(),  # noqa: B008 - frozen
    launch: Annotated[LaunchOptions, Parameter(name="*")] = LaunchOptions(),  # noqa: B008 - frozen
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
    ending: Annotated[EndOptions, Parameter(name="*")] = EndOptions(),  # noqa: B008 - frozen
) -> int:
    """Measure the closed loop in blocks with both methods' choices and the baseline; then restore the lab.

    All of them switch links off that are not needed. One table shows them.

    Parameters
    ----------
    program
        Name of a program that eeectl knows; `eeectl bench --list` shows them.
    choices
        What is chosen, and from which traffic.
    rules
        How the closed loop regulates.
    settle_within
        A trial of the closed loop begins when nothing was changed for two deactivation epochs, or after this time.
    trials
        How often it is measured, and what is recorded.
    launch
        Where the program runs.
    views
        Where live data of the run are exported.
    ending
        What is printed at the end, and who is told.

    """
    from eee_testbed.eeectl.regulation.chosen import ProgramChoices, measure_choices

    with ending.telling.notice("regulate") as notice:
        loop = rules.level(settle_within)
        request = ProgramChoices(program, launch, choices, KnobOptions())
        return measure_choices(request, trials, views, loop=loop, notice=notice, as_json=ending.as_json)


@regulate_app.command
def resume(
    run: Path,
    /,
    *,
    figure: str = "",
    calibration: Path | None = None,
    yes: _Flag = False,
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
    ending: Annotated[EndOptions, Parameter(name="*")] = EndOptions(),  # noqa: B008 - frozen
) -> int:
    """Run the remaining trials of a stopped `run` or `compare` with its original choices, and print the table.

    For a run that has ended, the table is printed again.

    Parameters
    ----------
    run
        Folder of the run.
    figure
        Compare another figure of the program.
    calibration
        Use another file of `eeectl fit`.
    yes
        Do not ask about settings that somebody changed since the run stopped.
    views
        Where live data of the run are exported.
    ending
        What is printed at the end, and who is told.

    """
    from eee_testbed.eeectl.regulation.measured import resume_regulation
    from eee_testbed.record.store import RunFolder

    with ending.telling.notice("regulate") as notice:
        notice.run = run
        status = resume_regulation(
            RunFolder.read(run),
            agreement(yes=yes),
            views,
            figure=figure,
            calibration=calibration,
            as_json=ending.as_json,
        )
        return notice.ended(status, str(run))
