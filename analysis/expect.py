"""Expectations such as 'time.slowdown < 1 %': read, and held against figures with intervals. Pure.

An expectation is met if the whole interval of a figure is on its side of the limit, broken if the whole interval is on
the other side, and else not shown: the interval holds the limit, or too little was repeated for any.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from eee_testbed.analysis.interval import Interval
from eee_testbed.lab.errors import LabError

Answer = Literal["met", "broken", "not shown"]

EXAMPLE: Final = "'time.slowdown < 1 %'"
_FORM: Final = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?:\[(?P<levels>[^\]]*)\])?\s*(?P<side><=|>=|<|>)\s*"
    r"(?P<limit>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\s\d]\S*)?\s*"
)
_SCALES: Final[Mapping[str, float]] = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_SCALED: Final = frozenset({"s", "J", "W", "B/s", "bit/s", "flop/s"})
"""Units that may stand with a prefix; every other one is written as the figure has it."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A limit for a figure. `levels` narrow it to a setting of the lab, or to a configuration of the program."""

    text: str
    name: str
    levels: Mapping[str, str]
    side: str
    limit: float
    unit: str

    @classmethod
    def of(cls, text: str) -> "Expectation":
        """Read NAME[FACTOR=LEVEL,...] < VALUE UNIT; LabError, with an example, for anything else."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise LabError(
                f"'{text}' is not an expectation: write NAME, one of < <= > >=, and a value, such as {EXAMPLE}."
            )
        levels = {}
        for part in filter(None, (match["levels"] or "").split(",")):
            factor, equals, level = (word.strip() for word in part.partition("="))
            if not (factor and equals and level):
                raise LabError(f"'{part}' in '{text}' is not FACTOR=LEVEL: write, for example, time[eee=on] < 5 s.")
            levels[factor] = level
        limit = float(match["limit"])
        if not math.isfinite(limit):
            raise LabError(f"the limit in '{text}' is not finite: write a number such as 1e6.")
        return cls(text.strip(), match["name"], levels, match["side"], limit, match["unit"] or "")

    def holds(self, value: float, limit: float) -> bool:
        """Whether a value is on the expected side of a limit."""
        return {"<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit}[self.side]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a run that a limit can be set for.

    `where`: program, configuration and setting, to print. `interval` has NaN as ends where too little was repeated; a
    count has no width. Of a change `changed` are the lab's factors whose level differs from the setting that it is
    compared with, and `by_eee` says whether EEE alone was switched on. `lab` and `program` are all levels by factor.
    """

    name: str
    unit: str
    where: str
    interval: Interval
    lab: Mapping[str, str] = field(default_factory=dict)
    program: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)
    by_eee: bool = False

    @property
    def named(self) -> str:
        """Its name as an expectation has it: with the setting, unless EEE alone is the change."""
        if not self.changed or self.by_eee:
            return self.name
        return f"{self.name}[{','.join(f'{key}={level}' for key, level in self.changed.items())}]"

    def is_meant(self, expectation: Expectation) -> bool:
        """Whether an expectation is about this figure: of its name, in its setting and configuration."""
        settings = {key: level for key, level in expectation.levels.items() if key in self.lab}
        rest = {key: level for key, level in expectation.levels.items() if key not in self.lab}
        if self.name != expectation.name or any(self.program.get(key) != level for key, level in rest.items()):
            return False
        if not self.changed:
            return all(self.lab[key] == level for key, level in settings.items())
        return settings == self.changed if settings else self.by_eee

    def answer(self, expectation: Expectation) -> Answer:
        """Whether it is as expected; LabError if the units differ."""
        limit = expectation.limit * _scale(expectation, self.unit)
        ends = self.interval.low, self.interval.high
        if any(map(math.isnan, ends)):
            return "not shown"
        held = [expectation.holds(end, limit) for end in ends]
        return "met" if all(held) else "broken" if not any(held) else "not shown"


@dataclass(frozen=True, slots=True)
class Judged:
    """An expectation with every figure that it is about, and the answer for each."""

    expectation: Expectation
    figures: Sequence[tuple[Figure, Answer]]

    @property
    def answer(self) -> Answer:
        """Met if met everywhere; broken if broken anywhere."""
        return worst(answer for _, answer in self.figures)


def worst(answers: Iterable[Answer]) -> Answer:
    """Broken before not shown before met."""
    every = set(answers)
    return next((answer for answer in ("broken", "not shown") if answer in every), "met")


def judge(expectation: Expectation, figures: Sequence[Figure]) -> Judged:
    """Hold an expectation against figures; LabError names those that exist if it is about none of them."""
    meant = [figure for figure in figures if figure.is_meant(expectation)]
    if not meant:
        names = ", ".join(dict.fromkeys(figure.named for figure in figures)) or "none, as no trial is valid"
        levels = (
            f" with {', '.join(f'{key}={level}' for key, level in expectation.levels.items())}"
            if expectation.levels
            else ""
        )
        raise LabError(f"there is no figure {expectation.name}{levels}; those that exist: {names}.")
    return Judged(expectation, [(figure, figure.answer(expectation)) for figure in meant])


def _scale(expectation: Expectation, unit: str) -> float:
    """What the limit is multiplied by, so that it is in the figure's unit."""
    if expectation.unit == unit or (not expectation.unit and unit == "1"):
        return 1.0
    stated_parts, figure_parts = _parts(expectation.unit), _parts(unit)
    if stated_parts is not None and figure_parts is not None and stated_parts[1] == figure_parts[1]:
        return _SCALES[stated_parts[0]] / _SCALES[figure_parts[0]]
    stated = f"in '{expectation.unit}'" if expectation.unit else "without a unit"
    raise LabError(
        f"the limit of '{expectation.text}' is {stated}, and {expectation.name} is {_in(unit)}: write the limit so."
    )


def _in(unit: str) -> str:
    return "a plain number" if unit == "1" else f"in {unit}"


def _parts(unit: str) -> tuple[str, str] | None:
    """Prefix and unit; None for units without prefixes."""
    splits = ((unit[:cut], unit[cut:]) for cut in (0, 1))
    return next((parts for parts in splits if parts[0] in _SCALES and parts[1] in _SCALED), None)
