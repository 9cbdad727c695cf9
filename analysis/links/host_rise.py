"""The hosts' own round-trip time by the gap before it, without any sleeping link.

After a pause a host is slower: caches are cold, its processor was in an idle state. Echoes with EEE off, on the same
path, show this rise, whatever its form: a line over the logarithm of the gap with as many knots as the echoes justify,
and one step where a processor's idle state sets in. Its mean, and the directions in which it is uncertain, go into the
likelihood of the echoes with EEE on. Between both measurements the base may drift, and the rise by a factor: how cold a
cache is depends on what else the machine did, so that round trips drift together for many echoes. The scatter of both
is estimated from stretches of the echoes with EEE off, that of the base also from the trials with EEE on. Base and rise
drift by a fraction of the noise at least; where the base drifts by more, so may the rise: such echoes may show none
where there is one.

Without such echoes the rise is unknown; a straight line over the logarithm of the gap is allowed for.

Products of matrices differ in their last digits from processor to processor. Draws from a posterior would make other
policies of that, so what was measured is rounded to a picosecond.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.echo_delays import Lateness
from eee_testbed.analysis.links.late_frames import measured_lateness
from eee_testbed.analysis.links.probes import Probes

_KNOTS: Final = (1, 2, 3, 5, 8, 12)
_KNOTS_BY_STEP: Final = (1, 3, 5)
_ROUNDS: Final = 40
_FREEDOM: Final = 3.0
_STEPS: Final = 40
_STEP_GAIN: Final = 20.0
_DRIFT: Final = 0.3
_RISE_DRIFT: Final = 0.6
"""Of the noise, the least standard deviation of the rise after the longest gaps, between echoes with EEE on and off.
Judged by pairs of trials in a lab at a tenth of real time: 0.3 us in 17 pairs, where the noise was 0.5 us."""

_MOST_TERMS: Final = 4
_STRETCH: Final = 50
_LEAST_STRETCHES: Final = 4
_LEAST_REST_US: Final = 1.0
_DIGITS_US: Final = 6
_DIGITS: Final = 9
"""Decimals that are kept of times, and of shares."""


@dataclass(frozen=True, slots=True)
class HostRise:
    """Mean by log gap at `knots`, and the terms in which it is uncertain (each with a standard normal weight).

    `noise_us` is the scale of the errors; `late` how often frames come later than that; `base_scale_us` the standard
    deviation of the base about the mean: infinite without echoes with EEE off.
    """

    base_scale_us: float
    knots: Floats
    heights_us: Floats
    directions_us: Floats
    step_us: float = field(default=0.0)
    step_gap_us: float = field(default=np.inf)
    noise_us: float = 0.0
    late: Lateness = field(default_factory=Lateness)
    echo_count: int = 0

    @property
    def known(self) -> bool:
        """Whether it was measured."""
        return self.echo_count > 0

    def mean(self, gap_us: Floats) -> Floats:
        """The mean rise, shape (n,)."""
        heights_us: Floats = np.interp(np.log(gap_us), self.knots, self.heights_us)
        return heights_us + self.step_us * (gap_us > self.step_gap_us)

    def terms(self, gap_us: Floats) -> Floats:
        """One standard deviation in each uncertain direction, shape (directions, n)."""
        place = np.log(gap_us)
        return np.array([np.interp(place, self.knots, direction_us) for direction_us in self.directions_us]).reshape(
            -1, len(place)
        )

    def log_prior(self, base_us: Floats, weights: Floats) -> Floats:
        """Log prior of the base and the weights of the terms, shape (candidates,)."""
        scaled = base_us / self.base_scale_us
        log_density: Floats = -0.5 * (scaled * scaled + (weights * weights).sum(axis=1))
        return log_density


def unknown_rise(probes: Probes) -> HostRise:
    """Nothing is known: any base, and a rise or fall that is of the size of the median deviation of round trips."""
    gap_us, rtt_us = _used(probes)
    ends = np.log(np.quantile(gap_us, [0.0, 1.0]))
    noise_us = float(np.median(np.abs(rtt_us - np.median(rtt_us))))
    return HostRise(np.inf, ends, np.zeros(2), np.array([[-1.0, 1.0]]) * max(noise_us, 1e-3))


def measured_rise(awake: Probes, trials_differ_us: float = 0.0) -> HostRise:
    """From echoes with EEE off; the number of knots, and whether there is a step, by the information criterion.

    `trials_differ_us`: the standard deviation of hosts' own times between trials with EEE on.
    """
    gap_us, rtt_us = _used(awake)
    place = np.log(gap_us)
    best = min((_fit(place, rtt_us, knots, None) for knots in _KNOTS), key=lambda line: line.cost)
    edges = np.unique(np.quantile(place, np.linspace(0.02, 0.98, _STEPS)))
    roughly = ((_fit(place, rtt_us, knots, edge, rounds=6), knots) for knots in _KNOTS_BY_STEP for edge in edges)
    stepped, knots = min(roughly, key=lambda pair: pair[0].cost)
    if stepped.edge is not None:
        near = place[np.argsort(np.abs(place - stepped.edge))[: len(place) // _STEPS]]
        finer = np.quantile(near, np.linspace(0.0, 1.0, _STEPS // 2))
        stepped = min((_fit(place, rtt_us, knots, edge) for edge in finer), key=lambda line: line.cost)
    if stepped.cost < best.cost - _STEP_GAIN:
        best = stepped
    count = len(best.knots)
    covariance = best.covariance[:count, :count]
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1][:_MOST_TERMS]
    directions = _upwards((vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))).T)
    at, heights_us = best.knots, best.solution[:count]
    if count == 1:  # a line may be needed for what drifts
        at, heights_us = np.array([place.min(), place.max()]), np.repeat(heights_us, 2)
        directions = np.repeat(directions, 2, axis=1)
    line_us = best.at(place)
    left_us = rtt_us - line_us
    scatter = _scatter(line_us - line_us.min(), left_us, best.noise_us)
    base_scatter_us = max(_scatter(np.ones_like(line_us), left_us, best.noise_us), trials_differ_us)
    ramp = np.interp(at, [place.min(), place.max()], [0.0, 1.0])
    drift_us = scatter * (heights_us - heights_us.min()) + max(base_scatter_us, _RISE_DRIFT * best.noise_us) * ramp
    directions = np.vstack((directions[: _MOST_TERMS - 1], drift_us))
    step_us = float(best.solution[count]) if best.edge is not None else 0.0
    step_gap_us = float(np.exp(best.edge)) if best.edge is not None else np.inf
    late = measured_lateness(left_us, best.noise_us)
    return HostRise(
        round(max(_DRIFT * best.noise_us, base_scatter_us, 1e-3), _DIGITS_US),
        at,
        np.round(heights_us, _DIGITS_US),
        np.round(directions, _DIGITS_US),
        round(step_us, _DIGITS_US),
        step_gap_us,
        round(best.noise_us, _DIGITS_US),
        Lateness(round(late.share, _DIGITS), round(late.again, _DIGITS)),
        len(gap_us),
    )


def _upwards(directions: Floats) -> Floats:
    """Each with a positive largest part: which sign an eigenvector has is the processor's choice."""
    largest = np.take_along_axis(directions, np.argmax(np.abs(directions), axis=1)[:, None], axis=1)
    return np.where(largest < 0, -directions, directions)


def rest_us(probes: Probes) -> Floats:
    """Time from the last answer to each echo, in which the hosts rested; shape (n,), NaN where there was none.

    An echo that left before the last answer came (`--since echo`) left hosts no rest: the least time that counts.
    """
    rested: Floats = np.maximum(probes.gap_us - np.concatenate(([np.nan], probes.rtt_us[:-1])), _LEAST_REST_US)
    return rested


def _used(probes: Probes) -> tuple[Floats, Floats]:
    kept = probes.usable & np.isfinite(rest_us(probes))
    return rest_us(probes)[kept], probes.rtt_us[kept]


def _scatter(rise_us: Floats, left_us: Floats, noise_us: float) -> float:
    """The standard deviation of the factor of a rise between stretches of echoes; 0 if chance explains it.

    `left_us`: what the mean rise leaves of each round trip, in the order in which the echoes left.
    """
    stretches = len(rise_us) // _STRETCH
    if stretches < _LEAST_STRETCHES:
        return 0.0
    weights = (_FREEDOM + 1) / (_FREEDOM + (left_us / noise_us) ** 2)
    parts = np.array_split(np.arange(len(rise_us)), stretches)
    squares = rise_us * rise_us
    power = np.array(
        [[float((weight * squares)[part].sum()) for part in parts] for weight in (np.ones_like(weights), weights)]
    )
    if not power.all():
        return 0.0
    factors = np.array([float((weights * rise_us * left_us)[part].sum()) for part in parts]) / power[1]
    by_chance = noise_us**2 * (_FREEDOM + 3) / (_FREEDOM + 1) * float((1.0 / power[0]).mean())
    beyond = float(factors.var(ddof=1)) - by_chance
    return float(np.sqrt(beyond)) if beyond > by_chance * np.sqrt(2 / (stretches - 1)) else 0.0


@dataclass(frozen=True, slots=True)
class _Line:
    knots: Floats
    solution: Floats
    covariance: Floats
    noise_us: float
    cost: float
    edge: float | None

    def at(self, place: Floats) -> Floats:
        """The mean at logarithms of gaps."""
        heights: Floats = np.interp(place, self.knots, self.solution[: len(self.knots)])
        return heights if self.edge is None else heights + self.solution[-1] * (place > self.edge)


def _fit(place: Floats, rtt_us: Floats, knots: int, edge: float | None, rounds: int = _ROUNDS) -> _Line:
    """A line with knots midway between quantiles and even steps, by iterated weights of a Student-t distribution."""
    shares = np.linspace(0.0, 1.0, max(knots, 2))
    between = (np.quantile(place, shares) + np.quantile(place, [0.0, 1.0]) @ [1 - shares, shares]) / 2
    at = np.unique(between) if knots > 1 else place[:1]
    columns = [np.interp(place, at, unit) for unit in np.eye(len(at))] if len(at) > 1 else [np.ones_like(place)]
    if edge is not None:
        columns.append((place > edge).astype(float))
    design = np.column_stack(columns)
    weights = np.ones_like(rtt_us)
    solution: Floats = np.zeros(design.shape[1])
    noise2 = 1.0
    for _ in range(rounds):
        scaled = design * weights[:, None]
        normal = scaled.T @ design + 1e-9 * np.eye(design.shape[1])
        then = solution
        solution = np.asarray(np.linalg.solve(normal, scaled.T @ rtt_us), dtype=float)
        left = rtt_us - design @ solution
        noise2 = max(float((weights * left * left).mean()), 1e-6)
        weights = (_FREEDOM + 1) / (_FREEDOM + left * left / noise2)
        if np.allclose(then, solution, atol=1e-4):
            break
    height = float(-(_FREEDOM + 1) / 2 * np.log1p(left * left / noise2 / _FREEDOM).sum()) - 0.5 * len(rtt_us) * np.log(
        noise2
    )
    # The information of a Student-t location is (f + 1) / (f + 3) / scale^2 an observation.
    covariance = (
        np.linalg.inv(design.T @ design + 1e-9 * np.eye(design.shape[1])) * noise2 * (_FREEDOM + 3) / (_FREEDOM + 1)
    )
    parameters = design.shape[1] + (1 if edge is not None else 0)
    cost = parameters * float(np.log(len(rtt_us))) - 2 * height
    return _Line(at, solution, np.asarray(covariance, dtype=float), float(np.sqrt(noise2)), cost, edge)
