"""Loops of a program: which one a call is in, how often the call is made, and the calls with loops written out."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from eee_testbed.simulation.replay.calls import Call


def innermost_loops(call: Any) -> Any:
    """For each row the row of the innermost loop around it, -1 outside of all; loops are balanced in every rank."""
    turns = np.flatnonzero((call == Call.LOOP) | (call == Call.END))
    if not len(turns):
        return np.full(len(call), -1)
    stack, inside = [-1], []
    for row, kind in zip(turns.tolist(), call[turns].tolist(), strict=True):
        if kind == Call.LOOP:
            stack.append(row)
        else:
            stack.pop()
        inside.append(stack[-1])
    which = np.searchsorted(turns, np.arange(len(call)), side="right") - 1
    return np.where(which < 0, -1, np.asarray(inside)[which])


def repetitions(calls: pl.DataFrame) -> Any:
    """How often each row is reached, as floating point: loops in loops go beyond any integer.

    The begin of a loop is reached as often as what stands before it, its end once a pass.
    """
    call, passes = calls["call"].to_numpy(), calls["bytes"].to_numpy()
    turns = np.flatnonzero((call == Call.LOOP) | (call == Call.END))
    stack, own, after = [1.0], [], [1.0]
    for kind, count in zip(call[turns].tolist(), passes[turns].tolist(), strict=True):
        own.append(stack[-1])
        if kind == Call.LOOP:
            stack.append(stack[-1] * count)
        else:
            stack.pop()
        after.append(stack[-1])
    counts = np.asarray(after)[np.searchsorted(turns, np.arange(len(call)), side="right")]
    counts[turns] = own
    return counts


def unrolled(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The calls of a rank, those of loops as often as they are made."""
    at, loops = 0, []
    while at < len(rows):
        row = rows[at]
        if row["call"] == Call.LOOP:
            loops.append([at, row["bytes"]])
        elif row["call"] == Call.END:
            loops[-1][1] -= 1
            if loops[-1][1]:
                at = loops[-1][0]
            else:
                loops.pop()
        else:
            yield row
        at += 1
