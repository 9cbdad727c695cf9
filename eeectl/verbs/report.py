"""`eeectl report RUN...`: one page that opens offline, and its figures as SVG and PDF."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from analysis.calibration import load_calibration
from analysis.run_lab import run_folder
from lab import durable
from lab.errors import LabError

report_app = App(name="report")


@report_app.default
def report(
    *runs: str,
    calibration: Path | None = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
) -> int:
    """Make a report of runs: an HTML file that opens offline; figures as SVG and PDF, and their data as CSV.

    The page leads with findings. Figures and data go into `figures` beside the page.

    Parameters
    ----------
    runs
        Folders of runs, or their names below runs/. The page lists sections without data, with the commands that
        measure them.
    calibration
        Fitted parameters: a file of `eeectl fit`. It adds curves, estimates and predictions.
    output
        File of the page. Default: report.html in the first run's folder.

    """
    from analysis.report.page import page, report_of, save_figures  # noqa: PLC0415
    from analysis.report.report_data import read_report_data  # noqa: PLC0415 - drawing takes a second to load

    if not runs:
        raise LabError("name at least one run: eeectl report runs/NAME.")
    folders = [run_folder(name) for name in dict.fromkeys(runs)]
    known = load_calibration(calibration) if calibration is not None else None
    where = output if output is not None else folders[0] / "report.html"
    if where.is_dir():
        raise LabError(f"{where} is a folder: name a file for the page, such as {where / 'report.html'}.")
    data = read_report_data(folders, known, calibration.name if calibration is not None else "")
    found = report_of(data)
    text = page(data, found)
    try:
        durable.replace(where, text)
    except OSError as error:
        raise LabError(f"{where} cannot be written ({error.strerror}): choose another place with -o.") from error
    figures = where.parent / "figures"
    drawn = save_figures(found, figures)
    print(where)
    for finding in found.findings:
        if not finding.command:
            print(f"{finding.topic}: {finding.sentence}", file=sys.stderr)
    summary = f"{len(found.sections)} sections, {len(drawn)} figures in {figures}"
    missing = len(found.missing)
    words = f"; {missing} {'section is' if missing == 1 else 'sections are'} missing, and the page says how to measure"
    print(f"{summary}{f'{words} them' if missing else ''}", file=sys.stderr)
    return 0
