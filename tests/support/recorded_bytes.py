"""Files of the recorder, written here: two ranks that split, post, wait and call collectives."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from eee_testbed.benchmarks.recorder.table import FILE, FORMAT, MAGIC, NUMBERS, OWN_RECORDS

_OWN: Final = {name: number for name, (number, _) in OWN_RECORDS.items()}


def number(value: int) -> bytes:
    """Base 128."""
    found = bytearray()
    while value >= 128:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def record(name: str, *fields: int, since_ns: int = 1000, took_ns: int = 300) -> bytes:
    """A record of a function or of its own."""
    kind = _OWN.get(name, NUMBERS.get(name, 0))
    return b"".join(map(number, (len(fields) + 3, kind, since_ns, took_ns, *fields)))


def file_of(rank: int, ranks: int, records: Iterable[Sequence[int | str]], *, whole: bool = True) -> bytes:
    """A rank's file; a record is its name and its fields."""
    world = ("COMMUNICATOR", 0, 0, 0, 0, 2 * ranks + 1, 1, 1, 0, 0)
    alone = ("COMMUNICATOR", 1, 0, 0, 0, 3, rank + 1, 1, 0, 0)
    every = [("BEGIN", FORMAT, rank, ranks, 0, 5), world, alone, *records, *([("END",)] if whole else [])]
    return MAGIC + b"".join(record(str(name), *map(int, fields)) for name, *fields in every)


def write_recorded(folder: Path) -> None:
    """Two ranks."""
    for rank in range(2):
        other = 1 - rank + 2
        records: list[Sequence[int | str]] = [
            ("Comm_split",),
            ("COMMUNICATOR", 2, NUMBERS["Comm_split"], 0, 2, 4, 2, 1, 2, 3, 2, 2, 3, 2),
            ("Irecv", 0, 0, 1, 0, 4000),
            ("Isend", 0, 1, other, 8, 400),
            ("ASKED", NUMBERS["Testall"], 12),
            ("Waitall", 1, other, 8, 400, 4),
            ("Recv_init", 2, 0, 3 - rank, 4, 40),
            ("Alltoallv", 2, 0, 3, 4, *((3, 4) if rank else (4, 3))),
            ("Allgatherv", 0, 0, 5, 6),
            ("Neighbor_allgather", 2, 7, 7, 7, 7),
            ("Ibcast", 0, 0, 2, 700),
            ("Wait", 0),
            ("Put",),
            ("FAILED", NUMBERS["Send"]),
        ]
        (folder / f"{FILE}.{rank}").write_bytes(file_of(rank, 2, records))
