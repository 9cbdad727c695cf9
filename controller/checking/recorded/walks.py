"""Recorded SNMP walks: snmprec files (snmpsim) and the output of `snmpwalk`. Pure.

`snmpwalk` without MIBs writes `iso.3.6.1...` or `SNMPv2-SMI::enterprises...`, which are numbers all the same. Names
from other MIBs are not read: a walk that has some is to be recorded with `-On`.

Types of snmprec are ASN.1 tags as numbers, with an `x` behind if the value is hexadecimal. Lines of no known form (time
stamps, objects that end a walk) are left out; so are values of types that no reader knows, such as IP addresses.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from eee_testbed.controller.drivers.driver import Answers, SnmpValue, Walk

_SNMPREC: Final = re.compile(r"(?P<oid>[\d.]+)\|(?P<tag>\d+)(?P<hex>x?)\|(?P<value>.*)", re.DOTALL)
_SNMPWALK: Final = re.compile(r"(?P<oid>\S+) = (?:(?P<kind>[A-Za-z0-9-]+): ?(?P<value>.*)|\"\")", re.DOTALL)
_NUMBERED_OID: Final = re.compile(r"1(?:\.\d+)+")
_ROOTS: Final = {
    "iso.": "1.",
    "SNMPv2-SMI::mib-2.": "1.3.6.1.2.1.",
    "SNMPv2-SMI::transmission.": "1.3.6.1.2.1.10.",
    "SNMPv2-SMI::enterprises.": "1.3.6.1.4.1.",
    "SNMPv2-SMI::snmpModules.": "1.3.6.1.6.3.",
    "SNMPv2-SMI::private.": "1.3.6.1.4.",
}
_NAMED_OID: Final = re.compile(r"[A-Za-z][\w-]*::\S+")
_OBJECT: Final = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,10})*")
_NUMBERS, _OCTETS, _OID = frozenset({"2", "65", "66", "67", "70"}), "4", "6"
_WALK_NUMBERS = frozenset({"INTEGER", "Counter32", "Counter64", "Gauge32", "Unsigned32", "UInteger32"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """Objects by OID, without a dot before it; `names` are their OIDs, sorted as text."""

    objects: Mapping[str, SnmpValue]
    names: Sequence[str]
    named: str = ""
    """The first object that is written by a name of a MIB, and so was not read."""

    @classmethod
    def of(cls, objects: Mapping[str, SnmpValue], named: str = "") -> Self:
        """The same objects, to be searched."""
        return cls(objects, sorted(objects), named)


def read_walk(text: str) -> Recorded:
    """The objects of a recorded walk; empty if the text is none."""
    objects: dict[str, SnmpValue] = {}
    named = ""
    for line in _whole_lines(text):
        if shape := _SNMPREC.fullmatch(line):
            value = _of_snmprec(shape["tag"], shape["value"], is_hex=bool(shape["hex"]))
        elif (shape := _SNMPWALK.fullmatch(line)) and _NUMBERED_OID.fullmatch(_numbered(shape["oid"])):
            value = _of_snmpwalk(shape["kind"] or "STRING", (shape["value"] or "").strip())
        else:
            named = named or (shape["oid"] if shape and _NAMED_OID.fullmatch(shape["oid"]) else "")
            continue
        name = _numbered(shape["oid"])
        if value is not None and _OBJECT.fullmatch(name):
            objects[name] = value
    return Recorded.of(objects, named)


def _numbered(oid: str) -> str:
    """An OID as numbers, without a dot before it; one with a name that is not known here as it is."""
    bare = oid.strip(".")
    for root, number in _ROOTS.items():
        if bare.startswith(root):
            return number + bare.removeprefix(root)
    return bare


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
    if tag == _OCTETS:
        return _octets(value) if is_hex else value.encode()
    if tag in _NUMBERS:
        return _number(value)
    return value.strip(".") if tag == _OID else None


def _number(digits: str) -> int | None:
    """A number that SNMP can carry, which has at most 64 bits."""
    return int(digits) if re.fullmatch(r"\s*-?[0-9]{1,20}\s*", digits) else None


def _octets(digits: str) -> bytes | None:
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return None


def _of_snmpwalk(kind: str, value: str) -> SnmpValue | None:
    if kind == "STRING":
        return value.removeprefix('"').removesuffix('"').encode()
    if kind == "Hex-STRING":
        return _octets(value)
    if kind == "OID":
        return _numbered(value)
    number = re.match(r"-?[0-9]+", value.rpartition("(")[2])
    return _number(number[0]) if kind in _WALK_NUMBERS and number else None
