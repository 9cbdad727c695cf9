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
