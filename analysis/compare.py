"""A against B, paired by block: medians, their ratio and difference, with 95 % intervals by bootstrap. Pure.

Trials of one block were measured close to each other, so A and B of a block share any drift. The ratio is therefore the
median over blocks of the ratio within each block, and so is the difference. The bootstrap draws whole blocks with
replacement (Efron 1979; blocks were randomised and are independent), and then trials within each drawn block. A
percentile interval of few values is too narrow: with three blocks it contains the truth three times in four. So with
three to five blocks the intervals of ratio and difference are Student's t of the blocks' own (of the ratio, of its
logarithms). Fewer than six blocks are marked as weak, and of weak ones none is said to differ. Of fewer than three the
interval says nothing.

Two different runs have no blocks in common: their trials are then drawn separately, and their medians compared.

Energy is a trial's mean power times its run time, where its meters resolve it (`trial_energy.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

from eee_testbed.analysis.interval import Floats, Interval
from eee_testbed.analysis.power.trial_energy import mean_watt_of, run_time_s
from eee_testbed.record.samples import PowerSeries, RunSamples
from eee_testbed.record.trial_events import Level
from eee_testbed.record.trials import Trial

_ROUNDS: Final = 4000
_FEW_BLOCKS: Final = 6
_LEAST_BLOCKS: Final = 3

Pairing = Literal["blocks", "none"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of A and of B. `ratio` is B by A, `difference` B minus A, in `unit`.

    `blocks` is the number of blocks that took part. The ends of all intervals are those of the bootstrap, also where
    `has_interval` says that there is too little to know any.
    """

    figure: str
    unit: str
    a: Interval
    b: Interval
    ratio: Interval
    difference: Interval
    counts: tuple[int, int]
    blocks: int
    pairing: Pairing

    @property
    def weak(self) -> bool:
        """Whether the intervals are of too few blocks, or without blocks of too few trials, to be reliable."""
        return self._repeated < _FEW_BLOCKS

    @property
    def has_interval(self) -> bool:
        """Whether enough was repeated for any interval: three blocks, or three trials of either side without blocks."""
        return self._repeated >= _LEAST_BLOCKS

    @property
    def differs(self) -> bool:
        """Whether a reliable interval of the ratio excludes 1."""
        return not self.weak and not self.ratio.holds(1.0)

    @property
    def _repeated(self) -> int:
        return min(self.blocks, *self.counts) if self.pairing == "blocks" else min(self.counts)


def compare(
    a: Mapping[int, Sequence[float]],
    b: Mapping[int, Sequence[float]],
    figure: str,
    unit: str,
    *,
    pairing: Pairing = "blocks",
    seed: int = 0,
) -> Comparison:
    """Compare values by block, with pairing without blocks that lack A or B. ValueError if nothing is left."""
    if pairing == "blocks":
        shared = [block for block in a if block in b]
        a, b = ({block: side[block] for block in shared} for side in (a, b))
    values_a, values_b = (np.array([x for own in side.values() for x in own], dtype=float) for side in (a, b))
    if not values_a.size or not values_b.size:
        raise ValueError("A and B have no block in common" if pairing == "blocks" else "A or B has no valid trial")
    random = np.random.default_rng(seed)
    mid_a, mid_b = float(np.median(values_a)), float(np.median(values_b))
    if pairing == "blocks":
        picks = random.integers(0, len(a), (_ROUNDS, len(a)))
        inner_a, inner_b = _drawn(list(a.values()), picks, random), _drawn(list(b.values()), picks, random)
        whole_a, whole_b = (np.array([np.median(own) for own in side.values()]) for side in (a, b))
    else:
        inner_a, inner_b = (
            np.median(random.choice(values, (_ROUNDS, values.size)), axis=1)[:, None] for values in (values_a, values_b)
        )
        whole_a, whole_b = np.array([mid_a]), np.array([mid_b])
    ratio = _ratio(whole_a, whole_b, inner_a, inner_b)
    difference = _about(float(np.median(whole_b - whole_a)), np.median(inner_b - inner_a, axis=1))
    if pairing == "blocks" and _LEAST_BLOCKS <= len(a) < _FEW_BLOCKS:
        difference = _student(difference.value, whole_b - whole_a)
        if np.all(whole_a > 0) and np.all(whole_b > 0):
            logs = _student(float(np.log(ratio.value)), np.log(whole_b / whole_a))
            ratio = Interval.about(ratio.value, float(np.exp(logs.low)), float(np.exp(logs.high)))
    return Comparison(
        figure,
        unit,
        _about(mid_a, np.median(inner_a, axis=1)),
        _about(mid_b, np.median(inner_b, axis=1)),
        ratio,
        difference,
        (values_a.size, values_b.size),
        len(a) if pairing == "blocks" else 0,
        pairing,
    )


def _drawn(blocks: Sequence[Sequence[float]], picks: NDArray[np.int64], random: np.random.Generator) -> Floats:
    """The median of each drawn block's trials, drawn with replacement too; shape (rounds, blocks) like `picks`."""
    counts = np.array([len(own) for own in blocks])
    table = np.full((len(blocks), counts.max()), np.nan)
    for row, own in zip(table, blocks, strict=True):
        row[: len(own)] = own
    drawn = np.empty((*picks.shape, table.shape[1]))
    for place in range(table.shape[1]):
        within = np.floor(random.random(picks.shape) * counts[picks]).astype(int)
        drawn[..., place] = np.where(place < counts[picks], table[picks, within], np.nan)
    return np.asarray(np.nanmedian(drawn, axis=2), dtype=float)


def _ratio(whole_a: Floats, whole_b: Floats, inner_a: Floats, inner_b: Floats) -> Interval:
    """Ratio of B to A, block by block; not a number where A has a 0."""
    if not np.all(whole_a) or not np.all(inner_a):
        return Interval(float("nan"), float("nan"), float("nan"))
    return _about(float(np.median(whole_b / whole_a)), np.median(inner_b / inner_a, axis=1))


def _student(value: float, values: Floats) -> Interval:
    """A median of few values, with Student's interval of their mean."""
    half = float(stdtrit(values.size - 1, 0.975) * np.std(values, ddof=1) / np.sqrt(values.size))
    mean = float(np.mean(values))
    return Interval.about(value, mean - half, mean + half)


def _about(value: float, drawn: Floats) -> Interval:
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Interval.about(value, low, high)


def by_block(trials: Sequence[Trial], figure: str) -> dict[int, list[float]]:
    """A figure of the valid trials that have it, by block."""
    values: dict[int, list[float]] = {}
    for trial in trials:
        if trial.valid and figure in trial.figures:
            values.setdefault(trial.block, []).append(trial.figure(figure).value)
    return values


def unit_of(trials: Sequence[Trial], figure: str) -> str:
    """The unit of a figure; KeyError if no trial has it."""
    for trial in trials:
        if figure in trial.figures:
            return trial.figures[figure].unit
    raise KeyError(figure)


@dataclass(frozen=True, slots=True)
class Metered:
    """Mean power of one trial, the sum of some meters."""

    mean_watt: float
    run_s: float

    @property
    def energy_joule(self) -> float:
        """Energy over the program's run time."""
        return self.mean_watt * self.run_s


class Energies:
    """Energy of a run's trials from the meters of `devices`, of all devices if empty."""

    def __init__(self, samples: RunSamples, devices: Sequence[str] = ()) -> None:
        self._facts = samples.facts
        watts = samples.table("watts").filter(_measured())
        places = watts.select("strip", "outlet", "feeds").unique(maintain_order=True).rows()
        single = {strip for strip, outlet, _ in places if outlet > 0}
        self.meters = tuple(
            (strip, outlet)
            for strip, outlet, feeds in places
            if (outlet > 0 and (feeds in devices or (not devices and feeds)))
            or (outlet == 0 and strip not in single and not devices)
        )
        self._series: list[tuple[str, PowerSeries]] = [
            (place[0], samples.power(*place).fresh()) for place in self.meters
        ]

    def of(self, trial: Trial) -> Metered | None:
        """The energy of a trial; None if a meter does not resolve its window."""
        watt = 0.0
        for strip, series in self._series:
            mean_watt = mean_watt_of(series, trial, self._facts, strip)
            if mean_watt is None:
                return None
            watt += mean_watt.value
        return Metered(watt, run_time_s(trial)) if self._series else None


def _measured() -> pl.Expr:
    return pl.col("power_watt").is_not_null()


def matched(levels: Mapping[str, Level], asked_levels: Mapping[str, Level]) -> bool:
    """Whether levels include all `asked_levels`. A person may have typed these, so "1" equals 1."""
    return all(name in levels and str(levels[name]) == str(level) for name, level in asked_levels.items())
