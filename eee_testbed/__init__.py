"""Runs, samples, calibrations, data sets and the report's figures as Polars frames whose columns name their units.

    >>> from eee_testbed import open_calibration, open_run, units
    >>> run = open_run("runs/study")
    >>> run.trials().filter(program="alltoall", state="valid").height
    96
    >>> run.samples("watts").select("time", "feeds", "power_watt").columns
    ['time', 'feeds', 'power_watt']
    >>> units(run.samples("watts"))["power_watt"]
    'W'
    >>> open_calibration("calibration.yaml").links().filter(parameter="hold_us").select("value", "low", "high").row(0)
    (1000.0, 995.0, 1005.0)

Everything is read from files; no device is asked and nothing is written. `eee_testbed.figures` has the figures of
`eeectl report`, each section of it a function.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from eee_testbed.calibrations import CalibrationFrames, open_calibration
    from eee_testbed.data_sets import DataSetFrames, open_data_set
    from eee_testbed.frames import units
    from eee_testbed.lab.errors import LabError
    from eee_testbed.runs import RunFrames, open_run

__all__ = [
    "CalibrationFrames",
    "DataSetFrames",
    "LabError",
    "RunFrames",
    "open_calibration",
    "open_data_set",
    "open_run",
    "units",
]

_HOMES: Final = {
    "CalibrationFrames": "eee_testbed.calibrations",
    "DataSetFrames": "eee_testbed.data_sets",
    "LabError": "eee_testbed.lab.errors",
    "RunFrames": "eee_testbed.runs",
    "open_calibration": "eee_testbed.calibrations",
    "open_data_set": "eee_testbed.data_sets",
    "open_run": "eee_testbed.runs",
    "units": "eee_testbed.frames",
}
"""Where each name is made. It is imported when it is first used: the command line is below this package, too."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The object that a name stands for."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__() -> list[str]:
        """What a notebook completes."""
        return sorted(__all__)
