"""`eeectl study`: routing, experiments, fits and the report of a lab, as the commands that anyone could type."""

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
    """Measure a lab from its links' EEE policy to its watts, fit the models, and write a report of it.

    The lab is brought to multi-tree routing first, and stays so. Then come experiments, each of which puts the lab
    back, then `fit` and `report`. All of it are commands of eeectl, which are shown. Exit status 3 means that trials
    are missing.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    quick
        A few minutes instead of a night: everything once, with wide intervals.
    hosts
        Hosts that take part, the first two at one switch; left out: up to four, chosen from the cables.
    agent_user
        Who runs agents on nodes, if not the inventory's user: idle gaps need CAP_NET_RAW there.
    root
        Folder in which the study gets its own.
    resume
        Folder of a study that was stopped: go on with it.
    only_design
        Only write the experiments' files, to look at and to change; --resume runs them.
    yes
        Do not ask before the routing is changed.

    """
    if resume is not None:
        folder = StudyFolder.open(resume)
        known = load_lab(find_lab(folder.lab))
    else:
        known = load_lab(find_lab(lab))
        wanted = design(known, QUICK if quick else FULL, agent_user, hosts)
        folder = StudyFolder.create(root, lab, known.name, wanted)
    console = Console(stderr=True, highlight=False)
    for sentence in folder.left_out:
        console.print(f"left out: {sentence}", style="yellow", markup=False)
    if only_design:
        print(folder.path)
        return DONE
    study_it = _Study(folder, console)
    status = study_it.go(routing=any(True for _ in known.trunks()), yes=yes)
    if status == INTERRUPTED:
        console.print(f"stopped; `eeectl study --resume {folder.path}` goes on.", markup=False)
    return status


class _Study:
    """The commands of one study, one after the other."""

    def __init__(self, folder: StudyFolder, console: Console) -> None:
        self._folder = folder
        self._console = console

    def go(self, *, routing: bool, yes: bool) -> int:
        """All of them; the exit status."""
        folder, missing = self._folder, False
        if routing and (status := self._run("apply", folder.lab, *(["--yes"] if yes else []))):
            return status
        for name in folder.names:
            state = folder.state_of(name)
            if state == "ended":
                continue
            words = [str(folder.run_of(name)), "--resume"] if state == "begun" else [str(folder.experiment(name))]
            status = self._run("run", *words, "--runs", str(folder.runs))
            if status not in (DONE, PENDING):
                return status
            missing = missing or status == PENDING
        runs = [str(run) for run in folder.finished_runs()]
        if status := self._run("fit", *runs, "--output", str(folder.calibration)):
            return status
        words = ["--calibration", str(folder.calibration), "--output", str(folder.report)]
        status = self._run("report", *runs, *words)
        return status or (PENDING if missing else DONE)

    def _run(self, *words: str) -> int:
        """One command, with this terminal; a Ctrl-C there is that command's."""
        self._console.rule(f"eeectl {shlex.join(words)}", align="left")
        return run_eeectl(*words)
