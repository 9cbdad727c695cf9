"""The likelihood of a structure's parameters, given echoes on a path.

A round trip is the hosts' own time, which may rise with the gap before it (`host_rise`), plus the delays of sleeping
transmitters, plus an error. Errors are Student-t with three degrees of freedom, so that late interrupts have little
weight. Trials are compared at the level of their mean (`trial_levels`). The moment at which a frame reaches a
transmitter is uncertain by an error of the same size (`echo_delays`).

Parameters: base, log noise, weights of the terms of the hosts' rise, then, where there is a rise, the share of it that
delays the answer (the rest is the sender's own, after the answer came), then the groups' times.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Floats, Interval
from eee_testbed.analysis.links.echo_delays import EchoDelays
from eee_testbed.analysis.links.host_rise import HostRise, rest_us
from eee_testbed.analysis.links.probes import Probes
from eee_testbed.analysis.links.sleep_path import SleepPath
from eee_testbed.analysis.links.structures import TIMES, Structure
from eee_testbed.analysis.links.trial_levels import trial_offsets_us

LEAST_NOISE_US: Final = 0.01
_MOST_ERROR_US: Final = 10.0
_LEAST_WAKE_US: Final = 1.0
"""A second group that wakes faster is none: no hold could be found of it. 1000BASE-T has 16.5 us."""

_MOST_COST: Final = 10.0
"""Of one echo, where structures are compared. Up to one in a hundred meets a stray frame, which may have kept any
transmitter awake; its round trip is then anywhere within some hundreds of scales of the noise."""

_NORMAL_95: Final = 1.96
_KIND_DIFFERS: Final = 0.005
_ENTROPY: Final = 1.7735
"""Of a Student-t distribution with three degrees of freedom and a scale of 1."""


@dataclass(frozen=True, slots=True)
class Times:
    """What is known of a transmitter's times beforehand; microseconds."""

    hold_us: Interval
    sleep_us: Interval
    wake_us: Interval

    def log_prior(self, times: Mapping[str, Floats]) -> Floats:
        """Of candidates' times by name, shape (candidates, 1) each; normal on either side, with the intervals' widths.

        Echoes determine hold and Ts together better than each: of both deviations, which mostly are one, the larger
        counts. Simplification: transmitters of one kind are alike to within half a percent.
        """
        hold, sleep, wake = (_pull(times[name][:, 0], getattr(self, name)) for name in TIMES["deep"])
        return -0.5 * (np.maximum(hold, sleep) + wake)


def _pull(times_us: Floats, known: Interval) -> Floats:
    """How far times are from a known one, squared, in standard deviations of the side on which they are."""
    off_us = times_us - known.value
    width_us = np.where(off_us < 0, known.value - known.low, known.high - known.value)
    scale_us = np.hypot(width_us / _NORMAL_95, _KIND_DIFFERS * known.value)
    found: Floats = (off_us / scale_us) ** 2
    return found


@dataclass(frozen=True, slots=True)
class Known:
    """What other paths showed of a path's switches' ports, and of its hosts' cards; None: nothing."""

    ports: Times | None = None
    cards: Times | None = None

    def of(self, path: SleepPath, members: Iterable[int]) -> Times | None:
        """The times of transmitters of a path, if they are all ports, or all cards."""
        kinds = {path[place].card for place in members}
        return None if len(kinds) > 1 else self.cards if True in kinds else self.ports


class Likelihood:
    """The likelihood of parameters given a path's echoes, with what is known of the hosts' own time and the rest."""

    def __init__(self, probes: Probes, path: SleepPath, rise: HostRise, known: Known | None = None) -> None:
        self.probes = probes
        self.path = path
        self.rise = rise
        self.known = known
        kept = probes.usable
        kept[np.flatnonzero(kept)[:1]] = False  # how long its predecessor waited is unknown
        self.kept = kept
        self.rtt_us = (probes.rtt_us - trial_offsets_us(probes))[kept]
        first_byte_us = max((transmitter.byte_us for transmitter in path), default=0.0)
        self.gap_us = probes.gap_us[kept] - probes.burst_byte[np.flatnonzero(kept) - 1] * first_byte_us
        self.burst_byte = probes.burst_byte[kept]
        before_us = probes.rtt_us[np.flatnonzero(kept) - 1]
        self.rested_us = self.gap_us - np.nan_to_num(np.maximum(before_us - np.quantile(self.rtt_us, 0.02), 0.0))
        """Gaps less the estimated wait of the echo before: about how long the last transmitter was idle."""

        rest = np.nan_to_num(rest_us(probes), nan=float(np.nanmedian(rest_us(probes))))
        noise_us = rise.noise_us
        self.expected_height = len(self.rtt_us) * (-_ENTROPY - float(np.log(noise_us))) if noise_us > 0 else np.inf
        """About the log posterior of the truth, if the noise is that of the echoes with EEE off."""

        self.known_us = rise.mean(rest[kept])
        self._terms = rise.terms(rest[kept])
        later_us = np.diff(rise.mean(rest), prepend=0.0)
        later_us[0] = 0.0
        self._delays = EchoDelays(probes, path, kept, later_us, rise.late)
        self._rises = float(np.ptp(later_us)) > 0
        self._share = 2 + len(self._terms)
        self.common = self._share + self._rises
        """Number of parameters before those of the groups."""

        longest_us = float(self.gap_us.max())
        spread_us = float(np.ptp(self.rtt_us)) + float(rise.base_scale_us if np.isfinite(rise.base_scale_us) else 0.0)
        self._bounds = {
            "hold_us": longest_us,
            "sleep_us": longest_us,
            "wake_us": max(spread_us, float(np.quantile(self.rtt_us, 0.9))),
            "fast_wake_us": spread_us,
            "deep_after_us": longest_us,
            "wait_us": spread_us,
        }
        self._bursts = (float(self.burst_byte.min()), float(self.burst_byte.max()))
        self._bounds_of: dict[Structure, Floats] = {}

    def bounds(self, structure: Structure) -> Floats:
        """Lower and upper bounds of the groups' times, shape (2, parameters)."""
        if structure not in self._bounds_of:
            least = {"wake_us": _LEAST_WAKE_US} if len(structure.groups) > 1 else {}
            rows = [
                self._bursts if name == "wait_byte" else (least.get(name, 0.0), self._bounds[name])
                for _, name in structure.names
            ]
            self._bounds_of[structure] = np.array(rows, dtype=float).reshape(-1, 2).T
        return self._bounds_of[structure]

    def log_probability(
        self, structure: Structure, thetas: Floats, *, sharp: bool = False, forgiving: bool = False
    ) -> Floats:
        """Log posterior of candidates, shape (candidates,) from (candidates, parameters).

        `sharp`: as if gaps had no errors, which takes less time. `forgiving`: no echo costs more than `_MOST_COST`.
        """
        low, high = self.bounds(structure)
        columns = thetas[:, self.common :]
        with np.errstate(invalid="ignore"):
            inside = np.all((columns >= low) & (columns <= high), axis=1)
            for group in structure.split(columns):
                if "fast_wake_us" in group:  # else it is none
                    inside &= group["fast_wake_us"][:, 0] <= group["wake_us"][:, 0]
        inside &= thetas[:, 1] > np.log(LEAST_NOISE_US)
        if self._rises:
            inside &= (thetas[:, self._share] >= 0.0) & (thetas[:, self._share] <= 1.0)
        prior = self.rise.log_prior(thetas[:, 0], thetas[:, 2 : self._share]) + self.known_prior(structure, thetas)
        height = np.full(len(thetas), -np.inf)
        if inside.any():
            height[inside] = prior[inside]
            height[inside] += self._log_likelihood(structure, thetas[inside], sharp=sharp, forgiving=forgiving)
        return height

    def known_prior(self, structure: Structure, thetas: Floats) -> Floats:
        """What is known of the times of groups that are ports alone, or cards alone; shape (candidates,)."""
        total = np.zeros(len(thetas))
        if self.known is not None:
            for group, times in zip(structure.groups, structure.split(thetas[:, self.common :]), strict=True):
                if (known := self.known.of(self.path, group.members)) is not None:
                    total += known.log_prior(times)
        return total

    def _log_likelihood(self, structure: Structure, thetas: Floats, *, sharp: bool, forgiving: bool) -> Floats:
        left = self._without_hosts(thetas)
        noise_us = np.exp(thetas[:, 1])
        least = float(np.exp(-_MOST_COST)) if forgiving else 0.0
        error_us = np.zeros_like(noise_us) if sharp else np.minimum(noise_us, _MOST_ERROR_US)
        columns = thetas[:, self.common :]
        share = self._later_share(thetas)
        return self._delays.log_likelihood(structure, columns, left, noise_us, error_us, share, least)

    def residual_us(self, structure: Structure, theta: Floats) -> Floats:
        """Round trips less what one candidate explains, shape (echoes used,)."""
        share = float(self._later_share(theta[None])[0])
        delays = self._delays.of(structure, theta[self.common :], share)[self.kept]
        found: Floats = self._without_hosts(theta[None])[0] - delays
        return found

    def _without_hosts(self, thetas: Floats) -> Floats:
        """Round trips less the hosts' own time, shape (candidates, echoes used).

        Not a product of matrices, whose last digits depend on the processor (`host_rise`).
        """
        left: Floats = self.rtt_us - self.known_us - thetas[:, :1]
        for weights, term in zip(thetas[:, 2 : self._share].T, self._terms, strict=True):
            left -= weights[:, None] * term
        return left

    def _later_share(self, thetas: Floats) -> Floats:
        """The share of the rise that is the far host's."""
        return thetas[:, self._share] if self._rises else np.zeros(len(thetas))

    @property
    def terms(self) -> slice:
        """The columns of the weights of the rise's terms."""
        return slice(2, self._share)
