"""Delays that a structure's sleeping transmitters add to echoes, for many candidates at once.

The same walk as `path_delay.echo_extra_us`, which the tests compare it with, but only over the echoes whose delay is
in question. An echo whose gap is below every hold waits for nothing; one whose gap is above everything waits for every
wake. Between both the delay depends on the echoes before.

`nodes`: the delays are computed for gaps that are shorter and longer by an error, too, as the moments at which frames
really left are known only to within the noise; near a hold that decides whether a transmitter slept.

Simplification: a burst keeps each transmitter busy for as long as its bytes take. A switch that stores whole frames
sends the last one later by up to a frame's time, so with bursts of many sizes holds err by some microseconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.interval import Floats
from analysis.links.probes import ECHO_WIRE_BYTE, Probes
from analysis.links.sleep_path import SleepPath
from analysis.links.structures import Structure, Timing

Places = NDArray[np.intp]

_MOST_ROUNDS = 100
_FULL_FRAME_BYTE = 1_538.0
"""A frame of 1,500 bytes of payload on the wire: bursts behind an echo consist of such frames."""

NODES: Final = (0.0, -1.2, 1.2, -4.0, 4.0)
"""Errors of a gap for which delays are computed, in scales of the noise: a rough rule for errors with long tails."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays of echoes: none of those `awake`, `plateau_us` (candidates, 1) of those `asleep`.

    `active_us`: of those `active`, shape (nodes, candidates, active): for gaps with the errors `NODES`, or as they are
    if all errors are 0.
    """

    asleep: Places
    plateau_us: Floats
    active: Places
    active_us: Floats


class EchoDelays:
    """The walk over one sequence of echoes on one path."""

    def __init__(self, probes: Probes, path: SleepPath) -> None:
        spacing = np.diff(probes.sent_us, prepend=np.nan)
        before = np.concatenate(([0.0], probes.burst_byte[:-1]))
        self._gap_us = [spacing - before * one.byte_us for one in path]
        self._least_us = np.min(self._gap_us, axis=0)
        self._most_us = np.max(self._gap_us, axis=0)
        self._burst_byte = probes.burst_byte
        self._byte_us = [one.byte_us for one in path]
        self._back = len(path) // 2

    def of(self, structure: Structure, columns: Floats, error_us: Floats, later_us: Floats | float = 0.0) -> Delays:
        """Delays for parameters of shape (candidates, parameters) and errors of the gaps of shape (candidates, 1).

        `later_us`: how much later than the one before it each answer left the far host, beside what sleeping
        transmitters did; (candidates, echoes) or 0.
        """
        times = structure.split(columns)
        group_of = {place: n for n, group in enumerate(structure.groups) for place in group.members}
        order = [(place, structure.groups[n].timing, times[n]) for place, n in sorted(group_of.items())]
        plateau = sum((one["wake_us"] for _, _, one in order), np.zeros((len(columns), 1)))
        later = np.zeros((1, len(self._most_us))) if isinstance(later_us, float) else later_us
        margin_us = float(error_us.max(initial=0.0)) * max(NODES) + float(np.abs(later).max(initial=0.0))
        awake, asleep = self._settled(structure, order, plateau, margin_us)
        active = np.flatnonzero(~(awake | asleep))
        place_of = np.full(len(awake), -1)
        place_of[active] = np.arange(active.size)
        before = place_of[active - 1]
        before = np.where(before >= 0, before, np.where(asleep[active - 1], active.size + 1, active.size))
        found = self._walk(order, active, before, error_us, later[:, active])
        return Delays(np.flatnonzero(asleep), plateau, active, found)

    def _settled(
        self,
        structure: Structure,
        order: Sequence[tuple[int, Timing, Mapping[str, Floats]]],
        plateau_us: Floats,
        margin_us: float,
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which echoes found everything awake, and which everything asleep, whatever the candidate."""
        nothing = np.zeros(len(self._most_us), dtype=bool)
        if not order:
            return ~nothing, nothing
        awake = ~(self._most_us + margin_us > min(float(times["hold_us"].min()) for _, _, times in order))
        if any(group.timing == "coalescing" for group in structure.groups):
            return awake, nothing
        reach_us = max(
            float((times["hold_us"] + times.get("sleep_us", 0.0) + times.get("deep_after_us", 0.0)).max())
            for _, _, times in order
        )
        wakes_us = float(plateau_us.max())
        lights_us = sum(float(times["fast_wake_us"].max()) for _, _, times in order if "fast_wake_us" in times)
        sleeps_us = sum(float(times["sleep_us"].max()) for _, _, times in order)
        late = self._least_us - margin_us - reach_us
        with np.errstate(invalid="ignore"):
            asleep = late >= max(wakes_us, lights_us) + sleeps_us
            for _ in range(2):
                before, quick = np.roll(asleep, 1), np.roll(awake, 1)
                asleep = asleep | (before & (late >= wakes_us)) | (quick & (late >= 0.0))
        asleep[0] = False
        return awake, asleep & ~awake

    def _walk(
        self,
        order: Sequence[tuple[int, Timing, Mapping[str, Floats]]],
        active: Places,
        before: Places,
        error_us: Floats,
        later_us: Floats,
    ) -> Floats:
        count, size = len(error_us), active.size
        nodes = NODES if error_us.any() else NODES[:1]
        burst = self._burst_byte[active]
        total, total_before = np.zeros((count, size)), np.zeros((count, size))
        sums = np.zeros((count, size + 2))  # the last columns: an echo that found all awake, one that found all asleep
        idles, sums_then = [], []
        for place, timing, times in order:
            own = np.zeros((count, size + 2))
            own[:, -1:] = times["wake_us"]
            spacing = self._gap_us[place][active] + total - total_before
            if place >= self._back:
                spacing = spacing + later_us
            own[:, :size] = _delay(timing, times, spacing, burst, self._byte_us[place])
            for _ in range(_MOST_ROUNDS):
                added = _delay(timing, times, spacing - own[:, before], burst, self._byte_us[place])
                if np.array_equal(added, own[:, :size]):
                    break
                own[:, :size] = added
            idles.append(spacing - own[:, before])
            sums_then.append(total)
            sums = sums + own
            total, total_before = sums[:, :size], sums[:, before]
        found = np.empty((len(nodes), count, size))
        found[0] = total
        for number, node in enumerate(nodes[1:], start=1):
            late = np.zeros((count, size))
            for (place, timing, times), idle, then in zip(order, idles, sums_then, strict=True):
                moved = idle + node * error_us + late - then
                late = late + _delay(timing, times, moved, burst, self._byte_us[place])
            found[number] = late
        return found


def _delay(
    timing: Timing,
    times: Mapping[str, Floats],
    idle_us: Floats,
    burst_byte: Floats,
    byte_us: float,
) -> Floats:
    """Delay of the first frame of a burst, as `path_delay.Policy.delay_us`, with only what this timing needs."""
    hold_us, wake_us = times["hold_us"], times["wake_us"]
    found: Floats
    if timing == "deep":
        found = np.where(idle_us > hold_us, np.maximum(hold_us + times["sleep_us"] - idle_us, 0.0) + wake_us, 0.0)
        return found
    if timing == "hybrid":
        deep_from = hold_us + times["deep_after_us"]
        deep = np.maximum(deep_from + times["sleep_us"] - idle_us, 0.0) + wake_us
        light = np.where(idle_us > hold_us, times["fast_wake_us"], 0.0)
        found = np.where(idle_us > deep_from, deep, light)
        return found
    filled_us = np.where(burst_byte < times["wait_byte"], np.inf, behind_byte(times["wait_byte"], burst_byte) * byte_us)
    waits = np.minimum(times["wait_us"], filled_us)
    late = np.maximum(hold_us + times["sleep_us"] - idle_us, waits) + wake_us
    found = np.where(idle_us > hold_us, late, 0.0)
    return found


def behind_byte(wait_byte: Floats | float, burst_byte: Floats) -> Floats:
    """Bytes behind the echo of a burst until `wait_byte` have arrived, in whole frames."""
    frames = np.ceil(np.maximum(wait_byte - ECHO_WIRE_BYTE, 0.0) / _FULL_FRAME_BYTE)
    found: Floats = np.minimum(frames * _FULL_FRAME_BYTE, burst_byte - ECHO_WIRE_BYTE)
    return found
