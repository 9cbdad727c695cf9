r"""Figures of any program, by regular expressions in what it prints: `time=Time = ([\d.]+) s`.

A rule is NAME=EXPRESSION or NAME[UNIT]=EXPRESSION. The expression's group is the value, the last one that it finds. The
unit is the one that follows the group, or that in brackets where the program prints none there. Values are kept in base
units: `ms` becomes s, `Gflop/s` flop/s; only us stay us.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Self

from eee_testbed.benchmarks.program import Figure

_RULE: Final = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?:\[(?P<unit>[^\]]+)\])?=(?P<text>.+)", re.DOTALL)
_SPACE: Final = re.compile(r"\\[sn()\[\]]|[ ()\[\]*+?$]")
"""What is no word in an expression, behind its group."""


_PREFIXES: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_PLAIN: Final = {
    "s": ("s", 1.0),
    "sec": ("s", 1.0),
    "seconds": ("s", 1.0),
    "ms": ("s", 1e-3),
    "us": ("us", 1.0),
    "usec": ("us", 1.0),
    "ns": ("us", 1e-3),
    "min": ("s", 60.0),
    "h": ("s", 3_600.0),
    "J": ("J", 1.0),
    "W": ("W", 1.0),
    "1": ("1", 1.0),
    "ns/day": ("ns/day", 1.0),
    "step/s": ("step/s", 1.0),
    "steps/s": ("step/s", 1.0),
    "timesteps/s": ("step/s", 1.0),
}
_PREFIXED: Final = {
    "B": ("byte", 1.0),
    "byte": ("byte", 1.0),
    "B/s": ("byte/s", 1.0),
    "byte/s": ("byte/s", 1.0),
    "b/s": ("bit/s", 1.0),
    "bit/s": ("bit/s", 1.0),
    "flop/s": ("flop/s", 1.0),
    "flops": ("flop/s", 1.0),
    "FLOPS": ("flop/s", 1.0),
    "FLOP/s": ("flop/s", 1.0),
    "op/s": ("op/s", 1.0),
    "update/s": ("update/s", 1.0),
}
UNITS: Final[Mapping[str, tuple[str, float]]] = MappingProxyType(
    {
        **_PLAIN,
        **{
            f"{prefix}{name}": (unit, factor * scale)
            for name, (unit, factor) in _PREFIXED.items()
            for prefix, scale in _PREFIXES.items()
        },
    }
)
"""Units as programs print them: the base unit, and how much of it one is."""


@dataclass(frozen=True, slots=True)
class FigureRule:
    """A figure: its expression has a group `value`, or its only group is that.

    `name` may have other groups of the expression, as in `latency_{size}`: then each match is a figure of its own, else
    the last one counts. `where`: the rule is for outputs in which this is found; "" for all. `optional`: an output
    without it may be right.
    """

    name: str
    unit: str
    expression: str
    where: str = ""
    optional: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """A rule as users write it; ValueError in one sentence."""
        found = _RULE.fullmatch(text)
        if found is None:
            raise ValueError(rf"'{text}' is not NAME=EXPRESSION: write, for example, 'time=Time = ([\d.]+) s'")
        try:
            compiled = re.compile(found["text"], re.MULTILINE)
        except re.error as error:
            raise ValueError(f"'{found['text']}' is not a regular expression ({error}): correct it") from error
        if compiled.groups != 1:
            raise ValueError(f"'{found['text']}' has {compiled.groups} groups: put the value alone in brackets")
        unit = found["unit"] or _unit_after(found["text"])
        if unit not in UNITS:
            said = f"unknown unit '{unit}'" if unit else "no unit after its value"
            raise ValueError(
                f"figure {found['name']} has {said}: write {found['name']}[s]=..., with one of {_UNITS_SHOWN}"
            )
        if found["name"] == "time" and UNITS[unit][0] != "s":
            raise ValueError("figure time is the run time, whose unit is a time such as s or ms: give it another name")
        return cls(found["name"], unit, found["text"])

    def read(self, text: str) -> tuple[Figure, ...]:
        """The figures that an output has."""
        if self.where and not re.search(self.where, text, re.MULTILINE):
            return ()
        unit, factor = UNITS[self.unit]
        found: dict[str, float] = {}
        for match in re.finditer(self.expression, text, re.MULTILINE):
            groups = match.groupdict()
            value = _number(groups.get("value") or match[1])
            if value is not None:
                found[self.name.format(**groups)] = value * factor
        return tuple(Figure(name, value, unit) for name, value in found.items())


def last_line(text: str) -> str:
    """What a program printed last, for a person who looks for the right expression."""
    lines = text.strip().splitlines()
    return f"its last line is {lines[-1][:_SHOWN]!r}" if lines else "it printed nothing"


_SHOWN: Final = 100
"""Characters of a line of output, in a sentence."""

_UNITS_SHOWN: Final = "s, ms, us, J, W, flop/s, op/s, byte/s, bit/s (with k, M, G, T), or 1"


def _unit_after(expression: str) -> str:
    """The word behind the group; "" if none is there."""
    plain = re.sub(r"\\.", lambda escape: "  " if escape[0] in (r"\(", r"\)") else escape[0], expression)
    after = expression[plain.rindex(")") + 1 :] if ")" in plain else ""
    return next(iter(_SPACE.sub(" ", after).split()), "")


def _number(text: str) -> float | None:
    """A finite number, with Fortran's exponents, too."""
    try:
        value = float(text.replace("D", "E").replace("d", "e"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
