"""By how much a state of the lab makes a program slower, from trials of the same blocks. Pure, but for reading trials.

Each configuration has, in each block, a time in the state that saves nothing and one in another state. The logarithm of
their ratio scatters alike for all configurations, so its variance is pooled, and a few blocks suffice for an interval
(Student's t, with the degrees of freedom of all configurations together). Of a single block, its repetitions count as
blocks do. Simplification: they do not show what differs from block to block; a second block would.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from eee_testbed.analysis.configurations import Configuration, Factors, State, state_text
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.programs.profile_reading import time_of
from eee_testbed.record.store import read_facts
from eee_testbed.record.trials import read_trials

_Pair = tuple[Sequence[float], Sequence[float]]
"""Times of a block's trials in the state that saves nothing, and in another one, s."""


@dataclass(frozen=True, slots=True)
class Slowdown:
    """The configuration that a state slows down most. `slower_percent` None: nothing was repeated."""

    program: str
    state: str
    slower_percent: Interval | None


def worst_slowdowns(folder: Path) -> tuple[Slowdown, ...]:
    """For each program and state of a run, the configuration that it slows down most; none without pairs."""
    factors = Factors.of_run(read_facts(folder))
    base: dict[tuple[Configuration, int], list[float]] = {}
    other: dict[tuple[Configuration, int], dict[State, list[float]]] = {}
    for trial in read_trials(folder):
        if trial.what != "program" or not trial.valid:
            continue
        key, state = (factors.configuration_of(trial), trial.block), factors.state_of(trial)
        if factors.saves_nothing(state):
            base.setdefault(key, []).append(time_of(trial))
        else:
            other.setdefault(key, {}).setdefault(state, []).append(time_of(trial))
    groups: dict[tuple[str, State], dict[Configuration, list[_Pair]]] = {}
    for key, states in other.items():
        for state, times in states.items():
            if key in base:
                groups.setdefault((key[0].placement, state), {}).setdefault(key[0], []).append((base[key], times))
    return tuple(Slowdown(placement, state_text(state), _worst(group)) for (placement, state), group in groups.items())


def _worst(group: Mapping[Configuration, Sequence[_Pair]]) -> Interval | None:
    """The interval of the largest mean; None if no configuration was measured twice."""
    once = all(len(blocks) == 1 for blocks in group.values())
    ratios = [np.array(_log_ratios(blocks, repetitions=once)) for blocks in group.values()]
    free = sum(len(values) - 1 for values in ratios)
    if not free:
        return None
    squares = sum(float(np.sum((values - np.mean(values)) ** 2)) for values in ratios)
    worst = max(ratios, key=lambda values: float(np.mean(values)))
    middle = float(np.mean(worst))
    half = float(stdtrit(free, 0.975)) * math.sqrt(squares / free / len(worst))
    return Interval(*(100 * math.expm1(value) for value in (middle, middle - half, middle + half)))


def _log_ratios(blocks: Sequence[_Pair], *, repetitions: bool) -> list[float]:
    """Of the medians of each block, or of the repetitions in it, in their order."""
    if repetitions:
        return [math.log(after / before) for pair in blocks for before, after in zip(*pair, strict=False)]
    return [math.log(float(np.median(after)) / float(np.median(before))) for before, after in blocks]
