"""Recorded SNMP walks: snmprec files (snmpsim) and the output of `snmpwalk -On`. Pure.

Types of snmprec are ASN.1 tags as numbers, with an `x` behind if the value is hexadecimal. Lines of no known form (time
stamps, objects that end a walk) are left out; so are values of types that no reader knows, such as IP addresses.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from controller.drivers.driver import Answers, SnmpValue, Walk

_SNMPREC: Final = re.compile(r"(?P<oid>[\d.]+)\|(?P<tag>\d+)(?P<hex>x?)\|(?P<value>.*)", re.DOTALL)
_SNMPWALK: Final = re.compile(r"\.?(?P<oid>1(?:\.\d+)+) = (?P<kind>[A-Za-z0-9-]+): ?(?P<value>.*)")
_NUMBERS, _OCTETS, _OID = frozenset({"2", "65", "66", "67", "70"}), "4", "6"
_WALK_NUMBERS = frozenset({"INTEGER", "Counter32", "Counter64", "Gauge32", "Unsigned32", "UInteger32"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """Objects by OID, without a dot before it; `names` are their OIDs, sorted as text."""

    objects: Mapping[str, SnmpValue]
    names: Sequence[str]

    @classmethod
    def of(cls, objects: Mapping[str, SnmpValue]) -> Self:
        """The same objects, to be searched."""
        return cls(objects, sorted(objects))


def read_walk(text: str) -> Recorded:
    """The objects of a recorded walk; empty if the text is none."""
    found: dict[str, SnmpValue] = {}
    for line in _whole_lines(text):
        if shape := _SNMPREC.fullmatch(line):
            value = _of_snmprec(shape["tag"], shape["value"], is_hex=bool(shape["hex"]))
        elif shape := _SNMPWALK.fullmatch(line):
            value = _of_snmpwalk(shape["kind"], shape["value"].strip())
        else:
            continue
        if value is not None:
            found[shape["oid"].strip(".")] = value
    return Recorded.of(found)


def answers_of(recorded: Recorded, walks: Iterable[Walk]) -> Answers:
    """What walks of these columns would have found."""
    return {walk: below(recorded, walk.oid) for walk in walks}


def below(recorded: Recorded, oid: str) -> dict[str, SnmpValue]:
    """The objects below an OID, by the rest of theirs."""
    head = f"{oid}."
    names = recorded.names[
        bisect_left(recorded.names, head) : bisect_left(recorded.names, f"{oid}/")
    ]  # "/" is after "."
    rest = sorted(
        (name.removeprefix(head) for name in names), key=lambda index: [int(part) for part in index.split(".")]
    )
    return {index: recorded.objects[f"{head}{index}"] for index in rest}


def _whole_lines(text: str) -> Iterator[str]:
    """Lines, those joined that go on with the rest of a long hexadecimal value."""
    held = ""
    for line in text.splitlines():
        if held and "Hex-STRING" in held and re.fullmatch(r"[0-9A-F]{2}(?: [0-9A-F]{2})* ?", line):
            held += f" {line}"
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _of_snmprec(tag: str, value: str, *, is_hex: bool) -> SnmpValue | None:
    try:
        if tag == _OCTETS:
            return bytes.fromhex(value) if is_hex else value.encode()
        if tag in _NUMBERS:
            return int(value)
    except ValueError:
        return None
    return value.strip(".") if tag == _OID else None


def _of_snmpwalk(kind: str, value: str) -> SnmpValue | None:
    if kind == "STRING":
        return value.removeprefix('"').removesuffix('"').encode()
    if kind == "Hex-STRING":
        return bytes.fromhex(value)
    if kind == "OID":
        return value.strip(".")
    number = re.match(r"-?\d+", value.rpartition("(")[2])
    return int(number[0]) if kind in _WALK_NUMBERS and number else None
