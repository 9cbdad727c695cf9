"""What each policy of links saves within bounds of the slowdown.

A value of the axis `links` is a setting of a policy, and named POLICY-SETTING, as hybrid-10. For each case of the other
axes the setting that saves the most within the bound is taken, in hindsight; if none keeps it, links stay awake and
save nothing. Slowdown and saving are means over seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from eee_testbed.simulation.studies.pairs import Pair, by

BOUNDS_PERCENT: Final = (0.1, 1.0, 5.0)
_AXIS: Final = "links"


@dataclass(frozen=True, slots=True)
class Within:
    """Of a policy and a bound: means over all cases, and in how many of them a setting keeps the bound."""

    policy: str
    bound_percent: float
    saving_percent: float
    slowdown_percent: float
    kept: int
    cases: int


@dataclass(frozen=True, slots=True)
class _Setting:
    saving_percent: float
    slowdown_percent: float


_AWAKE: Final = _Setting(0.0, 0.0)


def within_bounds(pairs: Sequence[Pair], bounds_percent: Sequence[float] = BOUNDS_PERCENT) -> list[Within]:
    """By policy, in the order of the study, and bound; savings are of links between switches, all of them."""
    asleep = [pair for pair in pairs if pair.point.replayed.sleeping]
    others = [axis for axis in asleep[0].labels if axis != _AXIS] if asleep else []
    found: dict[str, dict[tuple[str, ...], list[_Setting]]] = {}
    for key, own in by(asleep, _AXIS, *others).items():
        one = _Setting(fmean(pair.saving_percent for pair in own), fmean(pair.slowdown_percent for pair in own))
        found.setdefault(policy_of(key[0]), {}).setdefault(key[1:], []).append(one)
    return [_within(policy, bound, list(cases.values())) for policy, cases in found.items() for bound in bounds_percent]


def _within(policy: str, bound_percent: float, cases: Sequence[Sequence[_Setting]]) -> Within:
    keeping = [[one for one in settings if one.slowdown_percent <= bound_percent] for settings in cases]
    best = [max(kept, key=lambda one: one.saving_percent, default=_AWAKE) for kept in keeping]
    return Within(
        policy,
        bound_percent,
        fmean(one.saving_percent for one in best),
        fmean(one.slowdown_percent for one in best),
        sum(bool(kept) for kept in keeping),
        len(cases),
    )


def policy_of(links: str) -> str:
    """The policy of a value of the axis `links`.

    >>> policy_of("perfbound-0.1")
    'perfbound'
    """
    return links.rpartition("-")[0] or links
