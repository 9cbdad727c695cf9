"""The folder of a simulation: its description and a Parquet file with one row a point, which grows point by point."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, get_args

import polars as pl

from eee_testbed.analysis.calibration import Calibration, save_calibration
from eee_testbed.lab import durable
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.lab.untrusted_files import lose
from eee_testbed.record.frames import read_frame
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.folder import ResultFolder, WrongFolder
from eee_testbed.simulation.older_results import with_turning_on
from eee_testbed.simulation.point import Point

_REMEDY: Final = "remove that file, and the points are simulated again"
POINTS: Final = "points.parquet"
CALIBRATION: Final = "calibration.yaml"
_TYPES: Final = {float: pl.Float64, int: pl.Int64, bool: pl.Boolean, str: pl.String}


def _column(kind: Any) -> Any:
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    return _TYPES.get(kind, pl.String)


SCHEMA: Final = {field.name: _column(field.type) for field in fields(Point)}
"""Columns of the Parquet file; `Point` says what they mean."""

_ALWAYS: Final = tuple(field.name for field in fields(Point) if not isinstance(field.type, UnionType))
_COUNTED: Final = (
    *("seed", "draw", "latency", "latency_half_width", "p50", "p99", "largest", "packets", "hops", "accepted"),
    *("warm_up_cycles", "cycles", "control_share", "control_latency", "energy_pj_per_flit", "energy_ratio"),
)
_MOST: Final = 1e18
_MOST_LOAD: Final = 1e3
_EXACT: Final = 1e-6
_SHARES: Final = tuple(name for name in _ALWAYS if name.endswith("_share"))


class Results(ResultFolder):
    """Points of one description. Opening the folder again continues it.

    The description is written with the first point. With a calibration, which is copied beside the points, the
    description is that of the links' fitted values.
    """

    def __init__(self, folder: Path, description: Description, calibration: Calibration | None = None) -> None:
        self._calibration = calibration
        self._points: list[Point] = []
        super().__init__(folder, json.dumps(_identity(description, calibration), indent=1, sort_keys=True) + "\n")

    def _load(self) -> None:
        self._points = self._own(lambda: read_points(self._folder / POINTS))

    def _claim(self) -> None:
        if self._calibration is not None:
            save_calibration(self._folder / CALIBRATION, self._calibration)
        else:
            (self._folder / CALIBRATION).unlink(missing_ok=True)
        super()._claim()

    @property
    def points(self) -> tuple[Point, ...]:
        """All points so far, by load, seed and draw."""
        return tuple(sorted(self._points, key=lambda point: (point.load, point.seed, point.draw)))

    def find(self, load: float, seed: int, draw: int = 0) -> Point | None:
        """A point that is there already."""
        wanted = load, seed, draw
        return next((point for point in self._points if (point.load, point.seed, point.draw) == wanted), None)

    def add(self, point: Point) -> None:
        """Keep a point; it is on the disk when this returns."""
        first = not self._points
        self._points.append(point)
        out = BytesIO()
        frame_of(self.points).write_parquet(out)
        with self._room():
            if first:
                self._claim()
            durable.replace(self._folder / POINTS, out.getvalue())


def frame_of(points: Sequence[Point]) -> pl.DataFrame:
    """One row a point."""
    return pl.DataFrame([asdict(point) for point in points], schema=SCHEMA)


def read_points(path: Path) -> list[Point]:
    """The points of a file, none if there is no file; WrongFolder if it is something else."""
    if not path.exists():
        return []
    try:
        found = read_frame(path, SCHEMA, _REMEDY)
    except UnreadableFile as error:
        raise WrongFolder(str(error)) from error
    points, lost = [], 0
    for row in with_turning_on(found).iter_rows(named=True):
        if all(row[name] is not None for name in _ALWAYS) and _in_range(row):
            points.append(Point(**row))
        else:
            lost += 1
    if lost and not points:
        raise WrongFolder(f"{path} has no point: {_REMEDY}.")
    if lost:
        lose(path, 0, f"{lost} of its points are left out, as they lack a figure: {_REMEDY}")
    return points


def _in_range(row: Mapping[str, Any]) -> bool:
    """Whether the figures of a point are possible ones."""
    return (
        0 < row["load"] <= _MOST_LOAD
        and row["engine"] in {"flit", "packet"}
        and all(-_EXACT <= row[name] <= 1 + _EXACT for name in _SHARES)
        and all(row[name] is None or 0 <= row[name] < _MOST for name in _COUNTED)
    )


def _identity(description: Description, calibration: Calibration | None) -> dict[str, Any]:
    """What a point depends on: everything but which loads, seeds and draws are asked for."""
    plain = description.model_dump(
        exclude={"loads", "curve", "seeds", "calibration", "programs", "node_links", "card_links"}
    )
    plain["network"] = description.network.form()
    if calibration is not None and description.calibration is not None:
        digest = sha256(calibration.model_dump_json().encode()).hexdigest()
        plain["calibration"] = description.calibration.model_dump(exclude={"file", "draws"}) | {"digest": digest}
    return plain
