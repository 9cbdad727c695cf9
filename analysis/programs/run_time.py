"""Our model of run time under EEE: from the distribution of a program's gaps and the policy of the links that sleep.

It removes known weaknesses of Miwa's model (2013), which takes all gaps to be the mean gap. Here every gap that was
recorded on a node's link without EEE has the delay that the link's policy gives it, with hold, Ts and Tw as fitted to
probes; a gap that ends within Ts waits for its rest. As gaps are recorded on the link, ranks of one node that call
together share them, and time inside MPI is not a gap as such. In a round (all ranks communicate once), with the share
S(x) of gaps that wait longer than x, averaged over the links,

    T = T_base + rounds * serial * integral over x of [1 - (1 - min(S, 1))^abreast + max(S - 1, 0)] * [x > hidden] dx

`abreast` links wake in parallel, and the round waits for the slowest; this happens `serial` times in series. Several
gaps of a round in which the link sleeps add up. A link is woken by the first frame, while the round ends with the last
one: a wait is hidden as far as it passes in between, up to `hidden`. These three are fitted. They depend on the
program's pattern and placement, not on sizes, sleep times or policies: a fit at one hold predicts another.

Simplifications: the gaps are those without EEE. A link that waited less in one round is idle for longer before the
next, so near the hold more links sleep; a recording with EEE would show it. Links that wake in parallel are assumed to
sleep independently of each other. `analysis.programs.round_replay` models both effects.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eee_testbed.analysis.calibration import RunTimeError
from eee_testbed.analysis.interval import Floats, Interval, NotEnoughData
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.programs.profile import Direction, Profile

_LEAST_RUNS: Final = 8
_MOST_SERIAL: Final = 64.0
_HIDDEN_US: Final = (0.1, 1000.0)
_SEARCH: Final = {"xatol": 1e-3, "fatol": 1e-12, "maxiter": 80}
_BOOTSTRAPS: Final = 100
_POINTS: Final = 16
_LEAST_WAIT_US: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Waits:
    """How long gaps would wait: S(x) as a step function.

    `step_us` and `share` have shape (n,): S is share[i] over a stretch of step_us[i].
    """

    step_us: Floats
    share: Floats

    @classmethod
    def of(cls, delays_us: Floats, counts: Floats, rounds_by_links: float) -> "Waits":
        """From each gap's delay and count; `rounds_by_links` is the number of rounds times that of links."""
        sleepy = delays_us > _LEAST_WAIT_US
        order = np.argsort(delays_us[sleepy])
        rising = delays_us[sleepy][order]
        longer = counts[sleepy][order][::-1].cumsum()[::-1] / rounds_by_links
        return cls(np.diff(rising, prepend=0.0), longer)

    def seen_us(self, abreast: float, hidden_us: float) -> float:
        """By how much a round's wait for the slowest of so many links delays it, on average; microseconds.

        Every second gap waits for 60 us. A round that waits for one link is delayed by half of that, one that waits for
        the slower of two by three quarters; a wait of which 20 us are hidden counts 40 us.

        >>> waits = Waits.of(np.array([0.0, 60.0]), np.array([1.0, 1.0]), rounds_by_links=2.0)
        >>> waits.seen_us(1, 0.0), waits.seen_us(2, 0.0), waits.seen_us(1, 20.0)
        (30.0, 45.0, 20.0)
        """
        return self.curve.seen_us(abreast, hidden_us)

    @property
    def curve(self) -> "_Curve":
        """The same, with what does not depend on what is fitted computed once."""
        awake, several = 1.0 - np.minimum(self.share, 1.0), np.maximum(self.share - 1.0, 0.0)
        return _Curve(self.step_us.cumsum(), awake, several)


@dataclass(frozen=True, slots=True)
class _Curve:
    """Waits up to each step, the share of rounds in which a link does not wait so long, and of further gaps in one."""

    waits_us: Floats
    awake: Floats
    several: Floats

    def seen_us(self, abreast: float, hidden_us: float) -> float:
        """As `Waits.seen_us`."""
        together = 1.0 - self.awake**abreast + self.several
        seen_us = np.maximum(self.waits_us - hidden_us, 0.0)
        seen_us[1:] -= seen_us[:-1].copy()
        return float(together @ seen_us)


@dataclass(frozen=True, slots=True)
class WakeRun:
    """One configuration: run time without EEE, rounds, how long its gaps would wait; run time with EEE, if measured."""

    base_s: float
    rounds: float
    waits: Waits
    eee_s: float = float("nan")
    links: int = 64


def wake_run(profile: Profile, policies: Mapping[Direction, Policy], eee_s: float = float("nan")) -> WakeRun:
    """From a program's profile and the policies of the directions that sleep.

    NotEnoughData if the profile has no gaps, or does not say how often the program communicates.
    """
    rounds = profile.call_count / profile.ranks_per_host
    if not profile.gaps or not rounds:
        raise NotEnoughData(
            f"{profile.name} has no gaps or no count of communications: run it with the gap recorder, without EEE."
        )
    delays: list[Floats] = [np.empty(0)]
    counts: list[Floats] = [np.empty(0)]
    for node in profile.gaps.values():
        for direction, policy in policies.items():
            gaps = node.transmit if direction == "transmit" else node.receive
            gap_us, count = gaps.spread(_POINTS)
            delays.append(policy.delay_us(gap_us))
            counts.append(count)
    links = len(profile.gaps)
    waits = Waits.of(np.concatenate(delays), np.concatenate(counts), rounds * links)
    return WakeRun(profile.base_s.value, rounds, waits, eee_s, links)


@dataclass(frozen=True, slots=True)
class WakeFit:
    """The parameters with 95 % intervals (bootstrap over configurations).

    `residual_us` is the standard deviation of a round's overhead about the model; `explained` is R2 of the overheads.
    """

    serial: Interval
    abreast: Interval
    hidden_us: Interval
    residual_us: float
    explained: float
    runs: int

    def time_s(self, run: WakeRun) -> float:
        """Run time under EEE."""
        return run.base_s + overhead_s(run, self.serial.value, self.abreast.value, self.hidden_us.value)


def overhead_s(run: WakeRun, serial: float, abreast: float, hidden_us: float) -> float:
    """How much longer a run takes with EEE."""
    return run.rounds * serial * run.waits.seen_us(abreast, hidden_us) * 1e-6


def fit_wakes(runs: Iterable[WakeRun], *, bootstraps: int = _BOOTSTRAPS) -> WakeFit:
    """Least squares of the relative errors of run times. Without `bootstraps`, intervals have no width.

    NotEnoughData with fewer than eight configurations, or if no gap of any of them is long enough to sleep in: the
    data would not determine `serial`.
    """
    measured = [run for run in runs if np.isfinite(run.eee_s)]
    if len(measured) < _LEAST_RUNS:
        raise NotEnoughData(
            f"{len(measured)} configurations with and without EEE are too few for three parameters: measure at least "
            f"{_LEAST_RUNS}, with gaps on both sides of the hold."
        )
    if not any(run.waits.share.size for run in measured):
        raise NotEnoughData("no gap of any configuration is longer than the hold: sleep longer between communications.")
    wakes = _least(measured)
    random = np.random.default_rng(0)
    drawn: list[_Found] = [] if bootstraps else [wakes]
    while len(drawn) < bootstraps:
        chosen = [measured[number] for number in random.integers(len(measured), size=len(measured))]
        if any(run.waits.share.size for run in chosen):
            drawn.append(_least(chosen, start=wakes))
    lows, highs = np.percentile(np.array(drawn), (2.5, 97.5), axis=0)
    over_us = np.array([(run.eee_s - run.base_s) / run.rounds * 1e6 for run in measured])
    left_us = over_us - [overhead_s(run, *wakes) / run.rounds * 1e6 for run in measured]
    spread = float(((over_us - over_us.mean()) ** 2).sum())
    serial, abreast, hidden_us = (
        Interval.about(value, low, high) for value, low, high in zip(wakes, lows, highs, strict=True)
    )
    return WakeFit(
        serial,
        abreast,
        hidden_us,
        float(np.sqrt((left_us**2).sum() / (len(measured) - len(wakes)))),
        1.0 - float((left_us**2).sum()) / spread if spread > 0 else 0.0,
        len(measured),
    )


_Found = tuple[float, float, float]


def _least(runs: Sequence[WakeRun], start: _Found | None = None) -> _Found:
    """Search `abreast` and `hidden` from a grid or `start`; the best `serial` for any two of them is a quotient."""
    from scipy.optimize import minimize  # noqa: PLC0415 - who reads a fit does not wait for optimizers

    slowdowns = np.array([1.0 - run.base_s / run.eee_s for run in runs])
    distinct = list({id(run): run for run in runs}.values())  # a bootstrap draws some runs several times
    places = {id(run): number for number, run in enumerate(distinct)}
    order = [places[id(run)] for run in runs]
    curves = [(run.rounds, run.waits.curve, run.eee_s) for run in distinct]
    lowest = np.log([1.0, _HIDDEN_US[0]])
    highest = np.log([max([1, *(run.links for run in runs)]), _HIDDEN_US[1]])

    def error_of(point: Floats) -> tuple[float, float]:
        """Sum of squares, and the best serial."""
        abreast, hidden_us = (float(parameter) for parameter in np.exp(np.clip(point, lowest, highest)))
        each = [rounds * curve.seen_us(abreast, hidden_us) * 1e-6 / eee_s for rounds, curve, eee_s in curves]
        shape = np.array(each)[order]
        norm = float(shape @ shape)
        serial = min(max(float(shape @ slowdowns) / norm, 0.0), _MOST_SERIAL) if norm > 0 else 0.0
        left = slowdowns - serial * shape
        return float(left @ left), serial

    if start is None:
        abreasts, hiddens = (np.linspace(low, high, 8) for low, high in zip(lowest, highest, strict=True))
        grid = [np.array([abreast, hidden]) for abreast in abreasts for hidden in hiddens]
        first = min(grid, key=lambda point: error_of(point)[0])
    else:
        first = np.log(start[1:])
    best = minimize(lambda point: error_of(point)[0], first, method="Nelder-Mead", options=_SEARCH).x
    abreast, hidden_us = np.exp(np.clip(best, lowest, highest))
    return error_of(best)[1], float(abreast), float(hidden_us)


def errors_of(estimated_s: Sequence[float], measured_s: Sequence[float]) -> RunTimeError:
    """Mean and worst absolute relative error of runs that were not fitted (Miwa 2013, section 5.2.2).

    ValueError without any run.
    """
    if not len(estimated_s) == len(measured_s) > 0:
        raise ValueError("errors need as many estimated as measured run times, at least one")
    away = 100 * np.abs(np.asarray(estimated_s) / np.asarray(measured_s) - 1.0)
    return RunTimeError(
        mean_percent=float(away.mean()),
        worst_percent=float(away.max()),
        configuration_count=len(away),
        held_out=True,
    )
