"""A run's samples and facts, read from its folder; and differences of counters between samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eee_testbed.record.columns import midpoint
from eee_testbed.record.event_text import Event
from eee_testbed.record.sample_tables import TABLES
from eee_testbed.record.segments import read_table
from eee_testbed.record.store import RunFolder, read_events, read_facts
from eee_testbed.record.trials import Trial, trials_of


@dataclass(frozen=True)
class RunSamples:
    """One run's folder, also while it is written and after its writer was killed.

    Each part is read once, when it is first used: make another `RunSamples` to see what was written since.
    """

    folder: Path
    _begun: RunFolder | None = field(default=None, repr=False, compare=False)
    _tables: dict[str, pl.DataFrame] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(cls, run: RunFolder) -> "RunSamples":
        """Of a folder whose `run.yaml` was read before."""
        return cls(run.path, run)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """`run.yaml`."""
        return read_facts(self.folder) if self._begun is None else self._begun.facts

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events, in order."""
        return tuple(read_events(self.folder))

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial, in the order in which they began."""
        return trials_of(self.folder, self.events)

    def table(self, name: str) -> pl.DataFrame:
        """All rows of `ports`, `watts`, `lpi` or `polls`, by time; KeyError for another name."""
        if name not in self._tables:
            rows = read_table(self.folder / "samples", TABLES[name])
            self._tables[name] = rows.sort("due_ns", maintain_order=True)
        return self._tables[name]

    def power(self, strip: str, outlet: int = 0) -> "PowerSeries":
        """One meter's readings; outlet 0 is the whole strip. ValueError if the run has none."""
        rows = self.table("watts").filter(
            (pl.col("strip") == strip) & (pl.col("outlet") == outlet) & pl.col("power_watt").is_not_null()
        )
        if rows.is_empty():
            raise ValueError(f"{self.folder} has no readings of the meter {strip}:{outlet}")
        return PowerSeries.of(rows)

    def increments(self, table: str, column: str) -> pl.DataFrame:
        """Differences of a counter between consecutive rows: see `increments`."""
        return increments(self.table(table), TABLES[table].keys, column)


@dataclass(frozen=True, slots=True)
class PowerSeries:
    """One meter's readings: when each was requested and received (ns), watts, and the meter's resolution."""

    sent_ns: np.typing.NDArray[np.int64]
    received_ns: np.typing.NDArray[np.int64]
    power_watt: NDArray[np.float64]
    step_watt: float
    stale: np.typing.NDArray[np.bool_]

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "PowerSeries":
        """The series of one meter's rows of `watts`, all of which have a power."""
        return cls(
            sent_ns=rows["sent_ns"].to_numpy(),
            received_ns=rows["received_ns"].to_numpy(),
            power_watt=rows["power_watt"].to_numpy(),
            step_watt=float(rows["power_step_watt"].fill_null(0.0).max() or 0.0),  # type: ignore[arg-type]
            stale=(rows["mark"].fill_null("") == "stale").to_numpy(),
        )

    def time_s(self, since_ns: int) -> NDArray[np.float64]:
        """The midpoint of request and response of each reading, in seconds since a time."""
        return np.asarray(((self.sent_ns - since_ns) + (self.received_ns - since_ns)) / 2e9, dtype=float)

    def fresh(self) -> "PowerSeries":
        """Without the readings of a meter that had stopped measuring."""
        keep = ~self.stale
        return PowerSeries(
            self.sent_ns[keep], self.received_ns[keep], self.power_watt[keep], self.step_watt, self.stale[keep]
        )


def increments(rows: pl.DataFrame, keys: Sequence[str], column: str) -> pl.DataFrame:
    """Differences of a counter from each row to the next of the same `keys`, with the time in between.

    Columns: the keys, `from_ns` and `to_ns` (midpoints of request and response), `bound_ns` of that span, and `column`.
    A difference over a reset of the counter is left out, and so are rows that lack the counter.
    """
    time = midpoint(pl.col("sent_ns"), pl.col("received_ns"))
    half = (pl.col("received_ns") - pl.col("sent_ns")) / 2
    # A reset in a row that lacks the counter invalidates the difference between the rows around it.
    resets = (pl.col("mark") == "reset").cum_sum().over(keys)
    counted = rows.with_columns(time.alias("to_ns"), half.alias("half_ns"), resets.alias("resets"))
    counted = counted.filter(pl.col(column).is_not_null())
    before = [
        pl.col(name).shift(1).over(keys).alias(f"{name} before") for name in (column, "to_ns", "half_ns", "resets")
    ]
    counted = counted.with_columns(before).filter(pl.col("resets") == pl.col("resets before"))
    return counted.select(
        *keys,
        pl.col("to_ns before").alias("from_ns"),
        "to_ns",
        (pl.col("half_ns") + pl.col("half_ns before")).ceil().cast(pl.Int64).alias("bound_ns"),
        (pl.col(column) - pl.col(f"{column} before")).alias(column),
    )
