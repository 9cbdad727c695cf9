"""What a study measures next, and when it stops. Pure.

A study has parameters that it wants to know to a precision, and kinds of blocks that it can measure. A block of a kind
takes some time and narrows the intervals of some parameters: after `count` blocks, `more` further ones make a half
width h about h * (count / (count + more)) ** exponent. The exponent is 1/2 where blocks are averaged, and 1 where an
edge is known to within the distance of the nearest gaps.

The next block is the one that narrows most for its time. "Narrows" is the sum, over the parameters that are not known
yet, of the logarithm of the half width's ratio, down to the precision that is wanted and no further. A block that may
find a parameter of which nothing is known comes before all that narrow others: its interval has no ends. Of several
that one comes first whose parameter is named first, as parameters are in the order in which a report speaks of them.

Each parameter ends as `Known`, as `NeedsMore` with an estimate of the time, or as `CannotBeKnown` with the reason: the
block that would show it was tried often enough in vain, the meter's steps are too coarse (`floor`), or further blocks
no longer narrow its interval (`history`).

Simplification: blocks are compared one step ahead. An interval of few blocks is itself uncertain, so nothing counts as
known before `LEAST_BLOCKS` blocks: stopping at the first narrow interval would favour those that are narrow by chance.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eee_testbed.analysis.interval import Interval

LEAST_BLOCKS: Final = 4
"""Blocks that have to confirm a parameter whose interval comes from their scatter."""

_STUCK_AFTER: Final = 0.5
_STUCK: Final = 0.9
_FOUND_GAIN: Final = math.log(4.0)
"""What it is worth to find a parameter, among blocks that may find one: as if its interval were narrowed by this."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is known of a parameter. `interval` None: not found, and `why_not` says why not.

    `wanted`: half width, in `unit`. `floor`: half width that no repetition gets below, with `floor_why`.
    `least_blocks`: blocks before its interval is believed; 1 where a single block has enough values of its own.
    """

    name: str
    unit: str
    interval: Interval | None
    wanted: float
    why_not: str = ""
    floor: float = 0.0
    floor_why: str = ""
    least_blocks: int = LEAST_BLOCKS
    tries: int = 3
    """Blocks after which a parameter that was not found is given up."""


@dataclass(frozen=True, slots=True)
class BlockKind:
    """A kind of block. `count` blocks were measured (a kind that starts with knowledge may begin with a fraction).

    `narrows`: by parameter, the exponent of its half width.
    """

    name: str
    cost_s: float
    count: float
    narrows: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Known:
    """Within its precision."""


@dataclass(frozen=True, slots=True)
class NeedsMore:
    """Needs more blocks: about this many seconds, infinite if no block is known to narrow its interval."""

    time_s: float


@dataclass(frozen=True, slots=True)
class CannotBeKnown:
    """Not here, and why."""

    why: str


Verdict = Known | NeedsMore | CannotBeKnown


@dataclass(frozen=True, slots=True)
class Past:
    """A parameter's half width at one time, with the number and the exponent of each kind of block that narrows it."""

    count: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What to measure next, None at the end; and why, in a sentence."""

    verdicts: Mapping[str, Verdict]
    block: str | None
    why: str


def decide(
    parameters: Sequence[Parameter],
    kinds: Sequence[BlockKind],
    left_s: float,
    history: Mapping[str, Sequence[Past]] | None = None,
) -> Decision:
    """The next block within the time that is left. Ties go to the kind that comes first."""
    past = history or {}
    verdicts = {parameter.name: _verdict(parameter, kinds, past.get(parameter.name, ())) for parameter in parameters}
    still = [parameter for parameter in parameters if isinstance(verdicts[parameter.name], NeedsMore)]
    if not still:
        known_count = sum(isinstance(parameter, Known) for parameter in verdicts.values())
        return Decision(
            verdicts, None, f"{known_count} of {len(verdicts)} parameters are known, the others cannot be here"
        )
    best: BlockKind | None = None
    best_worth = (-len(still), 0.0)
    affordable = [kind for kind in kinds if kind.cost_s <= left_s]
    for kind in affordable:
        finds = (
            place
            for place, parameter in enumerate(still)
            if parameter.interval is None and parameter.name in kind.narrows
        )
        worth = -next(finds, len(still)), sum(_gain(parameter, kind) for parameter in still) / kind.cost_s
        if worth > best_worth:
            best, best_worth = kind, worth
    if best is None:
        useful = any(_gain(parameter, kind) > 0 for parameter in still for kind in kinds)
        why = "the time that is left is too short for another block" if useful else "no block narrows what is not known"
        return Decision(verdicts, None, why)
    return Decision(verdicts, best.name, _why(best, still))


def _verdict(parameter: Parameter, kinds: Sequence[BlockKind], past: Sequence[Past]) -> Verdict:
    narrowing = [kind for kind in kinds if parameter.name in kind.narrows]
    count = sum(kind.count for kind in narrowing)
    if parameter.interval is None:
        if count >= parameter.tries or not narrowing:
            return CannotBeKnown(parameter.why_not or "no block of this lab shows it")
        return NeedsMore(min((kind.cost_s for kind in narrowing), default=math.inf))
    if parameter.interval.half_width <= parameter.wanted and count >= parameter.least_blocks:
        return Known()
    why = _hopeless(parameter, count, past) if narrowing else "no block of this lab narrows it"
    return CannotBeKnown(why) if why else NeedsMore(min(_time_s(parameter, kind) for kind in narrowing))


def _hopeless(parameter: Parameter, count: float, past: Sequence[Past]) -> str:
    """Why more blocks are in vain; empty if they are not."""
    if parameter.floor > parameter.wanted:
        return parameter.floor_why or "its interval is limited by the instrument, not by the number of blocks"
    if _stuck(parameter, count, past):
        return "more blocks no longer narrow its interval: something else than chance scatters it"
    return ""


def _stuck(parameter: Parameter, count: float, past: Sequence[Past]) -> bool:
    """Whether blocks that should have halved the half width, if they were averaged, left it as it was."""
    if parameter.interval is None:
        return False
    earlier = [was for was in past if was.count >= LEAST_BLOCKS and (was.count / count) ** 0.5 <= _STUCK_AFTER]
    return bool(earlier) and parameter.interval.half_width > _STUCK * earlier[-1].half_width


def _time_s(parameter: Parameter, kind: BlockKind) -> float:
    """Time of the blocks of one kind until the parameter is within its precision."""
    if parameter.interval is None:
        return kind.cost_s
    count = max(kind.count, 1e-3)
    ratio = max(parameter.interval.half_width, 1e-300) / parameter.wanted
    by_width = count * (ratio ** (1.0 / kind.narrows[parameter.name]) - 1.0) if ratio > 1.0 else 0.0
    return kind.cost_s * max(1.0, math.ceil(max(by_width, parameter.least_blocks - kind.count) - 1e-9))


def _gain(parameter: Parameter, kind: BlockKind) -> float:
    if parameter.name not in kind.narrows:
        return 0.0
    if parameter.interval is None:
        return _FOUND_GAIN
    after = _after(parameter, kind)
    if parameter.interval.half_width <= parameter.wanted:
        return _FOUND_GAIN / LEAST_BLOCKS  # narrow enough, to be confirmed by more blocks
    return math.log(parameter.interval.half_width / max(after, parameter.wanted))


def _after(parameter: Parameter, kind: BlockKind) -> float:
    """The half width expected after one more block."""
    if parameter.interval is None:
        return math.inf
    count = max(kind.count, 1e-3)
    return float(parameter.interval.half_width * (count / (count + 1.0)) ** kind.narrows[parameter.name])


def _why(kind: BlockKind, still: Sequence[Parameter]) -> str:
    narrowed = [parameter for parameter in still if parameter.name in kind.narrows]
    if (missing := next((parameter for parameter in narrowed if parameter.interval is None), None)) is not None:
        return f"{missing.name} is not found yet"
    half, most = max(
        ((parameter.interval.half_width, parameter) for parameter in narrowed if parameter.interval is not None),
        key=lambda pair: _gain(pair[1], kind),
    )
    if half <= most.wanted:
        return f"{most.name} is narrow enough, and has to be confirmed"
    return f"it narrows {most.name} most for its time: from ±{half:.2g} to about ±{_after(most, kind):.2g} {most.unit}"
