"""How much slower hosts were in one trial than in another, by themselves.

Between trials caches, frequencies and the work of others change, and all round trips of a trial with them, by a
fraction of a microsecond up to some. Trials of one state had the same policy, so that they may be compared at equal
gaps, whatever slept.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.probes import Probes

_BINS: Final = 40
_LEAST_IN_BIN: Final = 6
_FLAT_RATIO: Final = 5.0
"""In how many times the spread of the narrowest bins trials are compared."""

_ROUNDS: Final = 20


def trial_offsets_us(probes: Probes) -> Floats:
    """By how much the round trips of each echo's trial exceed those of all trials; shape (n,), mean 0 by trial.

    Medians of trials are compared within bins of the gap, and the median of the differences counts (Tukey's median
    polish), each by the number of echoes behind it. Only bins count in which round trips do not depend on the gap:
    near a hold they do by a microsecond for each, and trials with other gaps would differ there by themselves. A trial
    that shares no such bin with another one has 0.
    """
    numbers = np.unique(probes.trial)
    offsets_us = np.zeros(len(probes.rtt_us))
    used = np.flatnonzero(probes.usable & np.isfinite(probes.gap_us))
    bin_count = min(_BINS, len(used) // _LEAST_IN_BIN)
    if len(numbers) < 2 or bin_count < 1:
        return offsets_us
    bins = np.array_split(used[np.argsort(probes.gap_us[used], kind="stable")], bin_count)
    cells = [[probes.rtt_us[part[probes.trial[part] == one]] for one in numbers] for part in bins]
    medians = np.array([[np.median(cell) if len(cell) else np.nan for cell in row] for row in cells])
    counts = np.array([[len(cell) for cell in row] for row in cells], dtype=float)
    spreads = np.array([_spread_us(row) for row in cells])
    shared = (counts > 0).sum(axis=1) > 1
    has_spread = np.isfinite(spreads)
    if not has_spread.any():
        return offsets_us
    flat = shared & (spreads <= _FLAT_RATIO * np.quantile(spreads[has_spread], 0.25))
    medians, counts = medians[flat], counts[flat]
    compared = (counts > 0).any(axis=0)
    if not compared.any():
        return offsets_us
    medians, counts = medians[:, compared], counts[:, compared]
    others = counts.sum(axis=1, keepdims=True) - counts
    weights = counts * others / (counts + others)
    offsets = np.zeros(int(compared.sum()))
    for _ in range(_ROUNDS):
        levels = np.average(np.nan_to_num(medians - offsets), axis=1, weights=counts)
        apart = medians - levels[:, None]
        offsets = np.array([_median(column, weight) for column, weight in zip(apart.T, weights.T, strict=True)])
        offsets -= offsets.mean()
    for number, offset in zip(numbers[compared], offsets, strict=True):
        offsets_us[probes.trial == number] = offset
    return offsets_us


def _spread_us(cells: Sequence[Floats]) -> float:
    """Of the round trips of a bin, each compared with the median of its trial; NaN for a bin of single echoes."""
    left = np.concatenate([cell - np.median(cell) for cell in cells if len(cell) > 1] or [np.array([np.nan])])
    return float(np.median(np.abs(left)))


def _median(values: Floats, weights: Floats) -> float:
    """Weighted; values without a weight do not count."""
    kept = np.flatnonzero(weights > 0)
    order = kept[np.argsort(values[kept], kind="stable")]
    shares = np.cumsum(weights[order])
    half = shares[-1] / 2
    low, high = np.searchsorted(shares, half), np.searchsorted(shares, half, side="right")
    return float((values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2)
