"""What of a recorded program is its beginning, and what a live run times."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.benchmarks.recorder.table import FILE
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.jobs import Job, load_program
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.recorder import files_of, rank_files
from eee_testbed.simulation.replay.readers.table import import_trace
from evaluation.accuracy.closed_loop import replayed_on
from evaluation.accuracy.loop_lab import prepare
from evaluation.accuracy.loop_parts import all_had_begun_ns, fitted_cost, timed, until_all_had_begun
from evaluation.accuracy.loop_programs import PROGRAMS
from tests.support.recorded_bytes import file_of

HALO = {"kind": "stencil", "procs": [4, 1], "steps": 3, "face_byte": 1000, "grain_ns": 3e6}


def program(folder: Path, *words: str) -> Program:
    (folder / "t").write_text("".join(f"{rank} {word}\n" for word in words for rank in (0, 1)), encoding="utf-8")
    return import_trace([folder / "t"], "ti", Options("t"))


def calls(one: Program) -> list[str]:
    """Of rank 0, but those that compute."""
    numbers = one.calls.filter((pl.col("rank") == 0) & (pl.col("call") != int(Call.COMPUTE)))["call"]
    return [Call(number).name for number in numbers]


def on_a_communicator(one: Program, of: Mapping[str, int]) -> Program:
    """With these calls on other communicators than the world."""
    number = pl.col("call").replace_strict({int(Call[name]): to for name, to in of.items()}, default=0)
    moved = one.calls.with_columns(number.cast(one.calls.schema["communicator"]).alias("communicator"))
    return Program(one.name, one.ranks, moved, one.communicators, one.source, one.assumed, None)


def test_the_beginning_ends_with_the_first_collective_call_of_each_rank(tmp_path: Path) -> None:
    lab, _ = prepare(tmp_path, 4, PROGRAMS["alltoall"])
    begin = ("init", "compute 1e6", "barrier")
    begun = until_all_had_begun(program(tmp_path, *begin, "compute 3e6", "barrier", "compute 2e6", "finalize"))
    alone = program(tmp_path, *begin, "finalize")
    times = [replayed_on(lab, each, tmp_path, sleeping=True)[1].run_time_s for each in (begun, alone)]
    assert times[0] == times[1] > 1e-3


def test_without_a_collective_call_it_ends_before_another_communicator(tmp_path: Path) -> None:
    words = ("init", "compute 1e6", "barrier", "compute 3e6", "bcast 10", "finalize")
    other = on_a_communicator(program(tmp_path, *words), {"BCAST": 1, "BARRIER": 2})
    assert calls(until_all_had_begun(other)) == []
    with pytest.raises(LabError, match="t has ranks without a collective call"):
        until_all_had_begun(program(tmp_path, "init", "compute 1", "finalize"))


def begun_ns(folder: Path, *names: Sequence[str]) -> int:
    """Of ranks that make these calls, 1,000 ns each behind two records of communicators; all begin at 5 ns."""
    for rank, own in enumerate(names):
        (folder / f"{FILE}.{rank}").write_bytes(file_of(rank, len(names), [(name, 0) for name in own]))
    return all_had_begun_ns(rank_files(files_of([folder])))


def test_live_the_beginning_ends_with_the_last_first_collective_call(tmp_path: Path) -> None:
    assert begun_ns(tmp_path, ("Comm_dup", "Send", "Barrier", "Barrier"), ("Barrier", "Bcast")) == 5_005
    assert begun_ns(tmp_path, ("Comm_split", "Send"), ("Send", "Comm_split", "Comm_split")) == 4_005
    with pytest.raises(LabError, match=r"rank\.1 has neither"):
        begun_ns(tmp_path, ("Barrier",), ("Send",))


def test_what_is_timed_lies_between_the_first_barrier_and_the_last_collective_call(tmp_path: Path) -> None:
    warm_up = ("init", "bcast 10", "bcast 10", "barrier")
    whole, before = timed(program(tmp_path, *warm_up, "allreduce 5 0", "barrier", "compute 1", "finalize"))
    assert calls(before) == ["BCAST", "BCAST", "BARRIER"]
    assert calls(whole) == ["BCAST", "BCAST", "BARRIER", "ALLREDUCE", "BARRIER"]


def test_without_a_barrier_all_is_timed(tmp_path: Path) -> None:
    one = program(tmp_path, "init", "bcast 10", "compute 2e6", "finalize")
    assert timed(one) == (one,)


def test_what_messages_cost_is_found_again(tmp_path: Path) -> None:
    lab, _ = prepare(tmp_path, 4, PROGRAMS["alltoall"])
    halo = load_program(Job.model_validate({"program": HALO}).program)

    def run_time_s(host_ns: float) -> float:
        return replayed_on(lab, halo, tmp_path, host_ns, sleeping=False)[1].run_time_s

    assert fitted_cost(run_time_s, run_time_s(20_000)) == pytest.approx(20_000, abs=600)  # a cycle is 510 ns
    assert fitted_cost(lambda _: 1.0, 0.5) == 0
    assert fitted_cost(lambda _: 1.0, 2.0) == pytest.approx(400_000, abs=100)


def test_of_the_two_costs_at_a_step_the_closer_one_is_taken() -> None:
    def run_time_s(cost_ns: float) -> float:
        return 1.0 if cost_ns < 5000 else 2.0

    assert run_time_s(fitted_cost(run_time_s, 1.1)) == 1
    assert run_time_s(fitted_cost(run_time_s, 1.9)) == 2
