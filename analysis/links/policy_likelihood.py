"""Candidates for a path's EEE policy, and their likelihood given echoes.

Errors are assumed to be Student-t with three degrees of freedom, so that late interrupts have little weight.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy.special import gammaln

from analysis.interval import Floats
from analysis.links.path_delay import Policy, echo_extra_us
from analysis.links.probes import Probes

Kind = Literal["off", "hold", "coalescing", "hybrid"]

FREEDOM: Final = 3.0
LEAST_NOISE_US: Final = 0.01
_LOG_T: Final = float(gammaln((FREEDOM + 1) / 2) - gammaln(FREEDOM / 2) - 0.5 * np.log(FREEDOM * np.pi))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate: names of its parameters after base and log noise, and the policies made from them.

    `card` makes that of the hosts' cards; None: they do not sleep.
    """

    names: tuple[str, ...]
    policy: Callable[[Mapping[str, Floats]], Policy]
    card: Callable[[Mapping[str, Floats]], Policy] | None = None

    def path(self, parameters: Mapping[str, Floats], sleepers: int) -> list[Policy]:
        """The transmitters that an echo passes; `sleepers` are the switches' ports, half of them in each direction."""
        port = self.policy(parameters)
        if self.card is None:
            return [port] * sleepers
        one_way = [self.card(parameters), *[port] * (sleepers // 2)]
        return [*one_way, *one_way]


Model = Literal["off", "hold", "coalescing", "hybrid", "cards"]
"""A kind; `cards` is a hold at ports and at cards."""

KINDS: Mapping[Model, Candidate] = {
    "off": Candidate((), lambda _: Policy(float("inf"), 0.0, 0.0)),
    "hold": Candidate(
        ("hold_us", "sleep_us", "wake_us"),
        lambda p: Policy(p["hold_us"], p["sleep_us"], p["wake_us"]),
    ),
    "coalescing": Candidate(
        ("hold_us", "sleep_us", "wake_us", "wait_us", "wait_byte"),
        lambda p: Policy(p["hold_us"], p["sleep_us"], p["wake_us"], wait_us=p["wait_us"], wait_byte=p["wait_byte"]),
    ),
    "hybrid": Candidate(
        ("hold_us", "sleep_us", "wake_us", "fast_wake_us", "deep_after_us"),
        lambda p: Policy(p["hold_us"], p["sleep_us"], p["wake_us"], p["fast_wake_us"], p["deep_after_us"]),
    ),
    "cards": Candidate(
        ("hold_us", "sleep_us", "wake_us", "card_hold_us", "card_sleep_us", "card_wake_us"),
        lambda p: Policy(p["hold_us"], p["sleep_us"], p["wake_us"]),
        lambda p: Policy(p["card_hold_us"], p["card_sleep_us"], p["card_wake_us"]),
    ),
}


class Likelihood:
    """The likelihood of parameters given a path's echoes."""

    def __init__(self, probes: Probes, sleepers: int, byte_us: float) -> None:
        self.probes = probes
        self.sleepers = sleepers
        self.byte_us = byte_us
        self.kept = probes.usable
        self.kept[np.flatnonzero(self.kept)[:1]] = False  # how long its predecessor waited is unknown
        self.rtt_us = probes.rtt_us[self.kept]
        self.gap_us = probes.gap_us[self.kept] - probes.burst_byte[np.flatnonzero(self.kept) - 1] * byte_us
        self.burst_byte = probes.burst_byte[self.kept]
        before_us = probes.rtt_us[np.flatnonzero(self.kept) - 1]
        self.rested_us = self.gap_us - np.nan_to_num(np.maximum(before_us - np.quantile(self.rtt_us, 0.02), 0.0))
        """Gaps less the estimated wait of the echo before: about how long the last transmitter was idle."""

        spread = np.ptp(self.rtt_us)
        self.bounds = {
            "hold_us": (0.0, float(self.gap_us.max())),
            "sleep_us": (0.0, float(self.gap_us.max())),
            "wake_us": (0.0, float(spread)),
            "fast_wake_us": (0.0, float(spread)),
            "deep_after_us": (0.0, float(self.gap_us.max())),
            "wait_us": (0.0, float(spread)),
            "card_hold_us": (0.0, float(self.gap_us.max())),
            "card_sleep_us": (0.0, float(self.gap_us.max())),
            "card_wake_us": (0.0, float(spread)),
            "wait_byte": (float(self.burst_byte.min()), float(self.burst_byte.max())),
        }

    def log_probability(self, kind: Model, thetas: Floats) -> Floats:
        """Log posterior of candidates, shape (candidates,) from (candidates, parameters)."""
        names = KINDS[kind].names
        parameters = {name: thetas[:, 2 + number, None] for number, name in enumerate(names)}
        base_us, log_noise = thetas[:, 0, None], thetas[:, 1, None]
        inside = (log_noise[:, 0] > np.log(LEAST_NOISE_US)) & (base_us[:, 0] > 0)
        for name, value in parameters.items():
            low, high = self.bounds[name]
            inside &= (value[:, 0] >= low) & (value[:, 0] <= high)
        extra = echo_extra_us(
            np.broadcast_to(self.probes.sent_us, (len(thetas), len(self.probes.sent_us))),
            base_us,
            KINDS[kind].path(parameters, self.sleepers),
            self.probes.burst_byte,
            self.byte_us,
        )[:, self.kept]
        scaled = (self.rtt_us - base_us - extra) * np.exp(-log_noise)
        log_density = -(FREEDOM + 1) / 2 * np.log1p(scaled * scaled / FREEDOM) - log_noise
        total: Floats = np.where(inside, log_density.sum(axis=1) + _LOG_T * len(self.rtt_us), -np.inf)
        return total
