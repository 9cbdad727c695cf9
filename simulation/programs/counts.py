"""How often each call of a program is made, loops counted."""

import numpy as np
import polars as pl

from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program


def made(program: Program) -> pl.DataFrame:
    """The calls with a column `times`; the rows of loops themselves are left out."""
    calls = program.calls
    marks = calls.with_row_index("row").filter(pl.col("call").is_in([int(Call.LOOP), int(Call.END)]))
    times = np.ones(calls.height, dtype=np.int64)
    passes, open_loops, begin = 1, list[int](), 0
    for row, call, number in marks.select("row", "call", "bytes").iter_rows():
        times[begin:row] = passes
        begin = row
        if call == Call.LOOP:
            open_loops.append(number)
            passes *= number
        else:
            passes //= open_loops.pop()
    ended = calls.with_columns(pl.Series("times", times))
    return ended.filter(~pl.col("call").is_in([int(Call.LOOP), int(Call.END)]))


def busiest_ns(program: Program) -> int:
    """Computing of the rank that computes longest."""
    computed = made(program).group_by("rank").agg((pl.col("compute_ns").cast(pl.Int64) * pl.col("times")).sum())
    return int(computed["compute_ns"].max() or 0)  # type: ignore[arg-type]
