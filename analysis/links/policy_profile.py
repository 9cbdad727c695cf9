"""How far each time of a structure can go while the echoes stay nearly as likely: profile-likelihood intervals.

Where the likelihood is flat along a ridge, quantiles of the posterior leave out its ends, and the truth is often there.
An example: ports and cards have one hold. The cards' wait then hides where the ports' hold ends and Ts begins, and the
ports' true times are the corner of all those that explain the echoes. So an interval here is a parameter's range over
all candidates whose log posterior is within half of chi-square's 95 % quantile of the best (Venzon, Moolgavkar 1988).
It contains that corner. For a parameter that the echoes determine, it equals the interval of quantiles.
"""

from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.policy_likelihood import Likelihood
from eee_testbed.analysis.links.policy_search import Chain, Top

DROP: Final = 1.92
"""Half the 95 % quantile of chi-square with one degree of freedom."""

_POPULATION: Final = 40
_JITTER: Final = 1e-4
"""Of a chain that hardly moved the same draw is taken several times."""

_ROUNDS: Final = 60
_STALL_ROUNDS: Final = 15


def reaches(likelihood: Likelihood, top: Top, chain: Chain, random: np.random.Generator) -> Floats:
    """The lowest and the highest value of each of the groups' times, shape (2, parameters)."""
    best = max(top.height, float(chain.heights.max()))
    order = np.argsort(-chain.heights)
    likely = np.unique(chain.thetas[order[: 4 * _POPULATION]], axis=0)
    picked = likely[random.permutation(max(len(likely), _POPULATION))[: _POPULATION - 1] % len(likely)]
    moved = picked + _JITTER * random.normal(size=picked.shape) * np.maximum(np.abs(picked), 1.0)
    start = np.vstack((top.best[None], moved))
    heights = likelihood.log_probability(top.structure, start)
    columns = range(likelihood.common, start.shape[1])
    ends = [
        [_farthest(likelihood, top, (start, heights), (column, sign), best - DROP, random) for column in columns]
        for sign in (-1.0, 1.0)
    ]
    return np.array(ends)


def _farthest(
    likelihood: Likelihood,
    top: Top,
    start: tuple[Floats, Floats],
    goal: tuple[int, float],
    least: float,
    random: np.random.Generator,
) -> float:
    """The farthest value of a column in a direction at a height of at least `least`, by differential evolution."""
    population, heights = (one.copy() for one in start)
    column, sign = goal
    count, size = population.shape
    value = _far(population, heights, goal, least)
    last, still = value, 0
    for _ in range(_ROUNDS):
        picks = random.random((count, count)).argsort(axis=1)[:, :3]
        scale = random.uniform(0.4, 1.0, size=(count, 1))
        a, b, c = (population[picks[:, number]] for number in range(3))
        crossed = random.random((count, size)) < 0.9
        crossed[np.arange(count), random.integers(size, size=count)] = True
        tried = np.where(crossed, a + scale * (b - c), population)
        log_densities = likelihood.log_probability(top.structure, tried)
        inside, was_inside = log_densities >= least, heights >= least
        farther = sign * tried[:, column] > sign * population[:, column]
        better = np.where(was_inside, inside & farther, inside | (log_densities > heights))
        population[better], heights[better] = tried[better], log_densities[better]
        value = _far(population, heights, goal, least)
        still = 0 if sign * (value - last) > 1e-3 * max(abs(last), 1.0) else still + 1
        last = value
        if still >= _STALL_ROUNDS:
            break
    return value


def _far(population: Floats, heights: Floats, goal: tuple[int, float], least: float) -> float:
    column, sign = goal
    inside = population[heights >= least, column]
    return float(sign * (sign * inside).max()) if len(inside) else float(population[int(np.argmax(heights)), column])
