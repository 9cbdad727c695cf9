"""The folder of a simulation of programs: its description, and Parquet files that grow replay by replay.

`replays.parquet` has a row a replay, `runs.parquet` a row a run of a job, `ranks.parquet` a row a rank of a replay. A
replay is in all three or in none that counts: a row of `replays.parquet`, written last, makes it count.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.lab import durable
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.record.frames import read_frame
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.folder import ResultFolder, WrongFolder
from eee_testbed.simulation.older_results import with_packets, with_turning_on
from eee_testbed.simulation.replay.replayed import JobRun, Replayed

REPLAYS: Final = "replays.parquet"
RUNS: Final = "runs.parquet"
RANKS: Final = "ranks.parquet"
_REMEDY: Final = "remove that file, and the programs are replayed again"
_KEY: Final = {"seed": pl.Int64, "sleeping": pl.Boolean}
_SHARES: Final = {"shares": "", "carried_shares": "carried_", "node_shares": "node_"}
"""Fields of `Replayed` that are shares, and what their columns begin with."""

_STATES: Final = tuple(one.name for one in fields(StateShares))
_PLAIN: Final = {
    one.name: pl.Float64 if one.type is float else pl.Boolean if one.type is bool else pl.Int64
    for one in fields(Replayed)
    if one.type in (float, int, bool)
}

REPLAY_SCHEMA: Final[Mapping[str, Any]] = _PLAIN | {
    f"{prefix}{state}_share": pl.Float64 for prefix in _SHARES.values() for state in _STATES
}
"""Columns of `replays.parquet`: the figures of `Replayed`, and shares by state."""

RUN_SCHEMA: Final[Mapping[str, Any]] = _KEY | {
    "job": pl.Int64, "run": pl.Int64, "begin_s": pl.Float64, "end_s": pl.Float64
}  # fmt: skip


class ReplayResults(ResultFolder):
    """Replays of one description. Opening the folder again continues it."""

    def __init__(self, folder: Path, description: Description) -> None:
        self._replays: list[Replayed] = []
        super().__init__(folder, json.dumps(_identity(description), indent=1, sort_keys=True) + "\n")

    def _load(self) -> None:
        self._replays = self._own(lambda: read_replays(self._folder))

    @property
    def replays(self) -> tuple[Replayed, ...]:
        """All replays so far, without their ranks."""
        return tuple(sorted(self._replays, key=lambda one: (one.seed, one.sleeping)))

    def find(self, seed: int, *, sleeping: bool) -> Replayed | None:
        """A replay that is there already."""
        return next((one for one in self._replays if (one.seed, one.sleeping) == (seed, sleeping)), None)

    def add(self, found: Replayed) -> None:
        """Keep a replay; it is on the disk when this returns."""
        ranks = pl.DataFrame(found.ranks, schema=dict.fromkeys(found.ranks, pl.Int64)).with_columns(_key(found))
        before = self._ranks_before(ranks.schema)
        first = not self._replays
        self._replays.append(found)
        with self._room():
            if first:
                self._claim()
            self._write(RANKS, pl.concat([before, ranks]) if before is not None else ranks)
            self._write(RUNS, _run_frame(self.replays))
            self._write(REPLAYS, replay_frame(self.replays))

    def _ranks_before(self, schema: Mapping[str, Any]) -> pl.DataFrame | None:
        """Rows of the replays that count."""
        path = self._folder / RANKS
        if not self._replays or not path.is_file():
            return None
        kept = pl.DataFrame([{"seed": one.seed, "sleeping": one.sleeping} for one in self._replays], schema=_KEY)
        try:
            found = read_frame(path, schema, _REMEDY)
        except UnreadableFile as error:
            raise WrongFolder(str(error)) from error
        return found.join(kept, on=list(_KEY), how="semi")

    def _write(self, name: str, frame: pl.DataFrame) -> None:
        out = BytesIO()
        frame.write_parquet(out)
        durable.replace(self._folder / name, out.getvalue())


def _key(found: Replayed) -> list[pl.Expr]:
    return [pl.lit(found.seed, pl.Int64).alias("seed"), pl.lit(found.sleeping, pl.Boolean).alias("sleeping")]


def replay_frame(replays: Sequence[Replayed]) -> pl.DataFrame:
    """One row a replay."""
    return pl.DataFrame([_row(one) for one in replays], schema=dict(REPLAY_SCHEMA))


def _row(one: Replayed) -> dict[str, Any]:
    row = {name: getattr(one, name) for name in _PLAIN}
    for name, prefix in _SHARES.items():
        row |= {f"{prefix}{state}_share": share for state, share in asdict(getattr(one, name)).items()}
    return row


def _run_frame(replays: Sequence[Replayed]) -> pl.DataFrame:
    rows = [
        {"seed": one.seed, "sleeping": one.sleeping, "job": run.job, "run": run.run, "begin_s": run.begin_s,
         "end_s": run.end_s}
        for one in replays
        for run in one.runs
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=dict(RUN_SCHEMA))


def are_replays(folder: Path) -> bool:
    """Whether a folder holds replays."""
    return (folder / REPLAYS).is_file()


def read_replays(folder: Path) -> list[Replayed]:
    """The replays of a folder, without their ranks; none if it has none. WrongFolder if a file is something else."""
    if not are_replays(folder):
        return []
    try:
        rows = with_packets(with_turning_on(read_frame(folder / REPLAYS, REPLAY_SCHEMA, _REMEDY)))
        runs = read_frame(folder / RUNS, RUN_SCHEMA, _REMEDY)
    except (UnreadableFile, FileNotFoundError) as error:
        raise WrongFolder(f"{folder}: {error}; {_REMEDY}.") from error
    if rows.null_count().sum_horizontal().item() or runs.null_count().sum_horizontal().item():
        raise WrongFolder(f"{folder / REPLAYS} lacks figures: {_REMEDY}.")
    return [replayed_of(row, _runs_of(row, runs)) for row in rows.iter_rows(named=True)]


def _runs_of(row: Mapping[str, Any], runs: pl.DataFrame) -> list[JobRun]:
    own = runs.filter((pl.col("seed") == row["seed"]) & (pl.col("sleeping") == row["sleeping"]))
    return [JobRun(*one) for one in own.select("job", "run", "begin_s", "end_s").iter_rows()]


def replayed_of(row: Mapping[str, Any], runs: Sequence[JobRun]) -> Replayed:
    """The replay of a row of `REPLAY_SCHEMA`, without its ranks and links."""
    shares: dict[str, Any] = {
        name: StateShares(**{state: row[f"{prefix}{state}_share"] for state in _STATES})
        for name, prefix in _SHARES.items()
    }
    figures: dict[str, Any] = {name: row[name] for name in _PLAIN}
    return Replayed(**figures, **shares, runs=runs)


def _identity(description: Description) -> dict[str, Any]:
    """What a replay depends on: everything but which seeds are asked for."""
    plain = description.model_dump(exclude={"loads", "curve", "seeds", "calibration", "traffic", "precision"})
    if description.card_links is None:
        del plain["card_links"]  # folders of before there was one
    return plain | {"network": description.network.form()}
