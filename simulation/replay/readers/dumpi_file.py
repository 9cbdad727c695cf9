"""A file of a DUMPI trace: the MPI calls of one rank as it made them, with times and arguments.

The file begins with eight known octets and ends with an index: the same eight octets, then where sections begin. All
numbers have their highest octet first. Seconds are 16 bits wide and count from a number before the calls.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.replay.readers.dumpi_layouts import END, LAYOUTS, ROOT_AT
from eee_testbed.simulation.replay.readers.reading import bytes_of

MAGIC: Final = b"\xff\xaa\xddDUMPI"
_REMEDY: Final = "record the program again, or restore the file from a copy"
_SECTIONS: Final = (7, 6, 5, 4)
"""Numbers in the index: newer versions put more before the last four."""

_OLDEST_VERSION: Final = (0, 6, 9)
_STATUSES, _CPU, _WALL, _THREAD, _COUNTERS = 3, 4, 8, 64, 128
_SINGLE_CODES: Final = {"b": "b", "h": "h", "i": "i", "q": "q"}
_LISTED_CODES: Final = {"I": "i", "H": "h", "B": "b"}
_BYTES: Final = {"b": 1, "h": 2, "i": 4, "q": 8}


class Status(NamedTuple):
    """What a receive has got."""

    bytes: int
    source: int
    cancelled: bool
    tag: int


class Called(NamedTuple):
    """A call: its name, nanoseconds of its begin and end, and its arguments in the order of its layout."""

    name: str
    start: int
    stop: int
    arguments: Sequence[Any]


@dataclass(frozen=True, slots=True)
class RankFile:
    """The calls of a rank, and the bytes of its datatypes by their number."""

    calls: Sequence[Called]
    type_bytes: Sequence[int]


def read_rank_file(path: Path) -> RankFile:
    """Read a file; UnreadableFile says what is wrong with it."""
    try:
        return _File(bytes_of(path)).read()
    except struct.error:
        raise UnreadableFile(str(path), 0, "is damaged: it ends within a call", _REMEDY) from None
    except _Damaged as error:
        raise UnreadableFile(str(path), 0, str(error), _REMEDY) from None


class _Damaged(ValueError):
    pass


class _File:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def read(self) -> RankFile:
        if not self._data.startswith(MAGIC):
            raise _Damaged("is not a file of a DUMPI trace")
        sizes, header, body = self._index()
        self._at = header
        version = tuple(self._data[header : header + 3])
        if len(version) < len(_OLDEST_VERSION) or version < _OLDEST_VERSION:
            raise _Damaged(f"is of version {'.'.join(map(str, version))} of DUMPI, and those before 0.6.9 are not read")
        type_bytes = self._type_bytes(sizes)
        self._at = body
        _, wall_s = self._unpack(">ii")
        return RankFile(tuple(self._calls(wall_s)), type_bytes)

    def _index(self) -> tuple[int, int, int]:
        """Where the sizes of types, the header and the calls begin; 0 if there are no sizes."""
        for count in _SECTIONS:
            start = len(self._data) - 8 * (count + 1)
            if start >= len(MAGIC) and self._data[start : start + 8] == MAGIC:
                places = struct.unpack(f">{count}Q", self._data[start + 8 :])
                header, body = places[-4], places[-3]
                sizes = places[0] if count == _SECTIONS[0] else 0
                if max(header, body, sizes) >= start:
                    raise _Damaged("is damaged: its index points behind the end")
                return sizes, header, body
        raise _Damaged("has no index: it was cut off")

    def _type_bytes(self, at: int) -> Sequence[int]:
        if not at:
            return ()
        self._at = at
        return self._list("i")

    def _calls(self, wall_s: int) -> Iterator[Called]:
        while True:
            (number,) = self._unpack(">H")
            if number == END:
                return
            if number > END:
                raise _Damaged("is damaged: it has a call of an unknown number")
            name, layout = LAYOUTS[number]
            if layout == "!":
                raise _Damaged(f"has a call MPI_{name}, which is not read")
            (mask,) = self._unpack(">B")
            if mask & _THREAD:
                self._at += 2
            start, stop = self._times(mask, wall_s)
            if mask & _COUNTERS:
                (counters,) = self._unpack(">B")
                self._at += 16 * counters
            yield Called(name, start, stop, self._arguments(name, layout, statuses=bool(mask & _STATUSES)))

    def _times(self, mask: int, wall_s: int) -> tuple[int, int]:
        """Begin and end by the wall's clock, else by the processor's."""
        times = (0, 0)
        for kind, bias in ((_CPU, 0), (_WALL, wall_s)):
            if mask & kind:
                start_s, start_ns, stop_s, stop_ns = self._unpack(">HIHI")
                times = ((start_s + bias) * 10**9 + start_ns, (stop_s + bias) * 10**9 + stop_ns)
        return times

    def _arguments(self, name: str, layout: str, *, statuses: bool) -> list[Any]:
        arguments: list[Any] = []
        only_root = False
        for letter in layout:
            if letter == "?":
                only_root = True
                continue
            if only_root and arguments[0] != arguments[ROOT_AT[name]]:
                arguments.append(None)
            else:
                arguments.append(self._argument(letter, statuses=statuses))
            only_root = False
        return arguments

    def _argument(self, letter: str, *, statuses: bool) -> Any:
        if letter in _SINGLE_CODES:
            return self._unpack(f">{_SINGLE_CODES[letter]}")[0]
        if letter in _LISTED_CODES:
            return self._list(_LISTED_CODES[letter])
        match letter:
            case "J":
                return [self._list("i") for _ in range(self._length(4))]
            case "c":
                self._text()
            case "A":
                for _ in range(self._length(4)):
                    self._text()
            case "s" if statuses:
                return [self._status() for _ in range(self._length(14))]
        return None

    def _status(self) -> Status:
        byte, source, cancelled, _, tag = self._unpack(">iibbi")
        return Status(byte, source, bool(cancelled), tag)

    def _text(self) -> None:
        length = self._length(1)
        self._at += length

    def _list(self, kind: str) -> Sequence[int]:
        length = self._length(_BYTES[kind])
        return self._unpack(f">{length}{kind}")

    def _length(self, each: int) -> int:
        """A length before a list, which cannot be longer than what is left."""
        (length,) = self._unpack(">i")
        if not 0 <= length * each <= len(self._data) - self._at:
            raise _Damaged("is damaged: it has a list that is longer than the file")
        return int(length)

    def _unpack(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return values
