"""Power and run time of a trial: over which window, and whether a meter resolves it. Reports and `compare` ask here.

A trial's window is that of the program's own loop or of its MPI (`Trial.loop_ns`), where the program or its ranks say
when that was, else from the start of `mpirun` to its end. Simplification: the loop's times are of the first node's
clock; one that is so wrong that the loop is not within the trial is ignored, a smaller error shifts the window, which
matters little under an even load.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.power.energy import energy_of
from eee_testbed.record.samples import PowerSeries
from eee_testbed.record.trials import Trial

RUN_TIMES: Final = ("time_steady", "time", "mpi_time")
"""Figures that are a program's run time, the best one first: without outliers of the machine; as the program says;
between MPI_Init and MPI_Finalize."""

_EARLY_QUANTILE: Final = 0.1
_LEAST_CHANGES: Final = 4


def run_time_name(trial: Trial) -> str:
    """The figure that is a trial's run time; "" if it has none, so that its window is all that is known."""
    names = (name for name in RUN_TIMES if name in trial.figures and trial.figures[name].unit == "s")
    return next(names, "")


def run_time_s(trial: Trial) -> float:
    """Run time of a trial: as its figures say, else the length of its window, launch included."""
    name = run_time_name(trial)
    return trial.figures[name].value if name else trial.window_s


def window_ns(trial: Trial) -> tuple[int, int]:
    """When the program itself ran."""
    if trial.loop_ns is not None:
        begun_ns, ended_ns = trial.loop_ns
        if trial.begun_ns <= begun_ns < ended_ns <= trial.ended_ns:
            return begun_ns, ended_ns
    return trial.begun_ns, trial.ended_ns


def mean_watt_of(series: PowerSeries, trial: Trial, facts: Mapping[str, Any], strip: str) -> Interval | None:
    """A meter's mean power in a trial; None if the trial is shorter than the meter's period, or has no readings near.

    `facts` is the run's `run.yaml`, which says how well the strip's clock is known.
    """
    begun_ns, ended_ns = window_ns(trial)
    if (ended_ns - begun_ns) / 1e9 < period_s(series):
        return None
    bounds = (int(clock["bound_ns"]) for clock in facts.get("clocks", ()) if clock["source"] == strip)
    try:
        return energy_of(series, begun_ns, ended_ns, max(bounds, default=0)).mean_watt
    except ValueError:
        return None


def period_s(series: PowerSeries) -> float:
    """How often a meter shows a new value: not more often than it is polled, nor than its readings change.

    Readings of a steady load may change rarely however fresh they are, so the short distances between changes count.
    """
    time_s = (series.sent_ns - series.sent_ns[0]) / 1e9
    polled_s = float(np.median(np.diff(time_s))) if time_s.size > 1 else math.inf
    changes_s = np.diff(time_s[1:][np.diff(series.power_watt) != 0])
    if changes_s.size < _LEAST_CHANGES:
        return polled_s
    return max(polled_s, float(np.quantile(changes_s, _EARLY_QUANTILE)))
