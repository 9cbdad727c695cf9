"""Whether a fitted model of run time explains anything; one that does not is refused, not stored. Pure.

A model has to beat the assumption that EEE costs nothing, on the runs that it was fitted to (an F test of the relative
errors) and on others (mean held-out error). It must not describe overheads clearly worse than their mean does. Its
parameters need intervals with ends.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from scipy.special import fdtri

from eee_testbed.analysis.calibration import RunTimeError
from eee_testbed.analysis.interval import Interval, NotEnoughData

_SURE_QUANTILE: Final = 0.95
_LEAST_EXPLAINED: Final = -0.1
"""R2 about the mean overhead. That of a right model is about 0 where all overheads are equal, and a little below."""


class Timed(Protocol):
    """A configuration with its run time without EEE and with it."""

    @property
    def base_s(self) -> float:
        """Without EEE."""

    @property
    def eee_s(self) -> float:
        """With EEE."""


def refuse_useless(
    runs: Sequence[Timed],
    estimated_s: Sequence[float],
    explained: float,
    bounded: Mapping[str, Interval],
    error: RunTimeError | None,
    parameters: int = 0,
) -> None:
    """NotEnoughData for a model that says nothing about these runs; `error` is its held-out one, if known.

    `bounded` are the parameters whose intervals need ends, of so many `parameters` (default: of no others).
    """
    count = parameters or len(bounded)
    measured_s, base_s = np.array([run.eee_s for run in runs]), np.array([run.base_s for run in runs])
    extra, left = 1.0 - base_s / measured_s, 1.0 - np.asarray(estimated_s) / measured_s
    free = len(runs) - count
    none, rest = float(extra @ extra), float(left @ left)
    if explained < _LEAST_EXPLAINED:
        raise NotEnoughData(
            f"it describes the overhead worse than a constant does (R2 {explained:.2f}): repeat more often, and vary "
            "the pauses on both sides of the hold."
        )
    if free > 0 and (none - rest) / count < float(fdtri(count, free, _SURE_QUANTILE)) * rest / free:
        raise NotEnoughData(
            "it explains no more of the overhead than chance would: repeat more often, measure more pauses, or check "
            "that EEE was active."
        )
    assumed_percent = 100 * float(np.mean(np.abs(extra)))
    if error is not None and error.mean_percent >= assumed_percent:
        raise NotEnoughData(
            f"it errs by {error.mean_percent:.2g} % on runs that it was not fitted to, where the assumption that EEE "
            f"costs nothing errs by {assumed_percent:.2g} %: measure more configurations, and repeat them."
        )
    endless = [name for name, interval in bounded.items() if not np.isfinite([interval.low, interval.high]).all()]
    if endless:
        raise NotEnoughData(
            f"the runs set no bounds to {', '.join(endless)}: measure pauses between those with and without overhead."
        )
