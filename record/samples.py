"""Samples of a run, as its folder holds them, and differences of counters that may be taken."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from record.clock_offsets import Offset, between
from record.sample_tables import TABLES
from record.segments import read_table
from record.store import read_events, read_facts


@dataclass(frozen=True, slots=True)
class RunSamples:
    """One run's folder; also while it is written, and after its writer was killed."""

    folder: Path

    @property
    def facts(self) -> dict[str, Any]:
        """`run.yaml`."""
        return read_facts(self.folder)

    @property
    def events(self) -> list[dict[str, Any]]:
        """What happened, in order."""
        return read_events(self.folder)

    def table(self, name: str) -> pl.DataFrame:
        """All rows of `ports`, `watts`, `lpi` or `polls`, by time; KeyError for another name."""
        return read_table(self.folder / "samples", TABLES[name]).sort("due_ns", maintain_order=True)

    def power(self, strip: str, outlet: int = 0) -> "PowerSeries":
        """One meter's readings; outlet 0 is the whole strip. ValueError if there are none."""
        rows = self.table("watts").filter(
            (pl.col("strip") == strip) & (pl.col("outlet") == outlet) & pl.col("power_watt").is_not_null()
        )
        if rows.is_empty():
            raise ValueError(f"{self.folder} has no watts of {strip}:{outlet}")
        return PowerSeries(
            sent_ns=rows["sent_ns"].to_numpy(),
            received_ns=rows["received_ns"].to_numpy(),
            power_watt=rows["power_watt"].to_numpy(),
            step_watt=float(rows["power_step_watt"].fill_null(0.0).max() or 0.0),  # type: ignore[arg-type]
            stale=(rows["mark"].fill_null("") == "stale").to_numpy(),
        )

    def offset(self, source: str, time_ns: int) -> tuple[int, int]:
        """(offset, bound) of another clock at a time, ns, from its first and last estimates; KeyError if unknown."""
        known = [_offset(told) for told in self.facts["clocks"] if told["source"] == source]
        if not known:
            raise KeyError(source)
        known.sort(key=lambda one: one.time_ns)
        return between(known[0], known[-1], time_ns)

    def increments(self, table: str, column: str) -> pl.DataFrame:
        """What a counter counted between rows that follow each other: see `increments`."""
        return increments(self.table(table), TABLES[table].keys, column)


@dataclass(frozen=True, slots=True)
class PowerSeries:
    """What one meter showed: when it was asked, when it had answered (ns), watts, the step of the display."""

    sent_ns: np.typing.NDArray[np.int64]
    received_ns: np.typing.NDArray[np.int64]
    power_watt: NDArray[np.float64]
    step_watt: float
    stale: np.typing.NDArray[np.bool_]

    def fresh(self) -> "PowerSeries":
        """Without the rows that were shown by a meter that had stopped."""
        keep = ~self.stale
        return PowerSeries(
            self.sent_ns[keep], self.received_ns[keep], self.power_watt[keep], self.step_watt, self.stale[keep]
        )


def increments(rows: pl.DataFrame, keys: Sequence[str], column: str) -> pl.DataFrame:
    """Differences of a counter from each row to the next of the same `keys`, with the time in between.

    Columns: the keys, `from_ns` and `to_ns` (middles of asking and answering), `bound_ns` of that span, and `column`.
    A difference over which the counter was reset is left out, and a row that lacks the counter is passed over.
    """
    middle = (pl.col("sent_ns") + pl.col("received_ns")) // 2
    half = (pl.col("received_ns") - pl.col("sent_ns")) / 2
    # A reset in a row that lacks the counter stands in the way of the difference that passes over it.
    resets = (pl.col("mark") == "reset").cum_sum().over(keys)
    told = rows.with_columns(middle.alias("to_ns"), half.alias("half_ns"), resets.alias("resets"))
    told = told.filter(pl.col(column).is_not_null())
    before = [
        pl.col(name).shift(1).over(keys).alias(f"{name} before") for name in (column, "to_ns", "half_ns", "resets")
    ]
    told = told.with_columns(before).filter(pl.col("resets") == pl.col("resets before"))
    return told.select(
        *keys,
        pl.col("to_ns before").alias("from_ns"),
        "to_ns",
        (pl.col("half_ns") + pl.col("half_ns before")).ceil().cast(pl.Int64).alias("bound_ns"),
        (pl.col(column) - pl.col(f"{column} before")).alias(column),
    )


def _offset(told: Mapping[str, Any]) -> Offset:
    return Offset(
        told["source"], told["method"], told["time_ns"], told["offset_ns"], told["bound_ns"], told["consistent"]
    )


def runs_below(root: Path) -> Iterator[RunSamples]:
    """Every run's folder below a folder, by time."""
    return (RunSamples(path.parent) for path in sorted(root.glob("*/run.yaml")))
