"""The figures and tables of `eeectl report`, each section as a function of runs and a calibration.

    >>> from eee_testbed import figures
    >>> run = open_run("runs/study")
    >>> made = figures.delay(run)
    >>> made.title, list(made.figures)[:1]
    ('Response delay against send interval', ['delay-1'])

In a notebook a `ReportFigure` shows itself; `figure` is matplotlib's, to change it or to save it elsewhere.
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from eee_testbed.analysis.report import delay as _delay
from eee_testbed.analysis.report import estimates as _estimates
from eee_testbed.analysis.report import measured as _measured
from eee_testbed.analysis.report import methods as _methods
from eee_testbed.analysis.report import networks as _networks
from eee_testbed.analysis.report import overhead as _overhead
from eee_testbed.analysis.report import parameters as _parameters
from eee_testbed.analysis.report import power as _power
from eee_testbed.analysis.report import run_times as _run_times
from eee_testbed.analysis.report import trade as _trade
from eee_testbed.analysis.report.report_data import ReportData, read_report_data
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.calibrations import CalibrationFrames
from eee_testbed.lab.errors import LabError
from eee_testbed.runs import RunFrames


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """A figure of the report, one column of a paper wide."""

    title: str
    caption: str
    figure: Figure
    svg: str

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.svg


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of the report: its figures by name, its tables as frames by name, and the doubts about them."""

    title: str
    text: str
    figures: Mapping[str, ReportFigure]
    tables: Mapping[str, pl.DataFrame]
    doubts: tuple[str, ...]


_Make = Callable[[ReportData], Section | Missing]
SECTIONS: Final[Mapping[str, _Make]] = {
    "run_times": _run_times.run_times,
    "delay": _delay.delay,
    "overhead": _overhead.overhead,
    "estimates": _estimates.estimates,
    "saving": _trade.saving,
    "trade": _trade.trade,
    "power": _power.power,
    "networks": _networks.networks,
    "parameters": _parameters.parameters,
    "methods": _methods.methods,
    "measured": _measured.measured,
}
"""Every section of a report by its name."""


def section(name: str, *runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """A section by its name; LabError says which data are missing, and the command that measures them.

    Examples
    --------
    >>> section("networks", open_run("runs/study"))
    Traceback (most recent call last):
    ...
    eee_testbed.lab.errors.LabError: On other networks: no calibration was given: `eeectl fit ...`.

    """
    data = read_report_data([run.folder for run in runs], None if calibration is None else calibration.content, "")
    found = SECTIONS[name](data)
    if isinstance(found, Missing):
        raise LabError(f"{found.title}: {found.why.rstrip('.')}: `{found.command}`.")
    noted = found.with_note(data.watts_note)
    return ReportSection(
        noted.title,
        noted.text,
        {one.name: ReportFigure(one.title, one.caption, one.figure, one.svg) for one in noted.drawings},
        {one.name: pl.read_csv(io.StringIO(one.csv), infer_schema_length=None) for one in noted.tables},
        noted.warnings,
    )


def run_times(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """Run time of every program by configuration and state of the lab."""
    return section("run_times", *runs, calibration=calibration)


def delay(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """Round-trip time of echoes by the pause before them, and the fitted policy."""
    return section("delay", *runs, calibration=calibration)


def overhead(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """What EEE adds to a call, by idle time (Miwa's Fig. 5)."""
    return section("overhead", *runs, calibration=calibration)


def estimates(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """Estimated run times beside measured ones."""
    return section("estimates", *runs, calibration=calibration)


def saving(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """Energy with links off or EEE on, beside without."""
    return section("saving", *runs, calibration=calibration)


def trade(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """Energy saved against run time lost."""
    return section("trade", *runs, calibration=calibration)


def power(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """A switch's power by stages, and over time."""
    return section("power", *runs, calibration=calibration)


def networks(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """Predictions for other networks."""
    return section("networks", *runs, calibration=calibration)


def parameters(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """Every parameter of the calibration."""
    return section("parameters", *runs, calibration=calibration)


def methods(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """How it was measured, in sentences."""
    return section("methods", *runs, calibration=calibration)


def measured(*runs: RunFrames, calibration: CalibrationFrames | None = None) -> ReportSection:
    """What was measured, by which versions and with which clocks."""
    return section("measured", *runs, calibration=calibration)
