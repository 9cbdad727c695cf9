"""A calibration as text, with names for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel

from eee_testbed.analysis.calibration import Calibration, Estimate, PowerPart
from eee_testbed.analysis.calibration_names import NAMES
from eee_testbed.analysis.report.table import number

INTERVAL: Final = "95 % intervals in brackets: values outside them are ruled out by the measurements; ∞: no bound."

_GAP: Final = "  "
_SENTENCES: Final = frozenset({"symptoms", "unknown", "warnings"})
"""Keys whose sentences are printed below a part."""


def calibration_text(found: Calibration) -> str:
    """Every part of a calibration with its values and the sentences about them."""
    lines = [INTERVAL]
    for name, link in found.links.items():
        lines += _part(f"EEE policy of {name}", link, (*link.unknown, *link.symptoms))
    lines += _power(found.power)
    for name, program in found.run_time.items():
        lines += _part(f"run time of {name} under EEE", program, ())
    return "\n".join(lines)


def _power(power: PowerPart) -> list[str]:
    lines = []
    for name, switch in power.switches.items():
        lines += _part(f"power of switch {name}", switch, (*switch.unknown, *switch.warnings))
        for words, energy, unit in zip(("a bit", "a packet"), switch.per_interface, ("pJ", "nJ"), strict=True):
            if energy is not None:
                lines.append(f"  {words} per interface, as NetPowerBench counts: {_value(energy, unit)}")
    for name, node in power.nodes.items():
        lines += _part(f"power of node {name}", node, (*node.unknown, *node.warnings))
    if power.andujar is not None:
        lines += _part("power in Andujar's model", power.andujar, ())
    return [*lines, *([power.note] if power.note else [])]


def _part(title: str, part: BaseModel, sentences: Sequence[str]) -> list[str]:
    rows = list(_rows(part, _GAP))
    size = max(len(name) for name, _ in rows)
    lines = (f"{name:<{size}}{_GAP}{value}".rstrip() for name, value in rows)
    return ["", title, *lines, *(f"{_GAP}{sentence}" for sentence in sentences)]


def _rows(part: BaseModel, indent: str) -> Iterator[tuple[str, str]]:
    """Name and text of every value of a part; a part of its own is a heading and its values below that."""
    for key in type(part).model_fields:
        value = getattr(part, key)
        if key == "card_count" and getattr(part, "card_wake_us", None) is None:
            continue  # there is one group only
        if key not in _SENTENCES and value not in (None, "", ()):
            yield from _row(key, value, indent)


def _row(key: str, value: object, indent: str) -> Iterator[tuple[str, str]]:
    name, unit = NAMES[key]
    if isinstance(value, Estimate) or not isinstance(value, BaseModel | Mapping):
        yield f"{indent}{name}", _value(value, unit, 100.0 if key.endswith("_fraction") else 1.0)
    elif isinstance(value, BaseModel):
        yield f"{indent}{name}:", ""
        yield from _rows(value, indent + _GAP)
    else:
        for inner, one in value.items():
            yield f"{indent}{' '.join(word for word in (name, str(inner), unit) if word)}:", ""
            if isinstance(one, BaseModel):
                yield from _rows(one, indent + _GAP)
            else:  # by kind of cable, then by speed
                yield from _row("port_by_mbps", one, indent + _GAP)


def _value(value: object, unit: str, factor: float = 1.0) -> str:
    if isinstance(value, Estimate):
        middle, low, high = (number(factor * end) for end in (value.value, value.low, value.high))
        return " ".join(word for word in (middle, unit, f"({low} to {high})") if word)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{number(factor * value)} {unit}".rstrip()
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value} {unit}".rstrip()
