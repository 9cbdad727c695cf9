"""`eeectl study`: routing, experiments, fits and the report of a lab, run as ordinary `eeectl` commands."""

import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console

from eeectl.exit_status import DONE, INTERRUPTED, PENDING
from eeectl.study.commands import run_eeectl
from eeectl.study.design import FULL, QUICK, design
from eeectl.study.folder import ROOT, StudyFolder
from lab.folder import find_lab, load_lab

study_app = App(name="study")

_Flag = Annotated[bool, Parameter(negative="")]


@study_app.default
def study(
    lab: str = "virtual",
    /,
    *,
    quick: _Flag = False,
    hosts: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = (),
    agent_user: str = "",
    root: Path = ROOT,
    resume: Path | None = None,
    only_design: Annotated[bool, Parameter(name="--design", negative="")] = False,
    yes: Annotated[bool, Parameter(name=("--yes", "-y"), negative="")] = False,
) -> int:
    """Measure a lab, from its links' EEE policy to its power; fit the models, and write a report.

    First multi-tree routing is applied to the lab, and stays. Then come experiments, each of which restores the lab,
    then `fit` and `report`. Each step is an eeectl command, which is printed. Exit status 3 means that trials are
    missing.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    quick
        Take a few minutes instead of a night: each measurement once, with wide intervals.
    hosts
        Hosts that take part, the first two at one switch; default: up to four, chosen from the cables.
    agent_user
        User that runs agents on nodes, if not the inventory's; recording idle gaps needs CAP_NET_RAW.
    root
        Folder in which the study gets its own.
    resume
        Folder of a study that was stopped: resume it.
    only_design
        Only write the experiments' files, for you to read and edit; --resume runs them.
    yes
        Change the routing without confirmation.

    """
    if resume is not None:
        folder = StudyFolder.open(resume)
        known = load_lab(find_lab(folder.lab))
    else:
        known = load_lab(find_lab(lab))
        designed = design(known, QUICK if quick else FULL, agent_user, hosts)
        folder = StudyFolder.create(root, lab, known.name, designed)
    console = Console(stderr=True, highlight=False)
    for sentence in folder.left_out:
        console.print(f"skipped: {sentence}", style="yellow", markup=False)
    if only_design:
        print(folder.path)
        return DONE
    commands = _Study(folder, console)
    status = commands.execute(routing=any(True for _ in known.trunks()), yes=yes)
    if status == INTERRUPTED:
        console.print(f"stopped; `eeectl study --resume {folder.path}` resumes it.", markup=False)
    return status


class _Study:
    """Runs the commands of one study, one after the other."""

    def __init__(self, folder: StudyFolder, console: Console) -> None:
        self._folder = folder
        self._console = console

    def execute(self, *, routing: bool, yes: bool) -> int:
        """Run all commands; returns the exit status."""
        folder, missing = self._folder, False
        if routing and (status := self._run("apply", folder.lab, *(["--yes"] if yes else []))):
            return status
        for name in folder.names:
            state = folder.state_of(name)
            if state == "ended":
                continue
            arguments = [str(folder.run_of(name)), "--resume"] if state == "begun" else [str(folder.experiment(name))]
            status = self._run("run", *arguments, "--runs", str(folder.runs))
            if status not in (DONE, PENDING):
                return status
            missing = missing or status == PENDING
        runs = [str(run) for run in folder.finished_runs()]
        if status := self._run("fit", *runs, "--output", str(folder.calibration)):
            return status
        arguments = ["--calibration", str(folder.calibration), "--output", str(folder.report)]
        status = self._run("report", *runs, *arguments)
        return status or (PENDING if missing else DONE)

    def _run(self, *arguments: str) -> int:
        """Run one command at this terminal; the command handles Ctrl-C."""
        self._console.rule(f"eeectl {shlex.join(arguments)}", align="left")
        return run_eeectl(*arguments)
