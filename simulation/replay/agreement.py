"""Whether the ranks of a communicator make the same collective calls, which MPI demands."""

import numpy as np
import polars as pl

from eee_testbed.simulation.replay.calls import CALLS, COLLECTIVES, Call
from eee_testbed.simulation.replay.loops import innermost_loops
from eee_testbed.simulation.replay.program import Program

_ROOTED = [int(call) for call, uses in CALLS.items() if uses.peer == "root"]
_OWN_BYTES = frozenset({Call.GATHERV, Call.SCATTERV, Call.ALLGATHERV, Call.ALLTOALLV})
_SAME_BYTES = [int(call) for call in COLLECTIVES - _OWN_BYTES]
"""Calls that have the same bytes at all ranks."""


def disagreement(program: Program) -> str:
    """Which rank first makes another collective call than others, or with another root or size; empty if none does.

    The text goes on after the name of the program's file. A rank may make fewer calls than others: its trace may end
    early. Communicators with collective calls in loops are not looked at.
    """
    calls = program.calls
    looped = innermost_loops(calls["call"].to_numpy()) >= 0
    collective = np.isin(calls["call"].to_numpy(), [int(call) for call in COLLECTIVES])
    if not collective.any():
        return ""
    elsewhere = calls.filter(pl.Series(collective & looped))["communicator"].unique()
    own = (
        calls.filter(pl.Series(collective))
        .filter(~pl.col("communicator").is_in(elsewhere.implode()))
        .select(
            "rank", "communicator", "call",
            root=pl.when(pl.col("call").is_in(_ROOTED)).then("peer").otherwise(0),
            byte=pl.when(pl.col("call").is_in(_SAME_BYTES)).then("bytes").otherwise(0),
            number=pl.int_range(pl.len()).over("rank", "communicator"),
        )
    )  # fmt: skip
    first = own.unique(["communicator", "number"], keep="first", maintain_order=True)
    other = own.join(first, on=["communicator", "number"], suffix="_first").filter(
        (pl.col("call") != pl.col("call_first"))
        | (pl.col("root") != pl.col("root_first"))
        | (pl.col("byte") != pl.col("byte_first"))
    )
    if not other.height:
        return ""
    row = other.sort("number", "communicator", "rank").row(0, named=True)

    sizes_too = row["call"] == row["call_first"] and row["byte"] != row["byte_first"]

    def said(of: str) -> str:
        call = row["call" + of]
        size = f" of {row['byte' + of]} bytes" if sizes_too else ""
        return Call(call).name + size + (f" with root {row['root' + of]}" if call in _ROOTED else "")

    return (
        f"has {said('')} as collective call {row['number'] + 1} of rank {row['rank']} on communicator "
        f"{row['communicator']}, where rank {row['rank_first']} has {said('_first')}"
    )
