"""Whether a file has the form of a table: one sentence a fault. Rows count from 1, without the heading."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.dataset.schema import MEASURED, TABLES, Field, Table
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.plain_text import one_line

SHOWN: Final = 20
"""Rows with the same fault in a column that are named one by one."""

_SUFFIXES: Final = (".parquet", ".csv")
_INTEGERS: Final = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
_FLOATS: Final = (pl.Float32, pl.Float64)


def files_of(place: Path) -> list[Path]:
    """A file, or all tables of a folder; LabError if there are none."""
    if place.is_file():
        if place.suffix not in _SUFFIXES:
            raise LabError(f"{place} is neither .parquet nor .csv: name a table.")
        return [place]
    found = sorted(path for path in place.glob("*") if path.suffix in _SUFFIXES) if place.is_dir() else []
    if not found:
        raise LabError(f"{place} has no table: name a .parquet or .csv file, or a folder with some.")
    return found


def table_of(path: Path) -> Table:
    """The table that a file is checked against: by its name, else that of measured files."""
    return TABLES.get(path.stem, MEASURED)


def faults_of(path: Path) -> list[str]:
    """Everything that is wrong with a file; LabError if it cannot be read."""
    table = table_of(path)
    frame = _read(path)
    names = [one.name for one in table.fields]
    found = [
        f"{path}: the column {one.name} is missing: add it{f' ({one.means}, in {one.unit})' if one.unit else ''}."
        for one in table.fields
        if one.name not in frame.columns
    ]
    found += [
        f"{path}: the column {one_line(name)} is unknown: remove it, or name it as one of {', '.join(names)}."
        for name in frame.columns
        if name not in names
    ]
    for field in table.fields:
        if field.name in frame.columns:
            found += [f"{path}, {fault}" for fault in _limited(field, _faults(field, frame[field.name]))]
    if table is MEASURED and not found:
        found += [f"{path}, {fault}" for fault in _of_intervals(frame)]
    return found


def _read(path: Path) -> pl.DataFrame:
    """As it is; every cell of CSV as text."""
    try:
        if path.suffix == ".csv":
            return pl.read_csv(path, infer_schema=False, glob=False)
        return pl.read_parquet(path, glob=False)
    except OSError as error:
        raise LabError(f"{path} cannot be read ({error.strerror or error}): name a table.") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        said = " ".join(str(error).split())[:120]
        raise LabError(f"{path} is damaged, or not what its name says ({said}): write it again.") from error


def _limited(field: Field, faults: Iterator[str]) -> Iterator[str]:
    every = list(faults)
    yield from every[:SHOWN]
    if len(every) > SHOWN:
        yield f"column {field.name}: {len(every) - SHOWN} more rows have faults like these."


def _faults(field: Field, column: pl.Series) -> Iterator[str]:
    if column.dtype != pl.String and column.dtype not in _types(field) and column.dtype != pl.Null:
        yield f"column {field.name}: it has the type {column.dtype}: write {field.kind}."
        return
    last: float | None = None
    for number, value in enumerate(column, 1):
        said, known = _parsed(field, value)
        where = f"row {number}, {field.name}"
        if said:
            yield f"{where}: {said}."
        elif known is not None:
            yield from (f"{where}: {one}." for one in _out_of_bounds(field, known))
            if field.rises and last is not None and known < last:
                yield f"{where}: {known} is before {last} of the row above: sort the rows by it."
            last = known if field.rises else None


def _types(field: Field) -> tuple[Any, ...]:
    return {"string": (pl.String,), "integer": _INTEGERS, "number": (*_FLOATS, *_INTEGERS)}[field.kind]


def _parsed(field: Field, value: object) -> tuple[str, Any]:
    """What is wrong with a value, else the value; None for an empty cell that may be empty."""
    if value is None or value == "":
        return ("it is empty: write a value" if field.required else ""), None
    if field.kind == "string":
        return "", value
    try:
        number = int(str(value)) if field.kind == "integer" else float(str(value))
    except ValueError:
        return f"'{one_line(str(value))[:40]}' is not a valid {field.kind}: correct it", None
    if not math.isfinite(number):
        return f"{number} is not a measured value: {'write one' if field.required else 'leave the cell empty'}", None
    return "", number


def _out_of_bounds(field: Field, value: Any) -> Iterator[str]:
    unit = f" {field.unit}" if field.unit not in ("", "1") else ""
    if field.among and value not in field.among:
        yield f"'{one_line(str(value))[:40]}' is unknown: write one of {', '.join(field.among)}"
    if field.least is not None and value < field.least:
        yield f"{value} is below {field.least:g}{unit}: correct it, or its unit"
    if field.most is not None and value > field.most:
        yield f"{value} is above {field.most:g}{unit}: correct it, or its unit"


def _of_intervals(frame: pl.DataFrame) -> Iterator[str]:
    """Ends of an interval that are not around their value."""
    names = ("power_low_watt", "power_watt", "power_high_watt")
    for number, row in enumerate(frame.select(names).cast(pl.Float64, strict=False).iter_rows(), 1):
        low, value, high = row
        if (low is not None and low > value) or (high is not None and high < value):
            yield f"row {number}, power_watt: {value} W is not between {low} and {high} W: correct the interval."


def checked(place: Path) -> Mapping[Path, list[str]]:
    """The faults of each file of a place."""
    return {path: faults_of(path) for path in files_of(place)}
