"""`eeectl report RUN...`: one page that opens offline, and its figures as SVG and PDF."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from eee_testbed.analysis.report.styles import STYLES, StyleName
from eee_testbed.eeectl.output_file import require_place
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.folder import is_simulation

if TYPE_CHECKING:
    from eee_testbed.eeectl.report_files import ReportFiles

report_app = App(name="report")


@report_app.default
def report(
    *runs: str,
    calibration: Path | None = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    trials: Literal["csv"] | None = None,
    style: StyleName = "page",
    latex: Path | None = None,
) -> int:
    """Make a report of runs, or of simulations: an HTML file that opens offline, and figures beside it.

    The page leads with findings. Figures (SVG and PDF), their data (CSV) and the papers that it rests on (BibTeX) go
    into `figures` beside the page.

    Parameters
    ----------
    runs
        Folders of runs, or their names below runs/; or folders of simulations, or their names below simulations/, which
        the page compares. A study's folder stands for all its runs. Two folders are compared in what both ran: before
        and after a firmware, one switch and another. The page lists sections without data, with the commands that
        measure them.
    calibration
        Fitted parameters: a file of `eeectl fit`. It adds curves, estimates and predictions. Simulations
        have their own.
    output
        File of the page. Default: report.html in the first folder.
    trials
        No page but one line for each trial, as CSV with units in its head: to standard output, or to --output.
    style
        Fonts and widths of the figures' files: page, ieee (columns of 3.5 in) or acm (3.33 in).
    latex
        Folder for every table as LaTeX (booktabs).

    """
    from eee_testbed.analysis.calibration import load_calibration
    from eee_testbed.analysis.report.report_data import in_sides, read_report_data
    from eee_testbed.eeectl.report_files import ReportFiles, page_file
    from eee_testbed.eeectl.runs_of import runs_of

    if not runs:
        raise LabError("name at least one run or simulation: eeectl report runs/NAME, or simulations/NAME.")
    names = list(dict.fromkeys(runs))
    files = ReportFiles(STYLES[style], latex)
    if latex is not None and latex.is_file():
        raise LabError(f"{latex} is a file: name a folder for the tables with --latex.")
    simulations = [simulation_folder(name) for name in names]
    if all(simulations):
        if calibration is not None or trials is not None:
            option = "--trials" if trials is not None else "--calibration"
            raise LabError(f"a simulation has neither trials nor a calibration beside its file: leave {option} out.")
        print(report_simulations([one for one in simulations if one is not None], output, files))
        return 0
    if any(simulations):
        raise LabError("a report is either of runs or of simulations: name only one kind.")

    operands = [runs_of(name) for name in names]
    folders = list(dict.fromkeys(folder for operand in operands for folder in operand))
    if trials is not None:
        return _write_trials(folders, output)

    from eee_testbed.analysis.report.page import page, report_of  # drawing takes a second to load
    from eee_testbed.controller.applying.progress import Bars

    known = load_calibration(calibration) if calibration is not None else None
    where = page_file(output, folders[0])
    data = in_sides(read_report_data(folders, known, calibration.name if calibration is not None else ""), operands)
    with Bars() as bars:
        found = report_of(data, bars)
        files.write(where, page(data, found), found, bars)
    print(where)
    return 0


def _write_trials(folders: Sequence[Path], output: Path | None) -> int:
    """One line a trial."""
    from eee_testbed.analysis.report.report_data import read_report_data
    from eee_testbed.analysis.report.trial_table import trial_table
    from eee_testbed.eeectl.report_files import replace_file

    if output is not None:
        require_place(output, "the trials", "trials.csv")
    table = trial_table(read_report_data(folders, None, ""))
    if not table.rows:
        raise LabError(f"{', '.join(map(str, folders))} has no trial: measure one first.")
    text = table.csv
    if output is None:
        sys.stdout.write(text.replace("\r\n", "\n"))
        return 0
    replace_file(output, text)
    print(output)
    return 0


def simulation_folder(name: str) -> Path | None:
    """The folder of a simulation: the path as it stands, else a name below simulations/; None if it is neither."""
    places = (Path(name), Path("simulations") / name)
    return next((one for one in places if is_simulation(one)), None)


def report_simulations(folders: Sequence[Path], output: Path | None, files: "ReportFiles | None" = None) -> Path:
    """Make the page of simulations; where it is."""
    from eee_testbed.eeectl.report_files import ReportFiles, page_file
    from eee_testbed.simulation.replay.results import are_replays  # descriptions take half a second to load
    from eee_testbed.simulation.report.data import read_simulation
    from eee_testbed.simulation.report.page import page, report_of  # drawing takes a second to load

    where = page_file(output, folders[0])
    files = ReportFiles() if files is None else files
    replayed = [are_replays(folder) for folder in folders]
    if all(replayed):
        return _report_replays(folders, where, files)
    if any(replayed):
        raise LabError("a report is either of simulated programs or of simulated traffic: name only one kind.")
    every = [read_simulation(folder) for folder in folders]
    found = report_of(every)
    files.write(where, page(every, found), found)
    return where


def _report_replays(folders: Sequence[Path], where: Path, files: "ReportFiles") -> Path:
    from eee_testbed.simulation.report.replays import page, read_data, report_of  # drawing takes a second to load

    every = [read_data(folder) for folder in folders]
    found = report_of(every)
    files.write(where, page(every, found), found)
    return where
