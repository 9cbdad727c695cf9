"""Symptoms of faulty EEE that users report, found in echoes and counters, as sentences.

* A flap: no echo returns for a while, then all of them do (MT7530 and others: two to three seconds).
* Loss after idle: echoes are lost after long gaps only; error counters stay at zero.
* EEE at one end only: one end requests LPI, or reports EEE as active, and the other end cannot.

A symptom is reported if it is statistically significant; what was not tried (long gaps) is not reported on.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.probes import Ints, Probes

_FLAP_S: Final = 0.3
_FLAP_ECHOES: Final = 3
_CHANCE: Final = 1e-3
_LEAST_EACH: Final = 30
_MOST_EDGES: Final = 60
_LEAST_LPI_EVENTS: Final = 3


def symptoms_of(probes: Probes) -> tuple[str, ...]:
    """Sentences about flaps and loss after idle; empty if the path has neither."""
    symptoms = [*_flaps(probes)]
    after_idle = _loss_after_idle(probes)
    return tuple([*symptoms, after_idle] if after_idle else symptoms)


def _outages(probes: Probes) -> list[tuple[int, int]]:
    """Ranges [first, end) of lost echoes that are long both in echoes and in time."""
    lost = np.isnan(probes.rtt_us)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], lost, [False])).astype(int)))
    return [
        (int(first), int(end))
        for first, end in zip(edges[::2], edges[1::2], strict=True)
        if end - first >= _FLAP_ECHOES and _lasted_s(probes, int(first), int(end)) >= _FLAP_S
    ]


def _lasted_s(probes: Probes, first: int, end: int) -> float:
    """From the first lost echo to the next one that was answered, or the last one."""
    until = min(end, len(probes.sent_us) - 1)
    return float(probes.sent_us[until] - probes.sent_us[first]) / 1e6


def _flaps(probes: Probes) -> list[str]:
    outages = _outages(probes)
    if not outages:
        return []
    lasted = max(_lasted_s(probes, *outage) for outage in outages)
    times = "once" if len(outages) == 1 else f"{len(outages)} times"
    what = f"the path was dead {times}, for up to {lasted:.1f} s, as if a link had gone down"
    return [f"{what}: check for carrier changes, and try again with EEE off."]


def _loss_after_idle(probes: Probes) -> str:
    """A sentence on the gap above which echoes are lost more often than by chance; empty if they are not."""
    dead = np.zeros(len(probes.sent_us), dtype=bool)
    for first, end in _outages(probes):
        dead[first:end] = True
    kept = ~dead
    kept[0] = False
    gap_us, lost = probes.gap_us[kept], np.isnan(probes.rtt_us[kept])
    if gap_us.size < 2 * _LEAST_EACH or not lost.any():
        return ""
    order = np.argsort(gap_us)
    fewer = np.unique(np.linspace(_LEAST_EACH, gap_us.size - _LEAST_EACH, _MOST_EDGES).astype(int))
    lost_before = np.cumsum(lost[order])[fewer - 1]
    after, lost_after = gap_us.size - fewer, lost.sum() - lost_before
    # Fisher's exact test: the probability of so many of all losses among the echoes after longer gaps.
    chances = at_least(lost_after, gap_us.size, int(lost.sum()), after)
    best = int(np.argmin(chances))
    if float(chances[best]) * len(fewer) > _CHANCE:
        return ""
    edge = float(gap_us[order][fewer[best] - 1])
    share, otherwise = lost_after[best] / after[best], lost_before[best] / fewer[best]
    return (
        f"after gaps above {edge:.0f} us {100 * share:.1f} % of the echoes are lost, after shorter ones "
        f"{100 * otherwise:.1f} %: the link loses the frame that wakes it; try again with EEE off."
    )


@dataclass(frozen=True, slots=True)
class EndView:
    """What one end of a link reports: whether EEE is on and active, and LPI counts, if it has counters."""

    end: str
    on: bool
    active: bool | None = None
    sent_lpi_count: int | None = None
    received_lpi_count: int | None = None


@dataclass(frozen=True, slots=True)
class LinkView:
    """Which ends' transmitters sleep (None: unknown), and symptoms of the link."""

    sleeping: tuple[bool | None, bool | None]
    symptoms: tuple[str, ...]


def compare_ends(first: EndView, second: EndView) -> LinkView:
    """Compare what both ends report; a receiver's count is that of the other end's transmitter."""
    ends = (first, second)
    sleeping = (_sleeps(first, second), _sleeps(second, first))
    symptoms = []
    for own, other in ((first, second), (second, first)):
        if own.active and other.active is False:
            symptoms.append(
                f"EEE is active at {own.end} and not at {other.end}: one side only; switch it off at both ends."
            )
        if own.on and not other.on:
            symptoms.append(f"EEE is on at {own.end} and off at {other.end}: set both ends alike.")
    if all(end.on for end in ends) and sorted(map(str, sleeping)) == ["False", "True"]:
        which, idle = (first, second) if sleeping[0] else (second, first)
        symptoms.append(
            f"EEE is on at both ends, but only {which.end} ever asks for low power: {idle.end} has no LPI in its MAC, "
            "or its hold is longer than any gap."
        )
    return LinkView(sleeping, tuple(symptoms))


def _sleeps(end: EndView, other: EndView) -> bool | None:
    counts = [count for count in (end.sent_lpi_count, other.received_lpi_count) if count is not None]
    if counts:
        return max(counts) >= _LEAST_LPI_EVENTS
    return False if not end.on or end.active is False else None


def at_least(least: Ints, total: int, marked: int, drawn: Ints) -> Floats:
    """Probability of `least` marked ones or more among `drawn` of `total`, of which some are marked (hypergeometric).

    As `scipy.stats.hypergeom.sf(least - 1, total, marked, drawn)`, which takes most of a second to load: a run needs
    nothing else of scipy.

    >>> at_least(np.array([0, 1, 2]), 4, 2, np.array([2, 2, 2])).round(6).tolist()
    [1.0, 0.833333, 0.166667]
    """
    count, taken = np.arange(marked + 1), np.asarray(drawn)[:, None]
    possible = (count <= taken) & (taken - count <= total - marked)
    within = np.where(possible, taken - count, 0)
    log = _log_choose(marked, count) + _log_choose(total - marked, within) - _log_choose(total, taken)
    chances = np.where(possible & (count >= np.asarray(least)[:, None]), np.exp(log), 0.0)
    return np.asarray(np.minimum(chances.sum(axis=1), 1.0), dtype=float)


def _log_choose(total: int, some: Ints) -> Floats:
    """Logarithm of the binomial coefficient."""
    factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, total + 1)))))
    return np.asarray(factorials[total] - factorials[some] - factorials[total - some])
