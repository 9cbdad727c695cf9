"""What agents recorded in the trials of a run, as frames: echoes of probes, and histograms of gaps between frames."""

from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.analysis.agent_file import read_agent_file
from eee_testbed.analysis.programs.profile_reading import read_gaps
from eee_testbed.frames import utc
from eee_testbed.record.trials import read_trials

_ECHOES: Final = "echoes.jsonl"
_GAPS: Final = {
    "trial": pl.Int64,
    "host": pl.String,
    "direction": pl.String,
    "low_us": pl.Float64,
    "high_us": pl.Float64,
    "gaps_count": pl.Float64,
}


def echoes(folder: Path) -> pl.DataFrame:
    """Every echo of a run's probes in order, also those of trials that do not count; `rtt_ns` is null if it was lost.

    Columns: `trial`, `from`, `to`, `sent` (UTC), and those that the agent wrote, all integers. LabError if a file is
    not the probe's.

    Examples
    --------
    >>> echoes(Path("runs/study")).select("from", "to").row(0)
    ('n01', 'n02')

    """
    frames = []
    for trial in read_trials(folder):
        path = trial.folder / _ECHOES
        if trial.what != "probe" or not path.exists():
            continue
        rows: list[dict[str, Any]] = [dict(row) for row in read_agent_file(path, "echo_probe").rows]
        ends = (pl.lit(host, pl.String).alias(name) for name, host in zip(("from", "to"), trial.hosts, strict=False))
        frames.append(
            pl.DataFrame(rows, infer_schema_length=None)
            .with_columns(pl.lit(trial.number, pl.Int64).alias("trial"), *ends)
            .with_columns(pl.col(pl.Null).cast(pl.Int64))
        )
    if not frames:
        return pl.DataFrame(schema={"trial": pl.Int64, "from": pl.String, "to": pl.String, "rtt_ns": pl.Int64})
    found = pl.concat(frames, how="diagonal_relaxed").with_columns(utc("sent_ns").alias("sent"))
    return found.select("trial", "from", "to", "sent", pl.exclude("trial", "from", "to", "sent", "sent_ns"))


def gaps(folder: Path) -> pl.DataFrame:
    """How many gaps of which length a node's frames left in each trial with a program, where that was recorded.

    A row for each bin that is not empty: `trial`, `host`, `direction` (transmit or receive), edges in microseconds,
    `gaps_count`. Only the program's own loop counts if it reported when that ran. LabError if a file is of another
    agent.
    """
    rows = []
    for trial in read_trials(folder):
        for path in sorted(trial.folder.glob("gaps-*.jsonl")):
            node = read_gaps(path, *(trial.loop_ns or (trial.begun_ns, trial.ended_ns)))
            host = path.stem.removeprefix("gaps-")
            for direction, way in () if node is None else (("transmit", node.transmit), ("receive", node.receive)):
                bins = zip(way.low_us, way.high_us, way.count, strict=True)
                rows += [(trial.number, host, direction, low, high, count) for low, high, count in bins]
    return pl.DataFrame(rows, schema=_GAPS, orient="row")
