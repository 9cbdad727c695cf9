"""How often frames of echoes come late to their first switch, or are late when they are received.

A host that is busy, or that polls its card, delays some of its frames by microseconds to some tens of them. Near a hold
that decides whether a transmitter slept, so the likelihood allows for it (`policy_likelihood`), as often as echoes with
EEE off show it. Their errors are those of frames on time and late ones together, each with the density that the
likelihood gives it; the scale of the errors on time and the share of the late ones are the likeliest.
"""

from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.echo_delays import LEAST_LATE, Lateness, densities_of_errors

_NOISES: Final = 24
_LEAST_NOISE: Final = 0.2
"""Of the scale of all errors, late ones among them, the least of those on time."""

_ROUNDS: Final = 60


def measured_lateness(left_us: Floats, noise_us: float) -> Lateness:
    """From errors of round trips without sleep, in the order in which the echoes left, shape (n,).

    `noise_us`: the scale of all of them. That a frame of an echo is late which has a late one already is taken to be as
    likely as for the echo after a late one: both were sent while the host was busy.
    """
    scales_us = noise_us * np.geomspace(_LEAST_NOISE, 1.0, _NOISES)
    _, late = max((_mixture(left_us, float(scale_us)) for scale_us in scales_us), key=lambda one: one[0])
    both = float((late[1:] * late[:-1]).sum())
    again = both / max(float(late[:-1].sum()), 1e-9)
    return Lateness(max(LEAST_LATE, float(late.mean())), min(max(LEAST_LATE, again), 1.0))


def _mixture(left_us: Floats, noise_us: float) -> tuple[float, Floats]:
    """The log-likelihood of a scale with its likeliest share of late echoes, and how likely each is late."""
    density = densities_of_errors(left_us, noise_us)
    share = 0.1
    for _ in range(_ROUNDS):
        parts = density * [1.0 - share, share]
        late = parts[:, 1] / parts.sum(axis=1)
        share = float(late.mean())
    height = np.log(density @ [1.0 - share, share]).sum() - len(left_us) * np.log(noise_us)
    return float(height), late
