"""Rows of a data set that exist already: points of studies, and truths of virtual labs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.dataset.power import LABS, truth_of
from eee_testbed.lab.errors import LabError
from eee_testbed.record.frames import parse_parquet
from eee_testbed.simulation.studies.expand import case_key
from eee_testbed.simulation.studies.results import POINT_SCHEMA, POINTS

_MOST_POINTS: Final = 1_000_000
_LOW_POWER: Final = ("quiet", "refresh", "fast")


def point_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Rows of the table `points`, of one study's folder; LabError if it is none."""
    path = folder / POINTS
    remedy = "name the folder of a study's results, such as simulations/NAME"
    try:
        _, found = parse_parquet(path.read_bytes(), path, remedy, most_rows=_MOST_POINTS)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}; {remedy}.") from error
    axes = [name for name in found.columns if name not in POINT_SCHEMA]
    if not POINT_SCHEMA.keys() <= set(found.columns):
        raise LabError(f"{path} has no points of a study: {remedy}.")
    for row in found.iter_rows(named=True):
        yield {
            "study": folder.resolve().name,
            "case": case_key({axis: str(row[axis]) for axis in axes}),
            "seed": row["seed"],
            "run_time_s": row["run_time_s"],
            "link_low_power_fraction": sum(row[f"{state}_share"] for state in _LOW_POWER),
            "carried_low_power_fraction": sum(row[f"carried_{state}_share"] for state in _LOW_POWER),
            "cpu_fraction": row["cpu_use"],
            "message_count": row["messages"],
        }


def points(folders: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Of several studies; LabError if two folders have the same name."""
    names = [folder.resolve().name for folder in folders]
    for name in names:
        if names.count(name) > 1:
            raise LabError(f"two studies are named {name}: rename one of the folders, as points are known by that.")
    for folder in folders:
        yield from point_rows(folder)


def truth_rows() -> Iterator[dict[str, Any]]:
    """Rows of the table `truths`, in the order of the files' keys."""
    for lab in LABS:
        for key, value in _leaves(truth_of(lab).model_dump(mode="json"), ""):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            yield {
                "lab": lab,
                "key": key,
                "value": float(value) if number else None,
                "text": None if number or value is None else str(value),
            }


def _leaves(value: object, key: str) -> Iterator[tuple[str, Any]]:
    """Values that are neither a mapping nor a list, by their keys."""
    if isinstance(value, Mapping):
        parts: Iterator[tuple[str, Any]] = iter(value.items())
    elif isinstance(value, list):
        parts = ((str(number), one) for number, one in enumerate(value))
    else:
        yield key, value
        return
    for name, below in parts:
        yield from _leaves(below, f"{key}.{name}" if key else str(name))


def frame(rows: Iterator[dict[str, Any]], types: Mapping[str, Any]) -> pl.DataFrame:
    """The rows of a table with its types, in order."""
    return pl.DataFrame(list(rows), schema=dict(types), orient="row")
