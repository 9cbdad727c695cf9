"""Parquet files that may be damaged or hostile, as frames of a known schema."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import polars as pl

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.lab.plain_text import one_line

_REMEDY: Final = "restore it from a copy"
_Read = TypeVar("_Read")
_TYPES_READ: Final[Mapping[Any, frozenset[Any]]] = {
    pl.Float64: frozenset({pl.Float64, pl.Float32, pl.Int64, pl.Int32, pl.Null}),
    pl.Int64: frozenset({pl.Int64, pl.Int32, pl.UInt32, pl.Null}),
    pl.String: frozenset({pl.String, pl.Null}),
    pl.Boolean: frozenset({pl.Boolean, pl.Null}),
}
"""By the type wanted, those that it is read from."""


def read_frame(path: Path, schema: Mapping[str, Any], remedy: str = _REMEDY) -> pl.DataFrame:
    """The columns of a schema; UnreadableFile if the file is none of its kind. FileNotFoundError passes through.

    A column that the file lacks is empty, as is a number that is not finite. Text is safe to show.
    """
    return _of_schema(_opened(path, remedy, lambda: pl.read_parquet(path, glob=False)), path, schema, remedy)


def parse_parquet(data: bytes, path: Path, remedy: str, *, most_rows: int) -> tuple[Mapping[str, str], pl.DataFrame]:
    """The metadata and all columns of a file's content, as they are; UnreadableFile as `read_frame` has it.

    More rows than that are refused before they are read: a small file may hold very many.
    """
    metadata = _opened(path, remedy, lambda: pl.read_parquet_metadata(data))
    rows = _opened(path, remedy, lambda: pl.scan_parquet(data).select(pl.len()).collect().item())
    if rows > most_rows:
        raise UnreadableFile(str(path), 0, f"has more than {most_rows} rows", remedy)
    return metadata, _opened(path, remedy, lambda: pl.read_parquet(data))


def _opened(path: Path, remedy: str, read: Callable[[], _Read]) -> _Read:
    """What polars reads, its errors as UnreadableFile."""
    try:
        return read()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableFile(str(path), 0, f"cannot be read ({error.strerror or error})", remedy) from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, MemoryError) as error:
        said = " ".join(str(error).split())[:200]
        raise UnreadableFile(str(path), 0, f"is damaged or not Parquet ({said})", remedy) from error


def _of_schema(frame: pl.DataFrame, path: Path, schema: Mapping[str, Any], remedy: str) -> pl.DataFrame:
    columns = []
    for name, kind in schema.items():
        if name not in frame.columns:
            columns.append(pl.Series(name, [None] * frame.height, dtype=kind))
            continue
        column = frame[name]
        if column.dtype not in _TYPES_READ[kind]:
            raise UnreadableFile(str(path), 0, f"has the column {name} of the type {column.dtype}, not {kind}", remedy)
        columns.append(_usable(column.cast(kind), kind))
    return pl.DataFrame(columns)


def _usable(column: pl.Series, kind: Any) -> pl.Series:
    if kind == pl.Float64:
        return column.to_frame().select(pl.when(pl.col(column.name).is_finite()).then(pl.col(column.name))).to_series()
    if kind == pl.String:
        texts = {text: one_line(text) for text in column.unique().to_list() if text is not None}
        unsafe = {text: safe for text, safe in texts.items() if text != safe}
        return column.replace(unsafe) if unsafe else column
    return column
