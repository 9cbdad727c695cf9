"""The folder of a simulation: its description and a Parquet file with one row a point, which grows point by point."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from io import BytesIO
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, get_args

import polars as pl

from lab import durable
from lab.errors import LabError
from simulation.description import Description
from simulation.point import Point

_POINTS: Final = "points.parquet"
_DESCRIPTION: Final = "description.json"
_TYPES: Final = {float: pl.Float64, int: pl.Int64, bool: pl.Boolean, str: pl.String}


class WrongFolder(LabError):
    """A folder that cannot take a simulation's points."""


def _column(kind: Any) -> Any:
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    return _TYPES.get(kind, pl.String)


SCHEMA: Final = {field.name: _column(field.type) for field in fields(Point)}
"""Columns of the Parquet file; `Point` says what they mean."""


class Results:
    """Points of one description. Opening the folder again continues it."""

    def __init__(self, folder: Path, description: Description) -> None:
        self._folder = folder
        text = json.dumps(_identity(description), indent=1, sort_keys=True) + "\n"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = folder / _DESCRIPTION
            if not written.exists():
                durable.replace(written, text)
            elif written.read_text(encoding="utf-8") != text:
                raise WrongFolder(
                    f"{folder} holds points of another simulation: name another folder with --output, or remove it."
                )
            self._points = _read(folder / _POINTS)
        except OSError as error:
            raise WrongFolder(f"{folder}: {error.strerror}; name another folder with --output.") from error

    @property
    def points(self) -> tuple[Point, ...]:
        """All points so far, by load and seed."""
        return tuple(sorted(self._points, key=lambda point: (point.load, point.seed)))

    def find(self, load: float, seed: int) -> Point | None:
        """A point that is there already."""
        return next((point for point in self._points if (point.load, point.seed) == (load, seed)), None)

    def add(self, point: Point) -> None:
        """Keep a point; it is on the disk when this returns."""
        self._points.append(point)
        out = BytesIO()
        frame_of(self.points).write_parquet(out)
        try:
            durable.replace(self._folder / _POINTS, out.getvalue())
        except OSError as error:
            raise WrongFolder(
                f"{self._folder}: {error.strerror}; make room, and run the same command again."
            ) from error


def frame_of(points: Sequence[Point]) -> pl.DataFrame:
    """One row a point."""
    return pl.DataFrame([asdict(point) for point in points], schema=SCHEMA)


def _read(path: Path) -> list[Point]:
    if not path.exists():
        return []
    try:
        return [Point(**row) for row in pl.read_parquet(path).iter_rows(named=True)]
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise WrongFolder(f"{path} is not a file of points: remove it, and the points are simulated again.") from error


def _identity(description: Description) -> dict[str, Any]:
    """What a point depends on: everything but which loads and seeds are asked for."""
    plain = description.model_dump(exclude={"loads", "curve", "seeds"})
    return plain | {"network": description.network.form()}
