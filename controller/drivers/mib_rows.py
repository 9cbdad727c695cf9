"""Rows of walked columns as numbers, text and port lists; Unreadable for what a column cannot hold. Pure."""

import re
from collections.abc import Iterator, Mapping

from eee_testbed.controller.drivers.driver import Answers, SnmpValue, Walk
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch
from eee_testbed.lab.plain_text import decoded, one_line

Index = tuple[int, ...]
_SUBIDENTIFIER = re.compile(r"[0-9]{1,10}")


def unreadable(switch: Switch, walk: Walk, reason: str) -> Unreadable:
    """The error for a walk's answer."""
    return Unreadable(switch.name, f"a walk of {walk.name or walk.oid}", reason)


def rows_of(answers: Answers, walk: Walk) -> Mapping[str, SnmpValue]:
    """A column that a switch may lack, by its index in dotted form."""
    answer = answers.get(walk, {})
    return {} if isinstance(answer, str) else {index.strip("."): value for index, value in answer.items()}


def rows(switch: Switch, walk: Walk, answers: Answers, width: int = 1) -> Iterator[tuple[Index, SnmpValue]]:
    """Index and value of each row; `width` is how many numbers an index has."""
    answer = answers.get(walk)
    if answer is None or isinstance(answer, str):
        raise unreadable(switch, walk, "it is empty")
    for text, value in answer.items():
        parts = text.strip(".").split(".")
        if len(parts) != width or not all(_SUBIDENTIFIER.fullmatch(part) for part in parts):
            raise unreadable(switch, walk, f"index {text} has another form")
        yield tuple(map(int, parts)), value


def column(switch: Switch, walk: Walk, answers: Answers, width: int = 1) -> Mapping[Index, int]:
    """A column of numbers."""
    return {index: integer(switch, walk, value) for index, value in rows(switch, walk, answers, width)}


def names(switch: Switch, walk: Walk, answers: Answers) -> Mapping[int, str]:
    """A column of text, by its one index."""
    return {index: text_of(value) for (index,), value in rows(switch, walk, answers)}


def cell(switch: Switch, walk: Walk, numbers: Mapping[Index, int], index: int) -> int:
    """One row of a column of numbers."""
    if (index,) not in numbers:
        raise unreadable(switch, walk, f"row {index} is missing")
    return numbers[(index,)]


def integer(switch: Switch, walk: Walk, value: SnmpValue) -> int:
    """A value that has to be a number."""
    if not isinstance(value, int):
        raise unreadable(switch, walk, f"{value!r} is not a number")
    return value


def text_of(value: SnmpValue) -> str:
    """A value as text that is safe to show; agents end some with a zero octet."""
    return decoded(value) if isinstance(value, bytes) else one_line(str(value))


def octets_of(value: SnmpValue) -> bytes:
    """A value as octets."""
    return value if isinstance(value, bytes) else str(value).encode()


def ports_of(octets: bytes) -> frozenset[int]:
    """Bridge ports in a PortList; missing octets hold no port."""
    return frozenset(
        8 * place + bit + 1 for place, octet in enumerate(octets) for bit in range(8) if octet << bit & 0x80
    )


def port_list(switch: Switch, walk: Walk, value: SnmpValue) -> frozenset[int]:
    """A value that has to be a PortList."""
    if not isinstance(value, bytes):
        raise unreadable(switch, walk, f"{value!r} is not a list of ports")
    return ports_of(value)
