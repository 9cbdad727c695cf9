"""A replay file: the MPI calls of every rank of a program, in one Parquet file.

Each row is a call. The rows of a rank are in the order of its calls, rank after rank. The meaning of `bytes` and
`sizes` depends on the call. A loop is a row LOOP with the number of its passes, then its calls, then a row END. Peers
are ranks of the call's communicator. Data of the whole program are a JSON object in the file's metadata, `replay`.
Between the columns and the footer is a digest of everything else; readers of replay files check it, and other Parquet
readers skip it.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeGuard

import polars as pl

from eee_testbed.lab import durable
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.lab.json_text import parse_object
from eee_testbed.record.frames import parse_parquet
from eee_testbed.simulation.replay.checks import MOST_MEMBERS, MOST_RANKS, BadProgram, check_program
from eee_testbed.simulation.replay.seal import sealed, unsealed

FORMAT: Final = 1
"""Of the file; a reader refuses later ones."""

KEY: Final = "replay"

COLUMNS: Final[Mapping[str, tuple[Any, str]]] = {
    "rank": (pl.UInt32, "rank in the program"),
    "call": (pl.UInt8, "number of the call in the table of calls"),
    "compute_ns": (pl.UInt64, "computing time since the end of the previous call"),
    "communicator": (pl.UInt32, "number of the communicator in the metadata; 0 is the world"),
    "peer": (pl.Int32, "rank in the communicator: destination, source or root; -1 any source, -2 MPI_PROC_NULL"),
    "tag": (pl.Int32, "of a message; -1 any tag"),
    "bytes": (pl.Int64, "as the table of calls says"),
    "request": (pl.Int32, "request that the call begins or cancels; -1 none"),
    "flags": (pl.UInt8, "1 MPI_IN_PLACE, 2 an operation that does not commute"),
    "sizes": (pl.List(pl.Int64), "as the table of calls says; null for most calls"),
}
"""Type and meaning of the columns."""

METADATA: Final[Mapping[str, str]] = {
    "format": f"version of the format: {FORMAT}",
    "name": "name of the program",
    "ranks": "number of ranks",
    "communicators": "world ranks of each, in the order of their ranks there: a list, or first, ranks and step",
    "source": "what the file was made from",
    "assumed": "sentences: assumptions about data that the source lacks",
    "recorded_ns": "run time of the recorded program, ns; null if unknown",
}
"""Keys of the JSON object in the metadata `replay`."""

SCHEMA: Final = {name: kind for name, (kind, _) in COLUMNS.items()}
_MOST_CALLS: Final = 1 << 28
_REMEDY: Final = "import the trace or generate the program again"


@dataclass(frozen=True, slots=True)
class Program:
    """The calls of a program.

    `communicators[i]` lists the world ranks of communicator i, in the order of their ranks there; 0 is the world.
    `source` says what the file was made from, `assumed` what the source did not hold and was filled in, as sentences.
    `recorded_ns` is how long the program ran where it was recorded; None if it was not, or if nobody knows.
    """

    name: str
    ranks: int
    calls: pl.DataFrame
    communicators: Sequence[Sequence[int]]
    source: str
    assumed: Sequence[str] = field(default=())
    recorded_ns: int | None = None


def write_program(path: Path, program: Program) -> None:
    """Write the file, wholly or not at all; OSError passes through."""
    about = {
        "format": FORMAT,
        "name": program.name,
        "ranks": program.ranks,
        "communicators": [_packed(ranks) for ranks in program.communicators],
        "source": program.source,
        "assumed": list(program.assumed),
        "recorded_ns": program.recorded_ns,
    }
    parquet = io.BytesIO()
    program.calls.select(list(SCHEMA)).cast(SCHEMA).write_parquet(  # type: ignore[arg-type]
        parquet, compression="zstd", metadata={KEY: json.dumps(about)}
    )
    where, content = path.resolve(), sealed(parquet.getvalue())
    if where.exists() and not where.is_file():
        where.write_bytes(content)  # a device, such as /dev/null, stays one
    else:
        durable.replace(where, content)


def _packed(ranks: Sequence[int]) -> dict[str, int] | list[int]:
    """A communicator in JSON: an arithmetic sequence by its first rank, number and step, else the list."""
    step = ranks[1] - ranks[0] if len(ranks) > 1 else 1
    if step and list(ranks) == list(range(ranks[0], ranks[0] + step * len(ranks), step)):
        return {"first": ranks[0], "ranks": len(ranks), "step": step}
    return list(ranks)


def read_program(path: Path) -> Program:
    """The program of a file, every reference in it checked; UnreadableFile says what is wrong with it."""
    try:
        parquet = unsealed(path.read_bytes())
    except OSError as error:
        raise UnreadableFile(str(path), 0, f"cannot be read ({error.strerror})", "name a replay file") from error
    except ValueError as error:
        raise UnreadableFile(str(path), 0, str(error), _REMEDY) from error
    metadata, calls = parse_parquet(parquet, path, _REMEDY, most_rows=_MOST_CALLS)
    if KEY not in metadata:
        raise UnreadableFile(str(path), 0, f"has no metadata `{KEY}`", _REMEDY)
    try:
        return _program(parse_object(metadata[KEY]), calls)
    except _Later as error:
        raise UnreadableFile(str(path), 0, str(error), "update eee-testbed") from error
    except BadProgram as error:
        raise UnreadableFile(str(path), 0, str(error), _REMEDY) from error
    except ValueError as error:
        raise UnreadableFile(str(path), 0, f"has metadata that cannot be read ({error})", _REMEDY) from error


class _Later(ValueError):
    """A file of a later format."""


def _program(about: Mapping[str, Any], rows: pl.DataFrame) -> Program:
    form = about.get("format")
    if _is_number(form) and form > FORMAT:
        raise _Later(f"has the format {form}, and this version reads up to {FORMAT}")
    if form != FORMAT or not _is_number(form):
        raise BadProgram("has metadata without a format")
    name, ranks, source = about.get("name"), about.get("ranks"), about.get("source")
    assumed, packed, recorded_ns = about.get("assumed"), about.get("communicators"), about.get("recorded_ns")
    if not isinstance(name, str) or not isinstance(source, str) or not _are_texts(assumed):
        raise BadProgram("has metadata without name, source or assumed")
    if not _is_number(ranks) or not 1 <= ranks <= MOST_RANKS:
        raise BadProgram(f"has metadata without a number of ranks from 1 to {MOST_RANKS}")
    if recorded_ns is not None and not (_is_number(recorded_ns) and 0 <= recorded_ns < 1 << 63):
        raise BadProgram("has metadata with a recorded time that is no number of nanoseconds")
    if not isinstance(packed, list):
        raise BadProgram("has metadata without communicators")
    communicators = tuple(_unpacked(one, number) for number, one in enumerate(packed))
    calls = _of_schema(rows)
    check_program(calls, ranks, communicators)
    return Program(name, ranks, calls, communicators, source, tuple(assumed), recorded_ns)


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _unpacked(value: object, number: int) -> Sequence[int]:
    """The ranks of a communicator, as `_packed` wrote them."""
    match value:
        case {"first": first, "ranks": ranks, "step": step, **rest} if not rest:
            if all(map(_is_number, (first, ranks, step))) and 0 < ranks <= MOST_MEMBERS and step:
                return range(first, first + step * ranks, step)
        case list() if all(map(_is_number, value)):
            return value
    raise BadProgram(
        f"has in its metadata a communicator {number} that is neither a list of ranks nor first, ranks, step"
    )


def _of_schema(rows: pl.DataFrame) -> pl.DataFrame:
    columns = []
    for name, kind in SCHEMA.items():
        if name not in rows.columns:
            raise BadProgram(f"has no column `{name}`")
        column = rows[name]
        plain = column.dtype.inner if isinstance(column.dtype, pl.List) else column.dtype
        if isinstance(column.dtype, pl.List) != (name == "sizes") or not plain.is_integer():
            raise BadProgram(f"has the column `{name}` of the type {column.dtype}, not {kind}")
        try:
            column = column.cast(kind, strict=True)
        except pl.exceptions.PolarsError as error:
            raise BadProgram(f"has numbers in the column `{name}` that are none of {kind}") from error
        empty = column.list.eval(pl.element().is_null()).list.any() if name == "sizes" else column.is_null()
        if empty.any():
            raise BadProgram(f"has empty cells in the column `{name}`")
        columns.append(column)
    return pl.DataFrame(columns)
