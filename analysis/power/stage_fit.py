"""A device's windows fitted stage by stage, whatever its stages are: screened, then fitted beside a drift. Pure."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.power.drift_fit import DriftFit, Readings, fit_drifting
from eee_testbed.analysis.power.energy import rounding_sigma
from eee_testbed.analysis.power.screening import screened
from eee_testbed.analysis.power.stage_columns import Columns
from eee_testbed.analysis.power.stage_window import StageWindow

_SPARE_WINDOWS: Final = 3


@dataclass(frozen=True, slots=True)
class StageFit:
    """The columns of the windows that were kept, their coefficients, and sentences about windows that are far off."""

    columns: Columns
    fit: DriftFit
    warnings: tuple[str, ...]


def fit_stages(
    windows: Sequence[StageWindow],
    columns_of: Callable[[Sequence[StageWindow]], Columns],
    step_watt: float = 0.0,
    seed: int = 0,
) -> StageFit:
    """Fit the columns of at least one window; NotEnoughData if the windows do not determine their powers.

    `step_watt`: of the meter. Windows that no other of their stage confirms are left out first.
    """
    columns = columns_of(windows)
    own_watt = float(np.median([window.noise_watt for window in windows]))
    kept = screened(columns, math.hypot(own_watt, _rounding_sigma(windows, step_watt)))
    if len(kept.kept) < len(windows):
        windows = [windows[number] for number in kept.kept]
        columns = columns_of(windows)
    if len(windows) < len(columns.values) + _SPARE_WINDOWS:
        raise NotEnoughData(
            f"{len(windows)} windows are too few for {len(columns.values)} unknown powers and a drift: measure each "
            "stage several times, in blocks."
        )
    readings = Readings(
        np.array([window.at_s for window in windows]),
        np.array([window.power_watt for window in windows]),
        np.array([max(window.noise_watt, own_watt) for window in windows]),  # few readings may be equal by chance
        _rounding_sigma(windows, step_watt),
        columns.states,
        columns.matrix,
    )
    return StageFit(columns, fit_drifting(readings, seed), kept.warnings)


def _rounding_sigma(windows: Sequence[StageWindow], step_watt: float) -> float:
    """Of the mean of rounded readings: negligible if noise moves them over several steps."""
    if step_watt <= 0:
        return 0.0
    seen = float(np.mean([window.scatter_watt**2 for window in windows]))
    return rounding_sigma(step_watt, math.sqrt(max(0.0, seen - step_watt**2 / 12.0)))
