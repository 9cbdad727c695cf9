"""How much slower hosts were in one trial than in another, by themselves.

Between trials caches, frequencies and the work of others change, and all round trips of a trial with them, by a
fraction of a microsecond up to some. Trials of one state had the same policy, so that they may be compared at equal
gaps, whatever slept.
"""

from typing import Final

import numpy as np

from analysis.interval import Floats
from analysis.links.probes import Probes

_BINS: Final = 20
_LEAST_IN_BIN: Final = 3
_ROUNDS: Final = 20


def trial_offsets_us(probes: Probes) -> Floats:
    """By how much the round trips of each echo's trial exceed those of all trials; shape (n,), mean 0 by trial.

    Medians of trials are compared within bins of the gap, and the median of the differences counts (Tukey's median
    polish): near a hold, where round trips depend on a microsecond of the gap, they scatter. A trial that shares no
    bin with another one has 0.
    """
    numbers = np.unique(probes.trial)
    found = np.zeros(len(probes.rtt_us))
    used = np.flatnonzero(probes.usable & np.isfinite(probes.gap_us))
    if len(numbers) < 2 or len(used) < _BINS:
        return found
    bins = np.array_split(used[np.argsort(probes.gap_us[used], kind="stable")], _BINS)
    medians = np.array([[_median_us(probes, part[probes.trial[part] == one]) for one in numbers] for part in bins])
    medians = medians[np.isfinite(medians).sum(axis=1) > 1]
    compared = np.isfinite(medians).any(axis=0)
    medians = medians[:, compared]
    offsets = np.zeros(int(compared.sum()))
    for _ in range(_ROUNDS if len(medians) else 0):
        levels = np.nanmedian(medians - offsets, axis=1, keepdims=True)
        offsets = np.nanmedian(medians - levels, axis=0)
        offsets -= offsets.mean()
    for number, offset in zip(numbers[compared], offsets, strict=True):
        found[probes.trial == number] = offset
    return found


def _median_us(probes: Probes, echoes: np.typing.NDArray[np.intp]) -> float:
    return float(np.median(probes.rtt_us[echoes])) if len(echoes) >= _LEAST_IN_BIN else np.nan
