"""A against B, paired by block: medians, their ratio and difference, with 95 % intervals by bootstrap. Pure.

Trials of one block were measured close to each other, so what drifts is shared by its A and its B. The bootstrap draws
whole blocks with replacement (Efron 1979; the block is what was randomised and is independent), and within a drawn
block its trials. With fewer than three blocks an interval says little, and is marked.

Two different runs have no blocks in common: the trials of each are then drawn by themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from analysis.energy import energy_of
from analysis.interval import Floats, Interval
from analysis.run_samples import PowerSeries, RunSamples
from analysis.trials import Trial
from controller.experiments.trials import Level

_ROUNDS: Final = 4000
_FEW_BLOCKS: Final = 3

Pairing = Literal["blocks", "none"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of A and of B. `ratio` is B's median by A's, `difference` B's minus A's, in `unit`.

    `saves_percent` of B against A follows from the ratio. `blocks` is how many took part, `weak` whether they are too
    few for the interval to be believed.
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
        """Whether there are too few blocks (or trials, where there are none) for the interval to say much."""
        return min(self.blocks if self.pairing == "blocks" else _FEW_BLOCKS, *self.counts) < _FEW_BLOCKS

    @property
    def differs(self) -> bool:
        """Whether the interval of the ratio leaves 1 out."""
        return not self.ratio.holds(1.0)


def compare(
    a: Mapping[int, Sequence[float]],
    b: Mapping[int, Sequence[float]],
    figure: str,
    unit: str,
    *,
    pairing: Pairing = "blocks",
    seed: int = 0,
) -> Comparison:
    """Compare values by block; with pairing, blocks that lack A or B are left out. ValueError if nothing is left."""
    if pairing == "blocks":
        shared = [block for block in a if block in b]
        a, b = ({block: side[block] for block in shared} for side in (a, b))
    values_a, values_b = (np.array([x for own in side.values() for x in own], dtype=float) for side in (a, b))
    if not values_a.size or not values_b.size:
        raise ValueError("A and B have no block in common" if pairing == "blocks" else "A or B has no valid trial")
    chance = np.random.default_rng(seed)
    if pairing == "blocks":
        drawn_a, drawn_b = _draw_blocks(a, b, chance)
    else:
        drawn_a = np.median(chance.choice(values_a, (_ROUNDS, values_a.size)), axis=1)
        drawn_b = np.median(chance.choice(values_b, (_ROUNDS, values_b.size)), axis=1)
    mid_a, mid_b = float(np.median(values_a)), float(np.median(values_b))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = drawn_b / drawn_a
    ratio = Interval(float("nan"), float("nan"), float("nan"))
    if mid_a and np.all(np.isfinite(ratios)):
        ratio = _about(mid_b / mid_a, ratios)
    return Comparison(
        figure,
        unit,
        _about(mid_a, drawn_a),
        _about(mid_b, drawn_b),
        ratio,
        _about(mid_b - mid_a, drawn_b - drawn_a),
        (values_a.size, values_b.size),
        len(a) if pairing == "blocks" else 0,
        pairing,
    )


def _draw_blocks(
    a: Mapping[int, Sequence[float]], b: Mapping[int, Sequence[float]], chance: np.random.Generator
) -> tuple[Floats, Floats]:
    """Medians of A and B over blocks drawn with replacement, the same blocks for both; shape (rounds,) each."""
    keys = list(a)
    medians = np.empty((2, _ROUNDS))
    for turn, picks in enumerate(chance.integers(0, len(keys), (_ROUNDS, len(keys)))):
        for side, values in enumerate((a, b)):
            found = [chance.choice(own, len(own)) if len(own) > 1 else own for own in (values[keys[p]] for p in picks)]
            medians[side, turn] = np.median(np.concatenate(found))
    return medians[0], medians[1]


def _about(value: float, drawn: Floats) -> Interval:
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Interval(value, min(float(low), value), max(float(high), value))


def by_block(trials: Sequence[Trial], figure: str) -> dict[int, list[float]]:
    """A figure of trials that count, by block. Trials that lack it are passed over."""
    found: dict[int, list[float]] = {}
    for trial in trials:
        if trial.valid and figure in trial.figures:
            found.setdefault(trial.block, []).append(trial.figure(figure).value)
    return found


def unit_of(trials: Sequence[Trial], figure: str) -> str:
    """The unit of a figure; KeyError if no trial has it."""
    for trial in trials:
        if figure in trial.figures:
            return trial.figures[figure].unit
    raise KeyError(figure)


@dataclass(frozen=True, slots=True)
class Metered:
    """Energy of one trial over some meters; `half_joule` is half of its 95 % interval."""

    energy_joule: float
    half_joule: float
    window_s: float

    @property
    def mean_watt(self) -> float:
        """Mean power."""
        return self.energy_joule / self.window_s


class Energies:
    """Energy of a run's trials, by the meters of some devices (of all, if none are named)."""

    def __init__(self, samples: RunSamples, devices: Sequence[str] = ()) -> None:
        watts = samples.table("watts").filter(_measured())
        places = watts.select("strip", "outlet", "feeds").unique(maintain_order=True).rows()
        single = {strip for strip, outlet, _ in places if outlet > 0}
        self.meters = tuple(
            (strip, outlet)
            for strip, outlet, feeds in places
            if (outlet > 0 and (feeds in devices or (not devices and feeds)))
            or (outlet == 0 and strip not in single and not devices)
        )
        self._series: list[PowerSeries] = [samples.power(*place).fresh() for place in self.meters]

    def of(self, trial: Trial) -> Metered | None:
        """The energy in its window; None if a meter has no readings there."""
        joule, squares = 0.0, 0.0
        for series in self._series:
            try:
                found = energy_of(series, trial.begun_ns, trial.ended_ns)
            except ValueError:
                return None
            joule += found.energy_joule.value
            squares += found.energy_joule.half_width**2
        return Metered(joule, float(np.sqrt(squares)), trial.window_s) if self._series else None


def _measured() -> pl.Expr:
    return pl.col("power_watt").is_not_null()


def matched(levels: Mapping[str, Level], wanted: Mapping[str, Level]) -> bool:
    """Whether levels have all that is wanted; 1 and 1.0 are the same, and so is "1" as a person writes it."""
    return all(name in levels and str(levels[name]) == str(level) for name, level in wanted.items())
