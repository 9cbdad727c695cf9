"""`eeectl report RUN...`: one page that opens offline, and the figures as SVG and PDF."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from analysis.calibration import load_calibration
from analysis.run_lab import run_folder
from lab.errors import LabError

report_app = App(name="report")


@report_app.default
def report(
    *runs: str,
    calibration: Path | None = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
) -> int:
    """Make a report of runs: an HTML file that opens offline, and figures as SVG and PDF in the first run's folder.

    Parameters
    ----------
    runs
        Folders of runs, or their names below runs/. What each has is shown; what none has is said, with the command
        that would measure it.
    calibration
        What was fitted: a file of `eeectl fit`. With it curves, estimates and predictions are drawn.
    output
        The page; left out: report.html in the first run's folder.

    """
    from analysis.report.page import page, parts_of, save_figures  # noqa: PLC0415
    from analysis.report.report_data import read_material  # noqa: PLC0415 - drawing takes a second to load

    if not runs:
        raise LabError("name at least one run: eeectl report runs/NAME.")
    folders = [run_folder(name) for name in dict.fromkeys(runs)]
    known = load_calibration(calibration) if calibration is not None else None
    where = output if output is not None else folders[0] / "report.html"
    if where.is_dir():
        raise LabError(f"{where} is a folder: name a file for the page, such as {where / 'report.html'}.")
    data = read_material(folders, known, calibration.name if calibration is not None else "")
    sections, missing = parts_of(data)
    text = page(data, sections, missing)
    drawn = save_figures(sections, folders[0] / "figures")
    fresh = where.with_name(f"{where.name}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(where)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise LabError(f"{where} cannot be written ({error.strerror}): choose another place with -o.") from error
    print(where)
    words = f"{len(sections)} sections, {len(drawn)} figures in {folders[0] / 'figures'}"
    print(
        f"{words}; {len(missing)} are missing, the page says how to measure them" if missing else words, file=sys.stderr
    )
    return 0
