"""Run time of a program under a mode of its links: by the model fitted for the program, else by bounds.

Models in order of preference:

* ours, from gaps and policies, for any mode: rounds replayed (`programs.round_replay`), or the closed form
  (`analysis.programs.run_time`) if its held-out errors are smaller;
* Miwa's curve (2013, Eq. 3), only for the policy that it was fitted under;
* if neither was fitted: a round waits at least as long as in its slower direction, and at most twice the sum of both.
  This is an interval rather than an estimate, and a warning says so.

If a profile has no gaps, all of them are assumed to be the mean gap (Miwa's I), a weakness that the paper names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from eee_testbed.analysis.calibration import Calibration, MiwaTime, ProgramTime, RoundTime, WakeTime
from eee_testbed.analysis.interval import Floats, NotEnoughData
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.predict.asked_mode import AskedMode
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.what_if import WhatIf
from eee_testbed.analysis.programs.miwa import modelled_us
from eee_testbed.analysis.programs.profile import Direction, Profile
from eee_testbed.analysis.programs.round_replay import Replay
from eee_testbed.analysis.programs.run_time import Waits

_POINTS: Final = 8
_REPLICAS: Final = 4
"""Simulations for each draw; the value itself has as many as a fit."""


@dataclass(frozen=True, slots=True)
class GapTable:
    """All gaps of a program's links, by direction as the nodes see them; equal bins of all nodes are merged."""

    gap_us: Mapping[Direction, Floats]
    count: Mapping[Direction, Floats]
    link_count: int
    rounds: float
    assumed: bool
    """Whether all are the mean gap, as none were recorded."""

    @classmethod
    def of(cls, profile: Profile) -> "GapTable":
        """From a profile; without recorded gaps, every round has one gap of the mean length."""
        rounds = profile.call_count / profile.ranks_per_host
        directions: tuple[Direction, ...] = ("transmit", "receive")
        if not profile.gaps:
            idle_us = max(profile.idle_us * profile.ranks_per_host, 0.0)
            only = np.array([idle_us if np.isfinite(idle_us) else profile.base_s.value * 1e6])
            links = len(profile.hosts)
            count = np.array([max(rounds, 1.0) * links])
            return cls(dict.fromkeys(directions, only), dict.fromkeys(directions, count), links, rounds, assumed=True)
        gaps: dict[Direction, Floats] = {}
        counts: dict[Direction, Floats] = {}
        for direction in directions:
            bins: dict[tuple[float, float], float] = {}
            for node in profile.gaps.values():
                seen = node.transmit if direction == "transmit" else node.receive
                for low, high, number in zip(seen.low_us, seen.high_us, seen.count, strict=True):
                    bins[low, high] = bins.get((low, high), 0.0) + number
            edges = np.array(sorted(bins), dtype=float).reshape(-1, 2)
            places = (np.arange(_POINTS) + 0.5) / _POINTS
            gaps[direction] = (edges[:, :1] + (edges[:, 1:] - edges[:, :1]) * places).ravel()
            counts[direction] = np.repeat([bins[low, high] / _POINTS for low, high in edges.tolist()], _POINTS)
        return cls(gaps, counts, len(profile.gaps), rounds, assumed=False)

    @property
    def longest_us(self) -> float:
        """The longest gap of all."""
        return max(float(gaps.max(initial=0.0)) for gaps in self.gap_us.values())


@dataclass(frozen=True, slots=True)
class RunTime:
    """Draws of base and whole run time, seconds, shape (draws,)."""

    base_s: Floats
    time_s: Floats
    warnings: tuple[str, ...]

    @property
    def slowdown_percent(self) -> Floats:
        """In percent of the base."""
        return 100 * (self.time_s / self.base_s - 1)


def program_time(calibration: Calibration, profile: Profile) -> ProgramTime | None:
    """The models fitted for this program at this placement."""
    measured = profile.program, len(profile.hosts), profile.rank_count
    for model in calibration.run_time.values():
        if (model.program, model.node_count, model.rank_count) == measured:
            return model
    return None


def run_time(
    profile: Profile,
    gaps: GapTable,
    what_if: WhatIf,
    mode: AskedMode,
    fitted: ProgramTime | None,
    directions: tuple[Direction, ...],
    sampler: Sampler,
    replays: "Replays | None",
) -> RunTime:
    """Draws of the run time; `replays` are needed if replayed rounds were fitted."""
    base_s = sampler.of("base_s", profile.base_s)
    warnings: list[str] = []
    if profile.trial_count == 1:
        warnings.append("the run time without EEE is from a single trial: its error is unknown.")
    if not what_if.saves:
        return RunTime(base_s, base_s, tuple(warnings))
    if not gaps.rounds:
        warnings.append(
            f"{profile.name} does not say how often it communicates: its run time is assumed to be unchanged."
        )
        return RunTime(base_s, base_s, tuple(warnings))
    if gaps.assumed:
        warnings.append(
            "no gaps were recorded: all are assumed to be the mean gap, which can be far off near the hold."
        )
    model = None if fitted is None else better(fitted)
    if isinstance(model, RoundTime) and replays is not None:
        extra_us = _by_rounds(replays, gaps, mode, model, directions, sampler)
    elif fitted is not None and fitted.wakes is not None:
        extra_us = _by_wakes(gaps, mode, fitted.wakes, directions, sampler)
    elif fitted is not None and fitted.miwa is not None and what_if.mode == "measured" and not what_if.phy:
        extra_us = _by_miwa(profile, fitted.miwa, sampler) * profile.ranks_per_host
    else:
        warnings.append(
            f"no run-time model was fitted for {profile.program} on {len(profile.hosts)} nodes with "
            f"{profile.rank_count} ranks that covers this question: the interval goes from one sleeping link in a "
            "round to all links of a path in both directions."
        )
        extra_us = _by_bounds(gaps, mode, directions, sampler)
    return RunTime(base_s, base_s + gaps.rounds * extra_us * 1e-6, tuple(warnings))


def better(fitted: ProgramTime) -> RoundTime | WakeTime | None:
    """Which of our models to use: replayed rounds, unless the closed form's held-out errors are smaller."""
    rounds, wakes = fitted.rounds, fitted.wakes
    if rounds is None or wakes is None:
        return rounds or wakes
    if rounds.error is None or wakes.error is None:
        return rounds
    return wakes if wakes.error.mean_percent < rounds.error.mean_percent else rounds


def _of_draw(rows: Floats, draw: int) -> Floats:
    row: Floats = rows[draw if len(rows) > 1 else 0]
    return row


def seen_of_rounds(
    gaps: GapTable, mode: AskedMode, directions: tuple[Direction, ...], abreast: Floats, hidden_us: Floats
) -> tuple[Floats, Floats]:
    """(delay of a round by its slowest link, share of rounds that wait), each of shape (draws,)."""
    asked = mode.policies(directions).items()
    delays = np.concatenate([policy.delay_us(gaps.gap_us[direction][None, :]) for direction, policy in asked], axis=1)
    counts = np.concatenate([gaps.count[direction] for direction in directions])
    seen, share = np.zeros(abreast.size), np.zeros(abreast.size)
    for draw, number in enumerate(abreast):
        waits = Waits.of(_of_draw(delays, draw), counts, gaps.rounds * gaps.link_count)
        seen[draw] = waits.seen_us(float(number), float(hidden_us[draw]))
        share[draw] = min(float(waits.share[0]), 1.0) if waits.share.size else 0.0
    return seen, share


@dataclass(frozen=True, slots=True)
class Replays:
    """A program's rounds, replayed: few simulations for each draw, and as many as in a fit for the value itself."""

    few: Replay
    many: Replay

    @classmethod
    def of(cls, profile: Profile) -> "Replays | None":
        """None if the profile does not have all links' gaps."""
        try:
            return cls(Replay.of(profile, _REPLICAS), Replay.of(profile))
        except NotEnoughData:
            return None

    def waits_us(self, policies: Mapping[Direction, Policy]) -> Floats:
        """How long a round waits, shape (draws,)."""
        draws_us = self.few.overhead_us(policies)
        (middle_us,) = self.many.overhead_us({direction: policy.first for direction, policy in policies.items()})
        waits_us: Floats = np.maximum(draws_us + middle_us - draws_us[0], 0.0)
        return waits_us


def _with_residual(extra: Floats, residual_us: float, share: Floats | float, sampler: Sampler, name: str) -> Floats:
    """Add the model's residual, which varies between configurations, times the share of rounds that wait."""
    residual = sampler.normal(name) * residual_us
    residual[0] = 0.0
    with_residual: Floats = np.maximum(extra + residual * share, 0.0)
    return with_residual


def _by_rounds(
    replays: Replays,
    gaps: GapTable,
    mode: AskedMode,
    rounds: RoundTime,
    directions: tuple[Direction, ...],
    sampler: Sampler,
) -> Floats:
    _, share = seen_of_rounds(gaps, mode, directions, np.ones(sampler.count), np.zeros(sampler.count))
    waits_us = replays.waits_us(mode.policies(directions))
    extra = sampler.of("round_serial_count", rounds.serial_count) * waits_us
    return _with_residual(extra, rounds.residual_us, share, sampler, "residual_us")


def _by_wakes(
    gaps: GapTable, mode: AskedMode, wakes: WakeTime, directions: tuple[Direction, ...], sampler: Sampler
) -> Floats:
    abreast = np.maximum(sampler.of("abreast_count", wakes.abreast_count), 1.0)
    serial = sampler.of("serial_count", wakes.serial_count)
    seen, share = seen_of_rounds(gaps, mode, directions, abreast, sampler.of("hidden_us", wakes.hidden_us))
    return _with_residual(serial * seen, wakes.residual_us, share, sampler, "residual_us")


def _by_miwa(profile: Profile, fit: MiwaTime, sampler: Sampler) -> Floats:
    """f(I), Eq. 3, of each draw. As the parameters of a fit are correlated, only residual and plateau vary."""
    plateau = sampler.of("plateau_us", fit.plateau_us)
    shape = float(modelled_us(fit, profile.idle_us, plateau_us=1.0))
    return _with_residual(plateau * shape, fit.residual_us, shape > 0, sampler, "miwa_residual_us")


def _by_bounds(gaps: GapTable, mode: AskedMode, directions: tuple[Direction, ...], sampler: Sampler) -> Floats:
    """Between the wait of the slower direction, and twice the sum of both directions."""
    alone, none = np.ones(sampler.count), np.zeros(sampler.count)
    waits = [seen_of_rounds(gaps, mode, (direction,), alone, none)[0] for direction in directions]
    least, most = np.max(waits, axis=0), 2 * np.sum(waits, axis=0)
    between: Floats = least + (most - least) * sampler.uniform("bounds", 0.0, 1.0)
    return between
