"""`eeectl study`: routing, blocks of experiments until what is wanted is known, and the report of a lab."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter
from rich.console import Console

from eee_testbed.eeectl.after_dashes import AfterDashes
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, PENDING
from eee_testbed.eeectl.lab_name import LabName, lab_in_reach, lab_operand
from eee_testbed.eeectl.notice import NoticeOptions
from eee_testbed.eeectl.pace import Pace
from eee_testbed.eeectl.set_options import names_in, pairs, share_of, value
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.lab.yaml_source import CommandLine
from eee_testbed.measuring.experiments.experiment_file import experiment_of
from eee_testbed.measuring.experiments.launchers.table import DEFAULT, launcher_content
from eee_testbed.measuring.experiments.validation import validate_experiment
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.measuring.study.commands import never, run_eeectl
from eee_testbed.measuring.study.standing import KNOWN, read_standing

if TYPE_CHECKING:
    from eee_testbed.measuring.study.design import Design, StudiedProgram
    from eee_testbed.measuring.study.folder import StudyFolder
    from eee_testbed.measuring.study.measuring import Measuring

study_app = App(name="study")

_Flag = Annotated[bool, Parameter(negative="")]
_PRECISION: Final = "2%"
_BUDGET: Final = "40m"
_QUICK_BUDGET: Final = "5m"
_UNITS_S: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0}


@study_app.default
def study(
    lab: LabName = "",
    *,
    command: AfterDashes = (),
    precision: str = "",
    budget: str = "",
    quick: _Flag = False,
    hosts: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = (),
    program: str = "",
    programs: Path | None = None,
    values: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    factor: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    figure: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    ranks_per_host: int = 1,
    launcher: str = DEFAULT,
    launcher_words: Annotated[str, Parameter(allow_leading_hyphen=True)] = "",
    timeout_s: float = 600.0,
    agent_user: str = "",
    root: Path = Path("studies"),
    resume: Path | None = None,
    only_design: Annotated[bool, Parameter(name="--design", negative="")] = False,
    yes: Annotated[bool, Parameter(name=("--yes", "-y"), negative="")] = False,
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
    telling: NoticeOptions = NoticeOptions(),  # noqa: B008 - frozen
) -> int:
    r"""Measure a lab until its parameters are known: EEE policy of links, what EEE and links off cost, watts of ports.

    The cost is measured with Alltoall and pauses; with --program, or with a command after --, with that program:
    eeectl study LAB --figure 'time=Time = ([\d.]+) s' -- /shared/halo 1000

    First multi-tree routing is applied to the lab; it stays after the study. Then comes the pilot: the first blocks of
    each experiment. After that the study repeats the block that narrows the intervals most per unit of time. A table
    shows each parameter, what is measured next and why. The study ends when every parameter is known to the precision
    or cannot be determined here, or when the budget is spent. Then it writes the report. Each measurement is an eeectl
    command, which is printed, and restores the lab. Exit status 3 means that trials are missing, because some failed or
    the budget was spent.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    command
        After --: a command that is on the hosts, whose cost is studied. It is not run by a shell.
    precision
        Target half-width of every 95 % interval, relative to its value. Default: 2%.
    budget
        Time that the study may take, such as 90s, 40m or 2h, in real time; with --resume, from now on. A running
        measurement may exceed it by a quarter; the pilot may always take 15 minutes. Default: 40m.
    quick
        The same as --budget 5m.
    hosts
        Hosts that take part, the first two at one switch; all of them run the program. Default: up to four, chosen
        from the cables, of which two run the program.
    program
        The program whose cost is studied; `eeectl bench --list` shows those that eeectl knows. Default: alltoall.
    programs
        YAML file with several programs whose cost is studied, each with its parameters, figures and ranks. Its keys are
        in the guide "Your own MPI program".
    values
        NAME=VALUE: a parameter of the program. Give the option once for each parameter.
    factor
        NAME=LEVEL,LEVEL,...: a parameter of the program that is varied; models of run time need several levels.
    figure
        A figure to read in the program's output, as in `eeectl bench`. Give the option once for each.
    ranks_per_host
        Ranks of the program on each host.
    launcher
        What starts the program's ranks: openmpi, mpich, slurm or command, as in `eeectl bench`.
    launcher_words
        Words for the launcher, as in `eeectl bench`.
    timeout_s
        Time limit of one trial of the program, seconds.
    agent_user
        User that runs agents on nodes, if not the inventory's; recording idle gaps needs CAP_NET_RAW.
    root
        Folder in which the study's folder is made.
    resume
        Folder of a study that was stopped or has ended: continue it, with its precision and what is left of its budget
        unless you give others.
    only_design
        Only write the experiments' files, for you to read and edit; --resume runs them.
    yes
        Change the routing without confirmation.
    views
        Where live data of each run are exported.
    telling
        Whom it tells at its end.

    """
    from eee_testbed.measuring.study.design import PILOT, design
    from eee_testbed.measuring.study.folder import Aim, StudyFolder
    from eee_testbed.measuring.study.programs import programs_in

    with telling.notice("study", measures=not only_design) as notice:
        hosts = names_in(hosts)
        budget = budget or (_QUICK_BUDGET if quick else "")
        launched = launcher_content(launcher, launcher_words)
        studied = _studied(program, command, values, factor, figure, ranks_per_host, timeout_s, launched)
        if programs is not None:
            if studied:
                raise LabError(
                    "--programs takes all settings of programs from its file: leave other programs and their options "
                    "out."
                )
            studied = programs_in(programs)
        if resume is not None:
            if studied:
                raise LabError("a resumed study keeps its program: leave the program and its options out.")
            folder = _resumed(StudyFolder.open(resume), precision, budget)
            known = load_lab(find_lab(folder.lab))
        else:
            aim = Aim(share_of(precision or _PRECISION, "precision"), seconds_of(budget or _BUDGET))
            named = lab_operand(lab)
            known = load_lab(find_lab(named))
            made = design(known, PILOT, agent_user, hosts, studied)
            _require_valid(made, known)
            folder = StudyFolder.create(root, named, known.name, made, aim)
        console = Console(stderr=True, highlight=False)
        for sentence in folder.left_out:
            console.print(f"skipped: {sentence}", style="yellow", markup=False)
        if only_design:
            print(folder.path)
            return DONE
        lab_in_reach(folder.lab)
        notice.run = folder.path
        status = _measure(folder, known, console, views, yes=yes)
        return notice.ended(status, _summary(folder))


def _measure(folder: "StudyFolder", known: Lab, console: Console, views: ViewOptions, *, yes: bool) -> int:
    """Measure in real time; returns the exit status."""
    from eee_testbed.measuring.study.measuring import Measuring
    from eee_testbed.measuring.study.progress import far_words

    pace = Pace(known.name)

    def commands(*words: str, over: Callable[[], bool] = never) -> int:
        """What is stopped restores the lab in haste; whatever comes next does not hurry."""
        try:
            return run_eeectl(*words, over=over, on_interrupt=pace.hurry)
        finally:
            pace.restore()

    measuring = Measuring(known, folder, commands, pace.wall_s, console, views=views.words)
    pace.work()
    try:
        status = _execute(folder, console, measuring, yes=yes)
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:
        console.print(
            f"stopped: {far_words(folder)}. `eeectl study --resume {folder.path}` resumes it.",
            markup=False,
            soft_wrap=not console.is_terminal,
        )
    return status


def _summary(folder: "StudyFolder") -> str:
    """What is known by now, in one line."""
    standing = read_standing(folder.path)
    rows = () if standing is None else standing.parameters
    return f"{sum(one.verdict == KNOWN for one in rows)} of {len(rows)} parameters are known: {folder.path}"


def _studied(
    program: str,
    command: Sequence[str],
    values: Sequence[str],
    factor: Sequence[str],
    figure: Sequence[str],
    ranks_per_host: int,
    timeout_s: float,
    launched: Mapping[str, str],
) -> "tuple[StudiedProgram, ...]":
    """The program that is named; none if none is. LabError if two are, or if options of one are without it."""
    from eee_testbed.measuring.study.design import StudiedProgram

    if program and command:
        raise LabError(f"both program {program} and the command {command[0]} are named: name one.")
    if not program and not command:
        if values or factor or figure or launched or ranks_per_host != 1:
            raise LabError(
                "--set, --factor, --figure, --ranks-per-host and --launcher need a program: add --program NAME, or "
                "-- COMMAND."
            )
        return ()
    parameters: dict[str, Any] = {name: value(text) for name, text in pairs(values, "--set array_byte=4096")}
    parameters |= {"words": list(command)} if command else {}
    levels = {
        name: [value(one) for one in text.split(",")] for name, text in pairs(factor, "--factor array_byte=1024,4096")
    }
    return (
        StudiedProgram(program or "command", parameters, ranks_per_host, tuple(figure), timeout_s, levels, launched),
    )


def _require_valid(made: "Design", known: Lab) -> None:
    """Refuse at once what no trial could run: ExperimentError names an unknown program, parameter, host or figure."""
    for content in made.experiments:
        source = CommandLine(dict(content))
        validate_experiment(experiment_of(source), known, source)


def _resumed(folder: "StudyFolder", precision: str, budget: str) -> "StudyFolder":
    """A study with what is wanted of it from now on."""
    from eee_testbed.measuring.study.folder import Aim

    share = share_of(precision, "precision") if precision else folder.aim.precision
    spent_s = sum(block.time_s for block in folder.blocks)
    return replace(folder, aim=Aim(share, spent_s + seconds_of(budget) if budget else folder.aim.budget_s))


def _execute(folder: "StudyFolder", console: Console, measuring: "Measuring", *, yes: bool) -> int:
    """Routing, measurements, report; returns the exit status."""
    if any(True for _ in measuring.lab.trunks()):
        words = ["apply", folder.lab, *(["--yes"] if yes else [])]
        console.rule(f"eeectl {shlex.join(words)}", align="left")
        if status := measuring.run_eeectl(*words):
            return status
    if status := measuring.execute():
        return status
    words = ["report", *(str(run) for run in folder.all_runs()), "--output", str(folder.report)]
    if folder.calibration.exists():
        words += ["--calibration", str(folder.calibration)]
    console.rule(f"eeectl report {shlex.quote(str(folder.runs))}/*", align="left")
    status = run_eeectl(*words)
    return status or (PENDING if measuring.missing else DONE)


def seconds_of(text: str) -> float:
    """A budget: "90s", "40m", "2h"; LabError for anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", text.strip())
    if not found or not float(found[1]):
        raise LabError(f"invalid budget '{text}': write it as 90s, 40m or 2h.")
    return float(found[1]) * _UNITS_S[found[2]]
