"""The recorder's file of a rank: whole numbers, little-endian in base 128 (seven bits a byte, + 128 if more follow).

A record is a count and as many numbers: what it is, the time from the end of the record before to its own end and how
long it took, both in nanoseconds, and the fields of the tables below. The file of a program that was killed is read up
to its last whole record; a count of 0 ends it, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from eee_testbed.benchmarks.recorder.table import BY_NUMBER, FORMAT, MAGIC, OWN_RECORDS
from eee_testbed.simulation.replay.checks import MOST_NS, MOST_RANKS
from eee_testbed.simulation.replay.readers.reading import Place, head_of

BEGIN, END, COMMUNICATOR, ASKED, FLUSHED, FAILED = (number for number, _ in OWN_RECORDS.values())

_CHUNK: Final = 4 << 20
_MOST_BYTES: Final = 9
"""Of a number: up to 63 bits."""


class Record(NamedTuple):
    """A record: what it is, its times in ns, its fields."""

    kind: int
    since_ns: int
    took_ns: int
    fields: Sequence[int]


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says of itself."""

    rank: int
    ranks: int
    several_threads: bool
    begun_ns: int


def looks_like_recorder(head: bytes) -> bool:
    """Whether a file begins as one of these."""
    return head.startswith(MAGIC)


class RankFile:
    """A rank's file, read once: `head`, then `records()`; `whole` after these says whether it has its end."""

    def __init__(self, path: Path) -> None:
        self.path, self.whole = path, False
        self._place = Place(path)
        if not looks_like_recorder(head_of(path)):
            self._place.refuse("is not a file of the recorder", "name the files of a folder `traces`")
        self._records = self._read()
        self._number = 0
        self.head = self._head()

    def records(self) -> Iterator[Record]:
        """Every whole record behind the first."""
        for record in self._records:
            self._number += 1
            if record.kind == END:
                self.whole = True
                return
            yield record

    def refuse(self, sentence: str) -> NoReturn:
        """UnreadableFile at the record that was read last."""
        self._place.refuse(f"has in record {self._number} {sentence}")

    def _head(self) -> Head:
        first = next(self._records, None)
        if first is None:
            self._place.refuse("ends before its first record", "record the program again")
        if first.kind != BEGIN or len(first.fields) < 1:
            self._place.refuse("does not begin as a file of the recorder")
        if first.fields[0] != FORMAT:
            self._place.refuse(
                f"has the format {first.fields[0]}, and this version reads {FORMAT}", "record the program again"
            )
        if len(first.fields) != 5:
            self._place.refuse("has a first record of another length")
        _, rank, ranks, threads, begun_ns = first.fields
        if not rank < ranks <= MOST_RANKS:
            self._place.refuse(f"is of rank {rank} of {ranks}")
        return Head(rank, ranks, threads != 0, begun_ns)

    def _read(self) -> Iterator[Record]:
        """Records, chunk by chunk."""
        rest: list[int] = []
        for numbers in self._numbers():
            rest += numbers
            at, length = 0, len(rest)
            while at < length:
                count = rest[at]
                if count == 0:
                    return
                if count < 3:
                    self._place.refuse("has a record without times")
                end = at + 1 + count
                if end > length:
                    break
                kind, since_ns, took_ns = rest[at + 1 : at + 4]
                if kind not in BY_NUMBER and kind > FAILED:
                    self._place.refuse(f"has a record of kind {kind}, which does not exist")
                if since_ns > MOST_NS or took_ns > MOST_NS:
                    self._place.refuse("has a time above 104 days")
                yield Record(kind, since_ns, took_ns, rest[at + 4 : end])
                at = end
            rest = rest[at:]

    def _numbers(self) -> Iterator[list[int]]:
        try:
            with self.path.open("rb") as file:
                file.seek(len(MAGIC))
                left = b""
                while data := file.read(_CHUNK):
                    numbers, left = self._decoded(left + data)
                    yield numbers
        except OSError as error:
            self._place.refuse(f"cannot be read ({error.strerror})", "name the trace's files")

    def _decoded(self, data: bytes) -> tuple[list[int], bytes]:
        """The whole numbers, and the bytes of one that goes on."""
        array: Any = np.frombuffer(data, dtype=np.uint8)
        ends = np.flatnonzero(array < 128)
        if not len(ends):
            if len(data) > _MOST_BYTES:
                self._place.refuse("has a number above 63 bits")
            return [], data
        starts = np.concatenate([[0], ends[:-1] + 1])
        lengths = ends - starts + 1
        if lengths.max() > _MOST_BYTES:
            self._place.refuse("has a number above 63 bits")
        values = array[starts].astype(np.int64) & 127
        for number in range(1, int(lengths.max())):
            longer = np.flatnonzero(lengths > number)
            values[longer] |= (array[starts[longer] + number].astype(np.int64) & 127) << (7 * number)
        return values.tolist(), data[int(ends[-1]) + 1 :]
