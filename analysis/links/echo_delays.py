"""Delays that a structure's sleeping transmitters add to echoes, and how likely round trips then are.

The walk is in the engine (`engine/echo_walk`), as a fit tries hundreds of thousands of candidates.

A burst keeps a host busy for as long as its bytes take. A switch is taken to store whole frames, so that its port sends
the last one up to a frame's time later than that: one that cuts through sends bursts as they come, and a hold fitted to
bursts of many sizes would err by some microseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Final

import numpy as np
from eee_engine import EchoWalk, error_densities
from numpy.typing import NDArray

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.probes import ECHO_WIRE_BYTE, Probes
from eee_testbed.analysis.links.sleep_path import SleepPath
from eee_testbed.analysis.links.structures import Structure

_FULL_FRAME_BYTE: Final = 1_538.0
"""A frame of 1,500 bytes of payload on the wire: bursts behind an echo consist of such frames."""


LEAST_LATE: Final = 0.016
"""The share of late echoes that is allowed for at least, judged: a probe that met none may meet some next time."""


@dataclass(frozen=True, slots=True)
class Lateness:
    """`share`: of echoes, those with a late frame. `again`: of those, the ones with another late frame."""

    share: float = LEAST_LATE
    again: float = LEAST_LATE


class EchoDelays:
    """The walk over one sequence of echoes on one path.

    `kept`: the echoes whose round trips count. `later_us`: how much later than the one before it each answer may have
    left the far host, beside what sleeping transmitters did, shape (echoes,). `late`: how often frames come late to
    their first switch, or are received late.
    """

    def __init__(
        self, probes: Probes, path: SleepPath, kept: NDArray[np.bool_], later_us: Floats, late: Lateness
    ) -> None:
        spacing = np.diff(probes.sent_us, prepend=np.nan)
        before = np.concatenate(([0.0], probes.burst_byte[:-1]))
        gaps = [spacing - before * transmitter.byte_us for transmitter in path]
        self._walk = EchoWalk(
            _view(np.array(gaps)),
            _view(probes.burst_byte),
            _view(np.array([transmitter.byte_us for transmitter in path])),
            [not transmitter.card for transmitter in path],
            _view(later_us),
            kept.tolist(),
            float(ECHO_WIRE_BYTE),
        )
        self._late = (late.share, late.again)

    def log_likelihood(
        self,
        structure: Structure,
        columns: Floats,
        left_us: Floats,
        noise_us: Floats,
        error_us: Floats,
        share: Floats,
        least: float,
    ) -> Floats:
        """Of candidates, shape (candidates,).

        `columns` are the groups' times (candidates, parameters), `left_us` round trips less the hosts' own time
        (candidates, kept). Scales of the errors of round trips and of gaps, and the share of `later_us` that delays
        answers: (candidates,). `least`: of the highest density, what that of one echo is at least.
        """
        scales = list(zip(noise_us.tolist(), error_us.tolist(), share.tolist(), repeat(least, len(share)), strict=True))
        likelihoods = self._walk.log_likelihood(
            _sleepers(structure), _view(columns), _view(left_us), scales, self._late
        )
        return np.array(likelihoods, dtype=np.float64)

    def of(self, structure: Structure, column: Floats, share: float = 0.0) -> Floats:
        """Delay of each echo under one candidate, shape (echoes,)."""
        return np.array(self._walk.delays_us(_sleepers(structure), column.tolist(), share), dtype=np.float64)


def densities_of_errors(left_us: Floats, noise_us: float) -> Floats:
    """Of errors of round trips without sleep (echoes,): on time, and with one late frame, shape (echoes, 2).

    As multiples of the highest density on time, whose scale is `noise_us`.
    """
    return np.array(error_densities(_view(left_us), noise_us), dtype=np.float64).reshape(-1, 2)


def _view(array: Floats) -> memoryview:
    return np.ascontiguousarray(array, dtype=np.float64).reshape(-1).data


@cache
def _sleepers(structure: Structure) -> Sequence[tuple[int, str, int]]:
    """(place, timing, column of its first time) of each transmitter that may sleep, in the order of the places."""
    first = {number: column for column, (number, _) in reversed(list(enumerate(structure.names)))}
    groups = enumerate(structure.groups)
    return tuple(sorted((place, group.timing, first[number]) for number, group in groups for place in group.members))


def behind_byte(wait_byte: Floats | float, burst_byte: Floats) -> Floats:
    """Bytes behind the echo of a burst until `wait_byte` have arrived, in whole frames."""
    frames = np.ceil(np.maximum(wait_byte - ECHO_WIRE_BYTE, 0.0) / _FULL_FRAME_BYTE)
    ahead_byte: Floats = np.minimum(frames * _FULL_FRAME_BYTE, burst_byte - ECHO_WIRE_BYTE)
    return ahead_byte
