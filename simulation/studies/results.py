"""The folder of a study: Parquet files that grow point by point.

`points.parquet` has a row a point: the value of each axis and the columns of a simulation's `replays.parquet` but
`process_s`, which is in `costs.parquet`, so that equal studies give equal points. `jobs.parquet` has the mean length of
each job's runs, and `links/` a file for each point whose links sleep: a row a link between routers that carried
anything. A point counts when its row is in `points.parquet`, which is written last.
"""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.lab import durable
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.record.frames import read_frame
from eee_testbed.simulation.folder import ResultFolder, WrongFolder
from eee_testbed.simulation.older_results import with_packets, with_turning_on
from eee_testbed.simulation.replay.replayed import LINK_FIGURES
from eee_testbed.simulation.replay.results import REPLAY_SCHEMA, replay_frame, replayed_of
from eee_testbed.simulation.studies.expand import Case, case_key
from eee_testbed.simulation.studies.points import StudyPoint

POINTS: Final = "points.parquet"
COSTS: Final = "costs.parquet"
JOBS: Final = "jobs.parquet"
LINKS: Final = "links"
_COST: Final = "process_s"
_REMEDY: Final = "remove the folder, and the study is simulated again"
POINT_SCHEMA: Final = {name: kind for name, kind in REPLAY_SCHEMA.items() if name != _COST}
"""Columns of `points.parquet` beside the axes."""

_JOBS: Final = {"job": pl.Int64, "mean_s": pl.Float64}


class StudyResults(ResultFolder):
    """Points of one study. Opening the folder again continues it."""

    def __init__(self, folder: Path, cases: Sequence[Case]) -> None:
        self._axes = list(cases[0].labels)
        self._order = {case.key: number for number, case in enumerate(cases)}
        self._points: list[StudyPoint] = []
        self._rows: dict[tuple[str, int], pl.DataFrame] = {}
        plain = {case.key: case.description.model_dump(mode="json", exclude={"seeds"}) for case in cases}
        super().__init__(folder, json.dumps(plain, indent=1, sort_keys=True) + "\n")

    def _load(self) -> None:
        self._points = self._own(lambda: read_points(self._folder, self._axes))
        self._rows = {one.key: _row(one) for one in self._points}

    @property
    def folder(self) -> Path:
        """Where the results are."""
        return self._folder

    @property
    def points(self) -> tuple[StudyPoint, ...]:
        """All points so far, in the order of the study."""
        return tuple(sorted(self._points, key=lambda one: (self._order[one.key[0]], one.key[1])))

    def has(self, case: Case, seed: int) -> bool:
        """Whether a point is there already."""
        return (case.key, seed) in self._rows

    def add(self, found: StudyPoint) -> None:
        """Keep a point; it is on the disk when this returns."""
        first = not self._points
        self._points.append(found)
        self._rows[found.key] = _row(found)
        with self._room():
            if first:
                self._claim()
            if found.replayed.sleeping:
                path = links_file(self._folder, found)
                path.parent.mkdir(exist_ok=True)
                links = pl.DataFrame(found.replayed.links, schema=dict.fromkeys(LINK_FIGURES, pl.Int64))
                _write(path, links.sort("from_router", "port"))
            points = self.points
            rows = pl.concat([self._rows[one.key] for one in points])
            _write(self._folder / JOBS, pl.concat([_job_rows(one) for one in points]))
            _write(self._folder / COSTS, rows.select(*self._axes, "seed", _COST))
            _write(self._folder / POINTS, rows.drop(_COST))


def _row(point: StudyPoint) -> pl.DataFrame:
    labels = pl.DataFrame([dict(point.labels)], schema=dict.fromkeys(point.labels, pl.String))
    return pl.concat([labels, replay_frame([point.replayed])], how="horizontal")


def _job_rows(point: StudyPoint) -> pl.DataFrame:
    key = dict(point.labels) | {"seed": point.replayed.seed}
    rows = [key | {"job": job, "mean_s": mean_s} for job, mean_s in enumerate(point.job_s)]
    return pl.DataFrame(rows, schema={**dict.fromkeys(point.labels, pl.String), "seed": pl.Int64, **_JOBS})


def _write(path: Path, frame: pl.DataFrame) -> None:
    out = BytesIO()
    frame.write_parquet(out)
    durable.replace(path, out.getvalue())


def links_file(folder: Path, point: StudyPoint) -> Path:
    """Of a point whose links sleep."""
    return folder / LINKS / f"{case_key(point.labels)},seed={point.replayed.seed}.parquet"


def read_links(folder: Path, point: StudyPoint) -> pl.DataFrame:
    """`LINK_FIGURES` of each link that carried anything; WrongFolder if they are not there."""
    try:
        return read_frame(links_file(folder, point), dict.fromkeys(LINK_FIGURES, pl.Int64), _REMEDY)
    except (UnreadableFile, FileNotFoundError) as error:
        raise WrongFolder(f"{folder}: {error}; {_REMEDY}.") from error


def read_points(folder: Path, axes: Sequence[str]) -> list[StudyPoint]:
    """The points of a folder; none if it has none. WrongFolder if a file is something else."""
    if not (folder / POINTS).is_file():
        return []
    labels: dict[str, Any] = dict.fromkeys(axes, pl.String)
    key = [*axes, "seed"]
    try:
        rows = with_packets(with_turning_on(read_frame(folder / POINTS, labels | POINT_SCHEMA, _REMEDY)))
        jobs = read_frame(folder / JOBS, labels | {"seed": pl.Int64} | _JOBS, _REMEDY)
        costs = read_frame(folder / COSTS, labels | {"seed": pl.Int64, _COST: pl.Float64}, _REMEDY)
    except (UnreadableFile, FileNotFoundError) as error:
        raise WrongFolder(f"{folder}: {error}; {_REMEDY}.") from error
    both = rows.join(costs, on=key, how="inner")
    if both.null_count().sum_horizontal().item():
        raise WrongFolder(f"{folder / POINTS} lacks figures: {_REMEDY}.")
    means = {tuple(row[:-1]): tuple(row[-1]) for row in _job_means(jobs, key).iter_rows()}
    return [
        StudyPoint(
            {axis: row[axis] for axis in axes}, replayed_of(row, ()), means.get(tuple(row[one] for one in key), ())
        )
        for row in both.iter_rows(named=True)
    ]


def _job_means(jobs: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """A row a point: its key, and the means of its jobs."""
    return jobs.sort("job").group_by(*key, maintain_order=True).agg("mean_s")
