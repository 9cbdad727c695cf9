"""Parts of a recorded program: its beginning, which no replay has, and what a live run times. What a message costs.

Hosts end MPI_Init one after another and connect to each other before a program's first collective call has ended. The
programs of the closed loop begin to time behind their first MPI_Barrier, and end with their last collective call.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import polars as pl

from eee_testbed.benchmarks.recorder.function import Group
from eee_testbed.benchmarks.recorder.table import BY_NUMBER
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.replay.calls import COLLECTIVES, Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.recorder_file import RankFile

_MOST_HOST_NS: Final = 400_000.0
_FITTED_NS: Final = 100.0
"""How close the cost of a message is found."""

_WORLD: Final = pl.col("communicator") == 0
_COLLECTIVE: Final = _WORLD & pl.col("call").is_in([int(call) for call in COLLECTIVES])


def until_all_had_begun(program: Program) -> Program:
    """The calls of each rank up to its first collective one on the world, after which all ranks have begun.

    HPL makes no such call. All its ranks send to a root and hear from it before they use a communicator of their own:
    of a program in which a rank makes no collective call, the calls before each rank's first one on another
    communicator. LabError if a rank makes none either.
    """
    if _least(program, _COLLECTIVE):
        return _up_to_collective(program, 1)
    if not _least(program, ~_WORLD):
        raise LabError(f"{program.name} has ranks without a collective call: none says when all have begun.")
    return _only(program, _made(~_WORLD) == 0)


def all_had_begun_ns(files: Sequence[RankFile]) -> int:
    """When the last rank ended that beginning live, by the host's clock in UTC; LabError if a rank never did.

    HPL's ends there with the call that makes its first communicator, which takes no time in a replay.
    """
    return max(_had_begun_ns(file) for file in files)


def _had_begun_ns(file: RankFile) -> int:
    now_ns, made_ns = file.head.begun_ns, 0
    for record in file.records():
        now_ns += record.since_ns
        function = BY_NUMBER.get(record.kind)
        group = function.group if function is not None else None
        if group is Group.COLLECTIVE:
            return now_ns
        if group is Group.COMMUNICATOR:
            made_ns = made_ns or now_ns
    if not made_ns:
        raise LabError(f"{file.path} has neither a collective call nor a new communicator: none says when all began.")
    return made_ns


def timed(program: Program) -> tuple[Program, ...]:
    """The calls up to the end of the part that is timed, and those before it.

    Of a program without a barrier on the world, as HPL is, the whole program alone.
    """
    collectives = program.calls.filter(_COLLECTIVE & (pl.col("rank") == 0))["call"].to_list()
    if int(Call.BARRIER) not in collectives:
        return (program,)
    before = collectives.index(int(Call.BARRIER)) + 1
    return _up_to_collective(program, len(collectives)), _up_to_collective(program, before)


def _up_to_collective(program: Program, number: int) -> Program:
    """The calls of each rank up to its collective call of this number on the world, counted from 1."""
    made = _made(_COLLECTIVE)
    return _only(program, (made < number) | ((made == number) & _COLLECTIVE))


def _made(calls: pl.Expr) -> pl.Expr:
    return calls.cast(pl.Int64).cum_sum().over("rank")


def _least(program: Program, calls: pl.Expr) -> int:
    """Such calls of the rank that makes fewest."""
    found: int = program.calls.select(_made(calls).max().over("rank").min()).item(0, 0)
    return found


def _only(program: Program, calls: pl.Expr) -> Program:
    kept = program.calls.filter(calls)
    return Program(program.name, program.ranks, kept, program.communicators, program.source, program.assumed, None)


def timed_s(times_s: Iterable[float]) -> float:
    """What the part that is timed takes, from the run times of `timed`'s programs."""
    whole_s, *before_s = times_s
    return whole_s - sum(before_s)


def wanted_s(parts: Sequence[object], live_s: float, took_ns: int) -> float:
    """What `timed_s` is fitted to: what was timed live, or all that was recorded if that is what is timed."""
    return live_s if len(parts) > 1 else took_ns / 1e9


def fitted_cost(run_time_s: Callable[[float], float], wanted_s: float) -> float:
    """The cost of a send and a receive, ns, with which a replay takes so long; 0 if it takes longer without any.

    Costs are whole cycles in a replay, so its run time has steps: of the two at a step, the cost that comes closer.
    The largest cost that is tried is returned if even that is too small.
    """
    low_ns, high_ns = 0.0, _MOST_HOST_NS
    while high_ns - low_ns > _FITTED_NS:
        middle_ns = (low_ns + high_ns) / 2
        if run_time_s(middle_ns) < wanted_s:
            low_ns = middle_ns
        else:
            high_ns = middle_ns
    return min((low_ns, high_ns), key=lambda cost_ns: abs(run_time_s(cost_ns) - wanted_s))
