"""The times of a path's groups, from draws of every structure that the echoes do not rule out. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from eee_testbed.analysis.interval import Floats, Interval, of_samples
from eee_testbed.analysis.links.sleep_path import SleepPath
from eee_testbed.analysis.links.structures import TIMES, Structure

_TS_SPREAD: Final = 0.06
"""1000BASE-T's Ts is 182 to 202 us (IEEE 802.3 table 78-2)."""

_FAR_DISTANCE: Final = 16.0
_ZERO_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True)
class GroupFit:
    """Transmitters that sleep alike: their places on the path, and the times of each; microseconds.

    Times that the kind does not have are None.
    """

    members: tuple[int, ...]
    hold_us: Interval
    sleep_us: Interval
    wake_us: Interval
    fast_wake_us: Interval | None = None
    deep_after_us: Interval | None = None
    wait_us: Interval | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A structure's times: draws, shape (draws, times), and how far each can go, lowest and highest, (2, times)."""

    structure: Structure
    times_us: Floats
    reach_us: Floats

    def by_group(self) -> list[tuple[dict[str, Floats], dict[str, Floats]]]:
        """Draws and reach of each group, by name."""
        return list(zip(self.structure.split(self.times_us), self.structure.split(self.reach_us), strict=True))


def groups_of(
    path: SleepPath, drawn: Sequence[Drawn], rivals: Sequence[Drawn], standard_us: float, *, ordered: bool
) -> tuple[bool, tuple[GroupFit, ...]]:
    """Groups of the likeliest structure, the first, and whether the members are known.

    `drawn` are structures of its form: with two groups, intervals contain those of each. `rivals` are pairs that
    explain the echoes as well as the single group of `drawn`: its intervals contain theirs, too. `ordered`: the first
    group is known to be the first of each structure.
    """
    structure = drawn[0].structure
    pair = len(structure.groups) == 2
    each = [draw.by_group() for draw in drawn]
    which = ordered or (all(draw.structure == structure for draw in drawn) and known_members(path, structure))
    members = [group.members for group in structure.groups]
    if pair and not ordered:
        wakes = [[float(np.median(times["wake_us"])) for times, _ in groups] for groups in each]
        which = which and len({first > second for first, second in wakes}) == 1
        if not which:
            each = [
                pair_times if first >= second else pair_times[::-1]
                for pair_times, (first, second) in zip(each, wakes, strict=True)
            ]
            members = members if wakes[0][0] >= wakes[0][1] else members[::-1]
    weights = _standard([times for times, _ in each[0]], standard_us)
    intervals = [
        _group(places, [groups[number] for groups in each], weights, apart=pair)
        for number, places in enumerate(members)
    ]
    for rival in rivals:
        intervals = [_standing_for(group, rival) for group in intervals]
    return which, tuple(intervals)


def known_members(path: SleepPath, structure: Structure) -> bool:
    """Whether no other transmitters could be those of a single group."""
    if len(structure.groups) != 1:
        return True
    members = structure.groups[0].members
    others = [
        place for place, transmitter in enumerate(path) if transmitter.may_sleep is not False and place not in members
    ]
    return not others or all(path[place].may_sleep for place in members)


def _group(
    members: tuple[int, ...],
    columns: Sequence[tuple[Mapping[str, Floats], Mapping[str, Floats]]],
    weights: Floats,
    *,
    apart: bool,
) -> GroupFit:
    """One group from its draws and reaches in every structure; `weights` of the first one's draws choose the values."""
    first = columns[0][0]
    times = {
        name: _bounded([draws[name][:, 0] for draws, _ in columns], [reach[name][:, 0] for _, reach in columns], apart)
        for name in first
        if name != "wait_byte"
    }
    if times["hold_us"].low == 0.0:  # no echo shows where hold ends and Ts begins
        sums = [(draws["hold_us"] + draws["sleep_us"])[:, 0] for draws, _ in columns]
        longest_us = _bounded(sums, sums, apart).high
        times["sleep_us"] = Interval.about(times["sleep_us"].value, times["sleep_us"].low, longest_us)
    return GroupFit(
        members, **{name: _with_value(interval, first[name][:, 0], weights) for name, interval in times.items()}
    )


def _standing_for(group: GroupFit, rival: Drawn) -> GroupFit:
    """A single group with intervals that contain the times of both groups of a rival, too."""
    times: dict[str, Any] = {}
    for name in TIMES["deep"]:
        interval: Interval = getattr(group, name)
        others = [_bounded([draws[name][:, 0]], [reach[name][:, 0]], apart=True) for draws, reach in rival.by_group()]
        lowest, highest = min(interval.low for interval in others), max(interval.high for interval in others)
        times[name] = Interval(interval.value, min(interval.low, lowest), max(interval.high, highest))
    return replace(group, **times)


def _bounded(samples: Sequence[Floats], reaches: Sequence[Floats], apart: bool) -> Interval:  # noqa: FBT001
    """An interval of a time, which has no negative values; one that begins near 0 begins at 0.

    It contains how far the time can go. `apart`: it contains the interval of each of the samples, else that of all
    together and the reach of the first. The value is that of the first.
    """
    parts = [of_samples(sample) for sample in (samples if apart else [np.concatenate(samples)])]
    ends = np.concatenate(reaches if apart else reaches[:1])
    low = min(float(ends.min()), *(interval.low for interval in parts))
    high = max(float(ends.max()), *(interval.high for interval in parts))
    return Interval(parts[0].value, 0.0 if low < _ZERO_SHARE * high else low, high)


def _with_value(interval: Interval, values: Floats, weights: Floats) -> Interval:
    """An interval about the weighted median of values."""
    order = np.argsort(values)
    shares = np.cumsum(weights[order])
    value = float(values[order][int(np.searchsorted(shares, shares[-1] / 2))])
    return Interval.about(value, interval.low, interval.high)


def _standard(groups: Sequence[Mapping[str, Floats]], standard_us: float) -> Floats:
    """How near the groups' Ts are to the standard's, a weight for each draw.

    It chooses the value among those that the echoes do not tell apart; it does not narrow the interval. Where no draw
    is near, all weigh alike.
    """
    away = sum(((group["sleep_us"][:, 0] - standard_us) / (_TS_SPREAD * standard_us)) ** 2 for group in groups)
    density: Floats = np.exp(-0.5 * np.minimum(np.asarray(away, dtype=float), _FAR_DISTANCE))
    return density
