"""A run's samples, trials, results and events as frames."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.analysis.run_lab import run_folder
from eee_testbed.frames import utc
from eee_testbed.record.columns import midpoint
from eee_testbed.record.event_text import sentence_of
from eee_testbed.record.sample_tables import TABLES
from eee_testbed.record.samples import RunSamples, increments
from eee_testbed.record.trials import Trial, read_trials
from eee_testbed.recordings import echoes, gaps

_FIXED: Final = {
    "trial": pl.Int64,
    "slot": pl.Int64,
    "block": pl.Int64,
    "repetition": pl.Int64,
    "what": pl.String,
    "program": pl.String,
    "state": pl.String,
    "why": pl.String,
    "answer_right": pl.Boolean,
    "host_count": pl.Int64,
    "rank_count": pl.Int64,
    "begun_ns": pl.Int64,
    "ended_ns": pl.Int64,
    "window_s": pl.Float64,
}


class RunFrames:
    """A run's folder, also while it is written. Each frame is read when it is asked for.

    Examples
    --------
    >>> run = open_run("runs/study")
    >>> run.facts["lab"], run.tables
    ('virtual', ('ports', 'watts', 'lpi', 'polls'))

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def facts(self) -> dict[str, Any]:
        """`run.yaml`: name, state, lab, experiment, versions, clocks."""
        return RunSamples(self.folder).facts

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables of samples."""
        return tuple(TABLES)

    def samples(self, table: str) -> pl.DataFrame:
        """All rows of a table by time; KeyError names the tables.

        `time` (UTC) is the middle of request and response, or when a poll was due that was never sent. `record`'s
        table of columns says what the others mean: `columns_of`.

        Examples
        --------
        >>> open_run("runs/study").samples("watts").schema["time"]
        Datetime(time_unit='ns', time_zone='UTC')

        """
        if table not in TABLES:
            raise KeyError(f"no table '{table}': name one of {', '.join(TABLES)}")
        rows = RunSamples(self.folder).table(table)
        middle = pl.coalesce(midpoint(pl.col("sent_ns"), pl.col("received_ns")), pl.col("due_ns"))
        return rows.with_columns(middle.alias("time")).select(utc("time"), pl.exclude("time"))

    def columns_of(self, table: str) -> pl.DataFrame:
        """Name and meaning of every column of a table of samples.

        Examples
        --------
        >>> open_run("runs/study").columns_of("watts").filter(column="power_watt").item(0, "means")
        'power that the meter shows'

        """
        columns = TABLES[table].columns
        return pl.DataFrame({"column": [one.name for one in columns], "means": [one.means for one in columns]})

    def increments(self, table: str, column: str) -> pl.DataFrame:
        """Differences of a counter between samples, with `from` and `to` (UTC) and `span_s`; none over a reset.

        Examples
        --------
        >>> open_run("runs/study").increments("ports", "out_byte").columns
        ['switch', 'port', 'from', 'to', 'span_s', 'out_byte']

        """
        rows = increments(RunSamples(self.folder).table(table), TABLES[table].keys, column)
        span_s = ((pl.col("to_ns") - pl.col("from_ns")) / 1e9).alias("span_s")
        return rows.select(*TABLES[table].keys, utc("from_ns").alias("from"), utc("to_ns").alias("to"), span_s, column)

    def trials(self) -> pl.DataFrame:
        """A row for each trial. Levels of factors are columns `factor_NAME`, parameters `parameter_NAME`.

        Examples
        --------
        >>> frame = open_run("runs/study").trials()
        >>> frame.filter(program="alltoall", state="valid").group_by("factor_eee").len().sort("factor_eee").rows()
        [('off', 48), ('on', 48)]

        """
        trials = read_trials(self.folder)
        frame = pl.DataFrame([_fixed(trial) for trial in trials], schema=_FIXED)
        levels = _spread([trial.levels for trial in trials], "factor_")
        parameters = _spread([trial.parameters for trial in trials], "parameter_")
        times = (utc("begun_ns").alias("begun"), utc("ended_ns").alias("ended"))
        return frame.select(pl.exclude("begun_ns", "ended_ns"), *times).with_columns(*levels, *parameters)

    def results(self) -> pl.DataFrame:
        """What the trials measured, a row for each figure, in the unit that `unit` says ("1": a count or a ratio).

        Examples
        --------
        >>> open_run("runs/study").results().filter(name="time").columns
        ['trial', 'state', 'name', 'value', 'unit']

        """
        rows = [
            (trial.number, trial.state, name, one.value, one.unit)
            for trial in read_trials(self.folder)
            for name, one in trial.figures.items()
        ]
        names = {"trial": pl.Int64, "state": pl.String, "name": pl.String, "value": pl.Float64, "unit": pl.String}
        return pl.DataFrame(rows, schema=names, orient="row")

    def echoes(self) -> pl.DataFrame:
        """Every echo of the run's probes: see `eee_testbed.recordings.echoes`.

        Examples
        --------
        >>> open_run("runs/study").echoes().select("trial", "from", "to", "rtt_ns").row(0)[1:3]
        ('n01', 'n02')

        """
        return echoes(self.folder)

    def gaps(self) -> pl.DataFrame:
        """Histograms of the gaps between a node's frames: see `eee_testbed.recordings.gaps`.

        Examples
        --------
        >>> open_run("runs/study").gaps().columns
        ['trial', 'host', 'direction', 'low_us', 'high_us', 'gaps_count']

        """
        return gaps(self.folder)

    def events(self) -> pl.DataFrame:
        """What happened, in order: time (UTC), kind, and a sentence.

        Examples
        --------
        >>> open_run("runs/study").events().row(0)[1]
        'begun'

        """
        events = RunSamples(self.folder).events
        frame = pl.DataFrame(
            {
                "time_ns": [int(event["time_ns"]) for event in events],
                "kind": [str(event["kind"]) for event in events],
                "sentence": [sentence_of(event) for event in events],
            },
            schema={"time_ns": pl.Int64, "kind": pl.String, "sentence": pl.String},
        )
        return frame.select(utc("time_ns").alias("time"), "kind", "sentence")

    def __repr__(self) -> str:
        return f"RunFrames({str(self.folder)!r})"


def open_run(run: str | Path) -> RunFrames:
    """A run by its folder, or by its name below `runs`; LabError if it is none.

    Examples
    --------
    >>> open_run("study")
    RunFrames('runs/study')

    """
    return RunFrames(run_folder(str(run)))


def _fixed(trial: Trial) -> dict[str, Any]:
    return {
        "trial": trial.number,
        "slot": trial.slot,
        "block": trial.block,
        "repetition": trial.repetition,
        "what": trial.what,
        "program": trial.program,
        "state": trial.state,
        "why": trial.why,
        "answer_right": trial.answer_right,
        "host_count": len(trial.hosts),
        "rank_count": trial.rank_count,
        "begun_ns": trial.begun_ns,
        "ended_ns": trial.ended_ns,
        "window_s": trial.window_s,
    }


def _spread(rows: Sequence[Mapping[str, Any]], prefix: str) -> list[pl.Series]:
    """A column for each key; values of several types, and such as lists, become text."""
    found = []
    for key in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(key) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        plain = len(kinds) == 1 and kinds <= {bool, int, float, str}
        found.append(pl.Series(f"{prefix}{key}", values if plain else [None if v is None else str(v) for v in values]))
    return found
