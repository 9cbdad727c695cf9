"""Files of DUMPI traces, written as the format's description has them, for tests."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eee_testbed.simulation.replay.readers.dumpi_layouts import END, LAYOUTS, ROOT_AT

_NUMBERS = {name: number for number, (name, _) in enumerate(LAYOUTS)}
_BUILT_IN = (0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 0, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20)
_STATUSES, _WALL, _THREAD = 3, 8, 64
_FORMS = {"b": "b", "h": "h", "i": "i", "q": "q", "I": "i", "H": "h", "B": "b"}

INT, DOUBLE, WORLD, SELF = 9, 14, 2, 3


def rank_file(*calls: tuple[Any, ...], version: tuple[int, int, int] = (1, 0, 0), first_user_bytes: int = 0) -> bytes:
    """A file of one rank: each call is its name, its arguments, and microseconds before it if these are not 10.

    A call takes 1 us.
    """
    body = struct.pack(">ii", 0, 100)
    time_us = 0
    for name, arguments, *gap in calls:
        time_us += gap[0] if gap else 10
        stop_us = time_us + 1
        mask = _STATUSES | _WALL | _THREAD
        times = struct.pack(">HIHI", *_split(time_us), *_split(stop_us))
        body += struct.pack(">HBH", _NUMBERS[name], mask, 0) + times + _arguments(name, arguments)
        time_us = stop_us
    body += struct.pack(">H", END)
    head = b"\xff\xaa\xddDUMPI"
    header = bytes(version) + struct.pack(">q", 0) + _text("host") + _text("user") + struct.pack(">ii", 0, 0)
    sizes = (*_BUILT_IN, first_user_bytes) if first_user_bytes else _BUILT_IN
    places, parts = [], [head]
    for part in (body, header, struct.pack(f">i{len(sizes)}i", len(sizes), *sizes)):
        places.append(sum(map(len, parts)))
        parts.append(part)
    at_body, at_header, at_sizes = places
    return b"".join(parts) + head + struct.pack(">7Q", at_sizes, 0, 0, at_header, at_body, 0, 0)


def write_trace(folder: Path, *ranks: Sequence[tuple[Any, ...]]) -> list[Path]:
    """The files of ranks, whose calls stand between MPI_Init and MPI_Finalize."""
    paths = []
    for rank, calls in enumerate(ranks):
        around = [("Init", [[]]), ("Comm_size", [WORLD, len(ranks)]), *calls, ("Finalize", [])]
        paths.append(folder / f"trace-{rank:04}.bin")
        paths[-1].write_bytes(rank_file(*around))
    return paths


def _split(us: int) -> tuple[int, int]:
    return us // 10**6, us % 10**6 * 1000


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _arguments(name: str, arguments: Sequence[Any]) -> bytes:
    layout = dict(LAYOUTS)[name]
    letters = [letter for letter in layout if letter != "?"]
    only_root = {at - layout[:at].count("?") for at, letter in enumerate(layout, -1) if at >= 0 and layout[at] == "?"}
    made = b""
    for at, (letter, value) in enumerate(zip(letters, arguments, strict=True)):
        if at in only_root and arguments[0] != arguments[ROOT_AT[name]]:
            continue
        made += _argument(letter, value)
    return made


def _argument(letter: str, value: Any) -> bytes:
    if letter in "bhiq":
        return struct.pack(f">{_FORMS[letter]}", value)
    if letter in "IHB":
        return struct.pack(f">i{len(value)}{_FORMS[letter]}", len(value), *value)
    length = struct.pack(">i", len(value))
    match letter:
        case "J":
            return length + b"".join(_argument("I", one) for one in value)
        case "c":
            return length + bytes(value)
        case "A":
            return length + b"".join(_argument("c", one) for one in value)
    return length + b"".join(struct.pack(">iibbi", bytes_, source, gone, 0, tag) for bytes_, source, gone, tag in value)
