"""The search for the likeliest parameters of each structure, and draws from their posterior.

Delays are steps, so the likelihood has many local tops: with ports and cards exchanged, for one. Each structure is
searched by differential evolution (Storn and Price 1997) from starts spread about where the echoes show steps. Draws
are by an ensemble of walkers (emcee: stretch moves of Goodman and Weare 2010, and differences of ter Braak 2006).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.policy_likelihood import LEAST_NOISE_US, Likelihood
from eee_testbed.analysis.links.policy_starts import Step, standard_ts_us, starts, steps_of
from eee_testbed.analysis.links.structures import TIMES, Structure

if TYPE_CHECKING:
    from emcee import EnsembleSampler

_POPULATION: Final = 40
_STARTS: Final = 250
_COARSE_SHARES: Final = (0.1, 0.02)
_SWEPT_COUNT: Final = 2
_MOST_SWEEPS: Final = 4
_LEAST_RISE: Final = 0.5
_HOLD_COUNT: Final = 240
_FIRST_ROUNDS: Final = 20
_MOST_ROUNDS: Final = 100
_STALL_ROUNDS: Final = 20
_GOOD_FIT_GAP: Final = 60.0
"""A structure that comes as near as this to what the noise allows explains the echoes."""

_MOST_REPEATS: Final = 2
_HOPELESS_GAP: Final = 60.0
"""After the first rounds a structure whose log posterior is this far below the best one is searched no more."""

_PLAIN_NAMES: Final = tuple((0, name) for name in TIMES["deep"])
_SPLIT_COUNT: Final = 2
_WALKERS: Final = 28
_CLIMB_STEPS: Final = 80
_MOST_WALKS: Final = 2
_BURN_IN: Final = 200
_DRAWN_STEPS: Final = 300


@dataclass(frozen=True, slots=True)
class Top:
    """The likeliest parameters found, their log posterior, and the population that found them."""

    structure: Structure
    best: Floats
    height: float
    population: Floats
    heights: Floats


def search(likelihood: Likelihood, structures: Iterable[Structure], random: np.random.Generator) -> tuple[Top, ...]:
    """The tops of all structures, and of those with two groups of one size that with both exchanged."""
    steps = steps_of(likelihood)
    first: list[Top] = []
    for structure in sorted(structures, key=lambda structure: len(structure.groups)):
        good = any(top.height > likelihood.expected_height - _GOOD_FIT_GAP for top in first if top.structure.groups)
        quick = good and len(structure.groups) > 1
        drawn = starts(likelihood, structure, steps, _STARTS * max(len(structure.groups), 1), random)
        first.append(_annealed(likelihood, structure, drawn, random, quick=quick))
    for number in range(
        _MOST_REPEATS
    ):  # once in any case: a structure missed narrows what its rivals are claimed to be
        is_explained = max(top.height for top in first) > likelihood.expected_height - _GOOD_FIT_GAP
        if number and (is_explained or not np.isfinite(likelihood.expected_height)):
            break
        first = [_again(likelihood, top, steps, random) for top in first]
    best = max(top.height for top in first)
    near = [top for top in first if top.height > best - _HOPELESS_GAP]
    far = [top for top in first if top.height <= best - _HOPELESS_GAP]
    near = [_climb(likelihood, top.structure, top.population, random, _MOST_ROUNDS) for top in near]
    near = [_moved(likelihood, top, random) for top in near]
    best = max(top.height for top in near)
    near = [_walked(likelihood, top, random) if top.height > best - _HOPELESS_GAP / 2 else top for top in near]
    near += [
        *(_exchanged(likelihood, top, random) for top in near if exchangeable(top.structure)),
        *(_alike(likelihood, top, random) for top in near if len(top.structure.groups) == 2),
    ]
    single = max((top for top in near if top.structure.names == _PLAIN_NAMES), key=lambda top: top.height, default=None)
    if single is not None:
        pairs = [top.structure for top in first if exchangeable(top.structure)]
        near += [_split(likelihood, single, pair, random) for pair in pairs for _ in range(_SPLIT_COUNT)]
    return (*near, *far)


def _again(likelihood: Likelihood, top: Top, steps: Sequence[Step], random: np.random.Generator) -> Top:
    """The better of a top and of another search of its structure, where none explains the echoes yet."""
    if not top.structure.groups:
        return top
    drawn = starts(likelihood, top.structure, steps, _STARTS * len(top.structure.groups), random)
    other = _annealed(likelihood, top.structure, drawn, random)
    return other if other.height > top.height else top


def _annealed(
    likelihood: Likelihood, structure: Structure, drawn: Floats, random: np.random.Generator, *, quick: bool = False
) -> Top:
    """A first search: coarsely, as if the noise were a part of the wakes, then finer, then as it is.

    `quick`: without sweeps, where a simpler structure explains the echoes to within their noise.
    """
    population = drawn
    if structure.groups:
        wakes_us = float(np.median(structure.path_wake_us(drawn[:, likelihood.common :])))
        for share in _COARSE_SHARES:
            least = float(np.log(max(share * wakes_us, LEAST_NOISE_US * 3)))
            population[:, 1] = np.maximum(population[:, 1], least)
            heights = _heights(likelihood, structure, population)
            population = population[np.argsort(-heights)[:_POPULATION]]
            top = _climb(likelihood, structure, population, random, _FIRST_ROUNDS, least, sharp=True)
            population = top.population[np.argsort(-top.heights)]
            if not quick:
                population[:_SWEPT_COUNT] = _swept(likelihood, structure, population[:_SWEPT_COUNT], least)
    population = population[:_POPULATION]
    lower = np.abs(random.normal(size=len(population)))
    population[:, 1] = np.maximum(population[:, 1] - lower, np.log(LEAST_NOISE_US * 2))
    top = _climb(likelihood, structure, population, random, _FIRST_ROUNDS)
    if structure.groups and not quick:
        population = top.population[np.argsort(-top.heights)]
        population[:2] = _swept(likelihood, structure, population[:2], float(np.log(LEAST_NOISE_US)))
        top = _climb(likelihood, structure, population, random, _FIRST_ROUNDS)
    return top


def _heights(likelihood: Likelihood, structure: Structure, thetas: Floats) -> Floats:
    """Log posterior in parts, so that the walk over echoes stays in the processor's cache."""
    parts = np.array_split(thetas, -(-len(thetas) // 128))
    heights: Floats = np.concatenate([likelihood.log_probability(structure, part, sharp=True) for part in parts])
    return heights


def _moved(likelihood: Likelihood, top: Top, random: np.random.Generator) -> Top:
    """A top from which moves that are larger than the population lead no higher.

    The first searches take gaps as exact. Then a frame that came late may hold a hold, with all of a population, a few
    microseconds off; and where few echoes came between hold and the end of Ts, any hold before that end.
    """
    if not top.structure.groups:
        return top
    best = _along(likelihood, top)
    best = _swept(likelihood, top.structure, best[None], float(np.log(LEAST_NOISE_US)), sharp=False)[0]
    height = float(likelihood.log_probability(top.structure, best[None])[0])
    if height < top.height + _LEAST_RISE:
        return top
    population = top.population + (best - top.best)
    population[int(np.argmax(top.heights))] = best
    return _climb(likelihood, top.structure, population, random, _MOST_ROUNDS)


def _along(likelihood: Likelihood, top: Top) -> Floats:
    """The likeliest parameters with each group's hold, one after the other, anywhere before the same end of its Ts."""
    names = top.structure.names
    best, height = top.best, top.height
    for place, (number, name) in enumerate(names):
        if name != "hold_us":
            continue
        hold, sleep = likelihood.common + place, likelihood.common + names.index((number, "sleep_us"))
        tried = np.repeat(best[None], _HOLD_COUNT, axis=0)
        tried[:, hold] = np.linspace(0.0, best[hold] + best[sleep], _HOLD_COUNT)
        tried[:, sleep] = best[hold] + best[sleep] - tried[:, hold]
        heights = likelihood.log_probability(top.structure, tried)
        if heights.max() > height:
            best, height = tried[int(np.argmax(heights))], float(heights.max())
    return best


def _swept(
    likelihood: Likelihood, structure: Structure, thetas: Floats, least_log_noise: float, *, sharp: bool = True
) -> Floats:
    """Candidates moved along single parameters and pairs of them, by steps of all sizes, while that helps."""
    moves = _moves(likelihood, structure)
    low, high = likelihood.bounds(structure)
    swept = []
    for theta in thetas:
        best, height = theta, float(likelihood.log_probability(structure, theta[None], sharp=sharp)[0])
        for _ in range(_MOST_SWEEPS):
            before = height
            for move in moves:
                tried = best + move
                tried[:, 1] = np.maximum(tried[:, 1], least_log_noise)
                tried[:, likelihood.common :] = np.clip(tried[:, likelihood.common :], low, high)
                heights = likelihood.log_probability(structure, tried, sharp=sharp)
                place = int(np.argmax(heights))
                if heights[place] > height:
                    best, height = tried[place], float(heights[place])
            if height < before + 0.5:
                break
        swept.append(best)
    return np.array(swept)


def _moves(likelihood: Likelihood, structure: Structure) -> list[Floats]:
    """Steps along each time of a group, along hold with Ts against it, and wakes from one group to the other."""
    start, names = likelihood.common, structure.names
    size = start + len(names)
    place = {key: start + number for number, key in enumerate(names)}
    sizes = np.geomspace(0.3, 300.0, 14)
    steps = np.concatenate((-sizes, sizes))[:, None]
    moves = []
    for key, at in place.items():
        scale = 1.0 if key[1] in ("hold_us", "sleep_us", "deep_after_us", "wait_byte") else 0.1
        moves.append(steps * scale * np.eye(size)[at])
        if key[1] == "hold_us":
            others = (place[key[0], name] for name in ("sleep_us", "deep_after_us") if (key[0], name) in place)
            moves += [steps * (np.eye(size)[at] - np.eye(size)[other]) for other in others]
    if len(structure.groups) == 2:
        first, second = (len(group.members) for group in structure.groups)
        share = np.eye(size)[place[0, "wake_us"]] / first - np.eye(size)[place[1, "wake_us"]] / second
        moves.append(0.1 * steps * share)
    if (0, "wait_us") in place:
        moves.append(0.1 * steps * (np.eye(size)[place[0, "wake_us"]] - np.eye(size)[place[0, "wait_us"]]))
    moves.append(np.linspace(-2.0, 2.0, 14)[:, None] * np.eye(size)[1])
    return moves


def exchangeable(structure: Structure) -> bool:
    """Whether its two groups differ in nothing but their places."""
    groups = structure.groups
    return len(groups) == 2 and len(groups[0].members) == len(groups[1].members)


def _climb(
    likelihood: Likelihood,
    structure: Structure,
    population: Floats,
    random: np.random.Generator,
    rounds: int,
    least_log_noise: float = -np.inf,
    *,
    sharp: bool = False,
) -> Top:
    """Differential evolution, from the best and from random members in turns."""
    heights = likelihood.log_probability(structure, population, sharp=sharp)
    count, size = population.shape
    last, still = -np.inf, 0
    for number in range(rounds):
        picks = random.random((count, count)).argsort(axis=1)[:, :3]
        scale = random.uniform(0.4, 1.0, size=(count, 1))
        a, b, c = (population[picks[:, column]] for column in range(3))
        best = population[int(np.argmax(heights))]
        moved = (a if number % 3 else best) + scale * (b - c)
        crossed = random.random((count, size)) < 0.8
        crossed[np.arange(count), random.integers(size, size=count)] = True
        tried = np.where(crossed, moved, population)
        tried[:, 1] = np.maximum(tried[:, 1], least_log_noise)
        log_densities = likelihood.log_probability(structure, tried, sharp=sharp)
        better = log_densities > heights
        population[better], heights[better] = tried[better], log_densities[better]
        top = float(heights.max())
        still = 0 if top > last + 0.05 else still + 1
        last = max(last, top)
        if still >= _STALL_ROUNDS:
            break
    best = population[int(np.argmax(heights))].copy()
    return Top(structure, best, float(heights.max()), population, heights)


def _exchanged(likelihood: Likelihood, top: Top, random: np.random.Generator) -> Top:
    """The search of a structure of two groups, started where these are exchanged."""
    size = len(top.structure.names) // 2
    start = likelihood.common
    swapped = np.repeat(top.best[None], _POPULATION, axis=0)
    swapped[:, start : start + size] = top.best[start + size :]
    swapped[:, start + size :] = top.best[start : start + size]
    wakes_us = float(top.structure.path_wake_us(top.best[None, start:])[0])
    swapped[1:, start:] += random.normal(size=swapped[1:, start:].shape) * 0.1 * wakes_us
    low, high = likelihood.bounds(top.structure)
    swapped[:, start:] = np.clip(swapped[:, start:], low + 1e-6, high - 1e-6)
    return _annealed(likelihood, top.structure, swapped, random)


def _alike(likelihood: Likelihood, top: Top, random: np.random.Generator) -> Top:
    """The search of a structure of two groups, started where both have one hold and the standard's Ts.

    That is common, and a corner of what explains the echoes, which a search from elsewhere may not reach.
    """
    start = likelihood.common
    holds_us = [float(group["hold_us"][0, 0]) for group in top.structure.split(top.best[None, start:])]
    wakes_us = float(top.structure.path_wake_us(top.best[None, start:])[0])
    edge_us = min(holds_us) + random.uniform(0.03, 0.97, size=_STARTS) * wakes_us / 2
    between = random.random(_STARTS) < 0.5
    edge_us[between] = random.uniform(min(holds_us), max(holds_us), size=int(between.sum()))
    drawn = _of_one_hold(likelihood, top.structure, top.best[:start], edge_us, wakes_us, random)
    return _annealed(likelihood, top.structure, drawn, random)


def _split(likelihood: Likelihood, single: Top, pair: Structure, random: np.random.Generator) -> Top:
    """The search of a pair of groups that adds as much to round trips as a single group does.

    Both have a hold near the group's: where the cards' wait hides the ports' fall asleep, a single one explains them.
    """
    start = likelihood.common
    hold_us = float(single.best[start])
    wakes_us = float(single.structure.path_wake_us(single.best[None, start:])[0])
    edge_us = hold_us + random.uniform(-0.25, 0.25, size=_STARTS) * wakes_us
    drawn = _of_one_hold(likelihood, pair, single.best[:start], edge_us, wakes_us, random)
    top = _annealed(likelihood, pair, drawn, random)
    return _moved(likelihood, _climb(likelihood, pair, top.population, random, _MOST_ROUNDS), random)


def _of_one_hold(
    likelihood: Likelihood,
    structure: Structure,
    head: Floats,
    edge_us: Floats,
    wakes_us: float,
    random: np.random.Generator,
) -> Floats:
    """Parameters of two groups with one hold, the standard's Ts, and any shares of the wakes of a path.

    Shape (candidates, parameters) from holds (candidates,); `head`: the parameters before those of the groups.
    """
    count, start = len(edge_us), likelihood.common
    place = {key: start + number for number, key in enumerate(structure.names)}
    drawn = np.zeros((count, start + len(place)))
    drawn[:, :start] = head
    share = random.uniform(0.03, 0.97, size=count)
    for number, (group, mine) in enumerate(zip(structure.groups, (share, 1.0 - share), strict=True)):
        drawn[:, place[number, "hold_us"]] = edge_us + random.normal(size=count)
        drawn[:, place[number, "sleep_us"]] = standard_ts_us(likelihood) * random.uniform(0.95, 1.05, size=count)
        drawn[:, place[number, "wake_us"]] = mine * wakes_us / len(group.members)
    low, high = likelihood.bounds(structure)
    drawn[:, start:] = np.clip(drawn[:, start:], low + 1e-6, high - 1e-6)
    return drawn


def _walked(likelihood: Likelihood, top: Top, random: np.random.Generator) -> Top:
    """Follow a valley that the search has not reached the end of, by a walk."""
    for _ in range(_MOST_WALKS):
        sampler = _walk(likelihood, top, random, _CLIMB_STEPS)
        heights = sampler.get_log_prob(flat=True)
        chain = sampler.get_chain(flat=True)
        if float(heights.max()) <= top.height:
            break
        gained = float(heights.max()) - top.height
        last = sampler.get_last_sample()
        best = chain[int(np.argmax(heights))].copy()
        top = Top(top.structure, best, float(heights.max()), last.coords.copy(), last.log_prob.copy())
        if gained < 2.0:
            break
    return top


@dataclass(frozen=True, slots=True)
class Chain:
    """Draws from the posterior of a structure about its top, shape (draws, parameters), and their log posteriors."""

    structure: Structure
    thetas: Floats
    heights: Floats


def draws(likelihood: Likelihood, top: Top, random: np.random.Generator) -> Chain:
    """Draws from the posterior of a structure about its top."""
    sampler = _walk(likelihood, top, random, _BURN_IN + _DRAWN_STEPS)
    thetas: Floats = sampler.get_chain(discard=_BURN_IN, flat=True)
    heights: Floats = sampler.get_log_prob(discard=_BURN_IN, flat=True)
    return Chain(top.structure, thetas, heights)


def _walk(likelihood: Likelihood, top: Top, random: np.random.Generator, steps: int) -> "EnsembleSampler":
    import emcee  # noqa: PLC0415 - it loads all of scipy.stats, a second that only a search should wait for

    near = np.flatnonzero(top.heights > top.height - 12.0)
    order = near[np.argsort(-top.heights[near])]
    chosen = top.population[order[np.arange(_WALKERS) % len(order)]]
    width = np.maximum(np.std(top.population[order], axis=0), 1e-3 * np.maximum(np.abs(top.best), 1.0)) * 0.3
    walkers = chosen + random.normal(size=chosen.shape) * width
    heights = likelihood.log_probability(top.structure, walkers)
    poor = ~(heights > top.height - 40.0)
    for _ in range(30):
        if not poor.any():
            break
        width = width * 0.5
        walkers[poor] = top.best + random.normal(size=(int(poor.sum()), len(width))) * width
        heights = likelihood.log_probability(top.structure, walkers)
        poor = ~(heights > top.height - 40.0)
    sampler = emcee.EnsembleSampler(
        _WALKERS,
        walkers.shape[1],
        lambda thetas: likelihood.log_probability(top.structure, thetas),
        vectorize=True,
        moves=[(emcee.moves.StretchMove(), 0.4), (emcee.moves.DEMove(), 0.5), (emcee.moves.DEMove(gamma0=1.0), 0.1)],
    )
    sampler.random_state = np.random.RandomState(int(random.integers(2**31))).get_state()
    sampler.run_mcmc(walkers, steps, skip_initial_state_check=True)
    return sampler
