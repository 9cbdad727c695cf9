"""A replay file: the MPI calls of every rank of a program, in one Parquet file.

A row is a call; the rows of a rank are in the order of its calls, and ranks follow each other. `COLUMNS` says what the
columns mean, `calls.CALLS` what `bytes` and `sizes` are of which call. A loop is a row LOOP with the number of its
passes, its calls, and a row END. Peers are ranks of the call's communicator. What concerns the whole program is JSON in
the file's metadata (key `replay`): its name, ranks, communicators, where it comes from, and what was assumed in reading.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

FORMAT: Final = 1
"""Of the file; a reader refuses later ones."""

KEY: Final = "replay"

COLUMNS: Final[Mapping[str, tuple[Any, str]]] = {
    "rank": (pl.UInt32, "rank in the program"),
    "call": (pl.UInt8, "number of the call: the table of calls"),
    "compute_ns": (pl.UInt64, "time from the end of the call before, spent computing"),
    "communicator": (pl.UInt32, "number of the communicator in the metadata; 0 is the world"),
    "peer": (pl.Int32, "rank in the communicator: destination, source or root; -1 any source, -2 MPI_PROC_NULL"),
    "tag": (pl.Int32, "of a message; -1 any tag"),
    "bytes": (pl.Int64, "as the table of calls says"),
    "request": (pl.Int32, "request that the call begins or cancels; -1 none"),
    "flags": (pl.UInt8, "1 MPI_IN_PLACE, 2 an operation that does not commute"),
    "sizes": (pl.List(pl.Int64), "as the table of calls says; null for most calls"),
}
"""Type and meaning of the columns."""

SCHEMA: Final = {name: kind for name, (kind, _) in COLUMNS.items()}


@dataclass(frozen=True, slots=True)
class Program:
    """The calls of a program.

    `communicators[i]` lists the world ranks of communicator i, in the order of their ranks there; 0 is the world.
    `source` says what the file was made from, `assumed` what the source did not hold and was filled in, as sentences.
    """

    name: str
    ranks: int
    calls: pl.DataFrame
    communicators: Sequence[Sequence[int]]
    source: str
    assumed: Sequence[str] = field(default=())


def write_program(path: Path, program: Program) -> None:
    """Write the file; OSError passes through."""
    about = {
        "format": FORMAT,
        "name": program.name,
        "ranks": program.ranks,
        "communicators": [_packed(ranks) for ranks in program.communicators],
        "source": program.source,
        "assumed": list(program.assumed),
    }
    program.calls.select(list(SCHEMA)).cast(SCHEMA).write_parquet(  # type: ignore[arg-type]
        path, compression="zstd", metadata={KEY: json.dumps(about)}
    )


def _packed(ranks: Sequence[int]) -> dict[str, int] | list[int]:
    """A communicator in JSON: an arithmetic sequence by its first rank, number and step, else the list."""
    step = ranks[1] - ranks[0] if len(ranks) > 1 else 1
    if step and list(ranks) == list(range(ranks[0], ranks[0] + step * len(ranks), step)):
        return {"first": ranks[0], "ranks": len(ranks), "step": step}
    return list(ranks)
