"""Recorded programs: what they are known to send is what is replayed, and the replay comes to an end."""

import re
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from eee_engine import Engine, LabClock

from eee_testbed.benchmarks.recorder.table import BY_NUMBER, COMMUNICATING, FUNCTIONS, MAGIC, NUMBERS
from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.measuring.experiments.mpi_calls import COUNTER, read_calls
from eee_testbed.measuring.experiments.mpi_trace import recorder
from eee_testbed.measuring.experiments.traffic import monitored
from eee_testbed.simulation.replay.calls import COLLECTIVES, IN_PLACE, NOBODY, NOT_COMMUTATIVE, RECEIVES, SENDS, Call
from eee_testbed.simulation.replay.miwa import communication, recorded_calls
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.recorder_file import RankFile
from eee_testbed.simulation.replay.readers.table import import_trace
from eee_testbed.twin.machine.lab_clock import environment, make_page
from tests.support import ROOT
from tests.support.needs import needs
from tests.support.recording import PYTHON, SOURCES, MpiPrograms
from tests.support.untimed import run

RECORDER = recorder(("mpicc",))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> MpiPrograms:
    """With the counter of calls before the recorder, as with --traffic and --trace."""
    return MpiPrograms(tmp_path_factory.mktemp("recorded"), COUNTER, RECORDER)


def _imported(folder: Path) -> Program:
    """The program of a folder, which is replayed to its end."""
    program = import_trace([folder], "", Options("recorded"))
    run(program)
    return program


def _rows(program: Program, rank: int, *calls: Call) -> list[dict[str, Any]]:
    wanted = [int(call) for call in calls or Call]
    return program.calls.filter(pl.col("rank") == rank, pl.col("call").is_in(wanted)).to_dicts()


def _sends(program: Program, rank: int) -> Counter[tuple[int, int, int]]:
    """World rank, tag and bytes of what a rank sends."""
    return Counter(
        (program.communicators[row["communicator"]][row["peer"]], row["tag"], row["bytes"])
        for row in _rows(program, rank, *SENDS)
        if row["peer"] != NOBODY
    )


@pytest.mark.parametrize("ranks", [2, 4])
def test_messages_of_every_kind(programs: MpiPrograms, ranks: int) -> None:
    program = _imported(programs.c("messages", ranks))
    for rank in range(ranks):
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        sizes = {tag: 100 * tag for tag in range(1, 10)}
        assert _sends(program, rank) == Counter(
            [*((right, tag, sizes[tag]) for tag in (*range(1, 8), 9)), (right, 8, 800), (rank, 11, 0)]
        )
        received = [row for row in _rows(program, rank, *RECEIVES) if row["peer"] not in (NOBODY, rank)]
        assert {(row["peer"], row["tag"], row["bytes"]) for row in received} == {
            (left, tag, sizes[tag]) for tag in sizes
        }
        kinds = {row["tag"]: Call(row["call"]) for row in _rows(program, rank, *SENDS) if row["peer"] == right}
        wanted = (
            Call.SEND,
            Call.BSEND,
            Call.SSEND,
            Call.ISEND,
            Call.IBSEND,
            Call.ISSEND,
            Call.SEND,
            Call.ISEND,
            Call.ISEND,
        )
        assert tuple(kinds[tag] for tag in range(1, 10)) == wanted
        assert [row["bytes"] for row in _rows(program, rank, *SENDS, *RECEIVES) if row["peer"] == NOBODY] == [20, 0]
    assert [sentence for sentence in program.assumed if sentence.startswith(f"{2 * ranks} receives were from any")]


def test_requests_end_where_they_were_found_complete(programs: MpiPrograms) -> None:
    program = _imported(programs.c("requests", 3))
    for rank in range(3):
        right, left = (rank + 1) % 3, (rank - 1) % 3
        sent = [(right, tag, 10 + tag) for tag in range(6)] + 4 * [(right, 20, 33)]
        sent += [(right, 30 + number, 44 + number) for number in range(4)]
        assert _sends(program, rank) == Counter(sent)
        received = Counter((row["peer"], row["tag"], row["bytes"]) for row in _rows(program, rank, *RECEIVES))
        assert received == Counter([*((left, *one[1:]) for one in sent), (left, 99, 10)])
        assert len(_rows(program, rank, Call.CANCEL)) == 1
        rows = _rows(program, rank)
        assert [Call(row["call"]) for row in rows[:12]] == [Call.IRECV] * 6 + [Call.SEND] * 6
        assert [len(row["sizes"]) for row in rows[12:13]] == [1], "MPI_Waitany finds one"
        assert Call(rows[-1]["call"]) is Call.WAIT, "what was freed is waited for at the end"
    assert any("tests that found nothing" in sentence for sentence in program.assumed)


def test_collective_calls_with_sizes_of_every_rank(programs: MpiPrograms) -> None:
    program, ranks = _imported(programs.c("collectives", 3)), 3
    blocks = [4, 8, 12]
    for rank in range(ranks):
        own = 4 * (rank + 1)
        spread = [*blocks, *(ranks * [own])]
        wanted = [
            (Call.BARRIER, 0, 0, None), (Call.BCAST, 28, 0, None), (Call.GATHER, 12, IN_PLACE * (rank == 0), None),
            (Call.GATHERV, own, 0, blocks if rank == 1 else None), (Call.SCATTER, 20, 0, None),
            (Call.SCATTERV, own, IN_PLACE * (rank == 0), blocks if rank == 0 else None), (Call.ALLGATHER, 8, 0, None),
            (Call.ALLGATHERV, own, IN_PLACE, blocks), (Call.ALLTOALL, 24, IN_PLACE, None),
            (Call.ALLTOALLV, 24, 0, spread), (Call.ALLTOALLV, 24, 0, spread),
            (Call.REDUCE, 36, NOT_COMMUTATIVE | IN_PLACE * (rank == 0), None), (Call.ALLREDUCE, 80, 0, None),
            (Call.REDUCE_SCATTER, 24, 0, blocks), (Call.REDUCE_SCATTER_BLOCK, 8, NOT_COMMUTATIVE, None),
            (Call.SCAN, 12, 0, None), (Call.EXSCAN, 16, 0, None),
            (Call.BARRIER, 0, 0, None), (Call.BCAST, 28, 0, None),
            (Call.GATHERV, own, 0, blocks if rank == 1 else None), (Call.ALLTOALLV, 24, 0, spread),
            (Call.REDUCE_SCATTER, 24, 0, blocks),
        ]  # fmt: skip
        rows = _rows(program, rank, *COLLECTIVES)
        assert [(Call(row["call"]), row["bytes"], row["flags"], row["sizes"]) for row in rows] == wanted
        assert [row["request"] >= 0 for row in rows] == [False] * 17 + [True] * 5
        roots = [row["peer"] for row in rows if row["call"] in (Call.BCAST, Call.GATHER, Call.SCATTER, Call.SCATTERV)]
        assert roots == [1, 0, 2, 0, 1]


def test_communicators_keep_messages_apart(programs: MpiPrograms) -> None:
    program = _imported(programs.c("communicators", 4))
    by_tag: dict[int, set[tuple[int, ...]]] = {}
    for row in _rows_of_all(program, *SENDS):
        by_tag.setdefault(row["tag"], set()).add(tuple(program.communicators[row["communicator"]]))
    every = (0, 1, 2, 3)
    assert by_tag == {
        1: {every}, 21: {(2, 0), (3, 1)}, 22: {(0, 2)}, 23: {(0, 2)}, 24: {every}, 25: {every}, 26: {every},
        27: {(rank,) for rank in every}, 28: {(0, 2, 1, 3)},
    }  # fmt: skip
    numbers = [row["communicator"] for row in _rows(program, 0, *SENDS) if row["tag"] == 1]
    assert len(set(numbers)) == 2, "a duplicate is another one"
    assert any("4 MPI_Comm_dup, 8 MPI_Comm_free, 4 MPI_Comm_idup" in sentence for sentence in program.assumed)


def _rows_of_all(program: Program, *calls: Call) -> list[dict[str, Any]]:
    return [row for rank in range(program.ranks) for row in _rows(program, rank, *calls)]


def test_neighbours_exchange_messages(programs: MpiPrograms) -> None:
    program = _imported(programs.c("neighbours", 4))
    sent: Counter[tuple[int, int]] = Counter()
    for row in _rows_of_all(program, *SENDS):
        sent[row["rank"], program.communicators[row["communicator"]][row["peer"]]] += row["bytes"]
    for rank in range(4):
        across, along = (rank + 2) % 4, rank ^ 1
        torus = 2 * 8 + 2 * (1 + 2)  # both ways round a ring of two, three calls
        edge = 8 + 2 * (3 if rank % 2 else 4)  # down the open dimension, or up
        wanted = {
            across: torus + 11 * (across > rank),
            along: edge + 11 * (along > rank),
            3 - rank: 11 * (3 - rank > rank),
        }
        assert {other: sent[rank, other] for other in wanted} == wanted
    assert not _rows_of_all(program, *COLLECTIVES)


def test_threads_that_wait_for_each_other_do_not_in_one_order(programs: MpiPrograms) -> None:
    program = _imported(programs.c("threads", 4))
    for rank in range(4):
        sizes = Counter(row["bytes"] for row in _rows(program, rank, *SENDS))
        assert sizes == {0 if rank % 2 else 100: 40}
        assert len(_rows(program, rank, Call.BARRIER)) == 40


def test_what_is_left_out_is_said(programs: MpiPrograms) -> None:
    program = _imported(programs.c("left_out", 2))
    assert {Call(call) for call in program.calls["call"]} == {Call.ALLREDUCE}
    assert (
        "One-sided communication is left out: 2 MPI_Put, 2 MPI_Win_create, 4 MPI_Win_fence, 2 MPI_Win_free."
        in program.assumed
    )
    assert any(
        sentence.startswith("Reading and writing files is left out: 2 MPI_File_close") for sentence in program.assumed
    )
    assert "Calls that returned an error are left out: 2 MPI_Send." in program.assumed


def test_intercommunicators_are_refused_by_name(programs: MpiPrograms) -> None:
    with pytest.raises(UnreadableFile, match=r"a call on an intercommunicator \(MPI_Intercomm_create\)"):
        _imported(programs.c("across", 4))


def test_time_between_calls_is_computing(programs: MpiPrograms) -> None:
    program = _imported(programs.c("pauses", 2))
    for rank in range(2):
        computed = [row["compute_ns"] for row in _rows(program, rank, Call.ALLREDUCE)]
        assert all(20e6 <= one < 500e6 for one in computed)
    assert program.recorded_ns is not None
    assert program.recorded_ns >= 60e6


def test_in_lab_time_it_records_lab_time(programs: MpiPrograms, tmp_path: Path) -> None:
    """The clock's library stands behind the recorder's; which of them comes first makes no difference."""
    page = tmp_path / "page"
    make_page(page)
    clock = LabClock(page, Engine(), tmp_path, [], [])
    try:
        clock.set_rate("1/8")
        begun_s = time.monotonic()
        program = _imported(programs.c("pauses", 2, environment=environment(str(page))))
        wall_ns = (time.monotonic() - begun_s) * 1e9
    finally:
        clock.close()
    computed = [row["compute_ns"] for row in _rows(program, 0, Call.ALLREDUCE)]
    assert all(one >= 20e6 for one in computed)
    assert 8 * sum(computed) <= wall_ns, "three sleeps of 20 ms of lab time"


def test_fortran(programs: MpiPrograms) -> None:
    fortran = programs.fortran()
    for module in ("mpi", "f08"):
        _check_small(_imported(programs.run([fortran, module])))


def test_python(programs: MpiPrograms) -> None:
    needs(PYTHON)
    _check_small(_imported(programs.run([PYTHON, SOURCES / "program.py"])))


def _check_small(program: Program) -> None:
    """What the programs in Fortran and Python do."""
    for rank in range(4):
        right, left = (rank + 1) % 4, (rank - 1) % 4
        assert _sends(program, rank) == Counter([(right, 4, 40), (left, 5, 24)])
        (reduced,) = _rows(program, rank, *COLLECTIVES)
        assert (Call(reduced["call"]), reduced["bytes"], reduced["flags"]) == (Call.ALLREDUCE, 24, IN_PLACE)
        assert program.communicators[reduced["communicator"]] == ((2, 0) if rank % 2 == 0 else (3, 1))


# -- n and S


def test_the_table_counts_what_the_counter_counts() -> None:
    text = (ROOT / "benchmarks" / "on_nodes" / "count_calls.c").read_text(encoding="utf-8")
    assert set(re.findall(r"X\((\w+), [a-z]\w+\)", text)) - {"camel"} == COMMUNICATING


@pytest.mark.parametrize("name", ["messages", "collectives"])
def test_recorder_and_counter_count_the_same_calls(programs: MpiPrograms, name: str) -> None:
    folder = programs.c(name, 3)
    calls = read_calls(3, {path.name: path.read_text(encoding="utf-8") for path in folder.glob("calls.rank.*")})
    assert calls is not None
    recorded = recorded_calls([folder])
    assert recorded == calls.by_rank
    assert communication(recorded, _imported(folder), 3).call_count == calls.communications(1)


def test_bytes_between_nodes_are_those_that_open_mpi_counts(programs: MpiPrograms) -> None:
    """Messages alone: of most collective calls the bytes between nodes depend on the algorithm."""
    pml = {"pml": "ob1,monitoring", "pml_monitoring_enable": "2", "pml_monitoring_enable_output": "3"}
    pml["pml_monitoring_filename"] = "traffic"
    options = [word for name, value in pml.items() for word in ("--mca", name, value)]
    folder = programs.c("messages", 4, options=options)
    texts = (path.read_text(encoding="utf-8") for path in folder.glob("traffic.*.prof"))
    matrix, program = monitored(4, texts).size_byte, _imported(folder)
    between = sum(matrix[source][target] for source in range(4) for target in range(4) if source // 2 != target // 2)
    found = communication(recorded_calls([folder]), program, 2)
    assert found.message_byte * found.call_count * 2 == between == 2 * sum(100 * tag for tag in range(1, 10))


# -- files


def test_a_killed_program_is_replayed_up_to_where_it_came(programs: MpiPrograms) -> None:
    folder = programs.c("killed", 3, status=None)
    program = _imported(folder)
    assert len(_rows(program, 0, *SENDS)) == 50
    assert any(sentence.startswith("The files of 3 of 3 ranks end early") for sentence in program.assumed)


def test_a_file_that_was_cut_anywhere_is_read_up_to_its_last_whole_record(
    programs: MpiPrograms, tmp_path: Path
) -> None:
    """And what lacks its other end is left out, so that the replay comes to its end."""
    folder = programs.c("requests", 2)
    whole = (folder / "rank.1").read_bytes()
    records = list(RankFile(folder / "rank.1").records())
    for name in ("rank.0", "rank.1"):
        shutil.copy(folder / name, tmp_path / name)
    for length in range(30, len(whole), 41):
        (tmp_path / "rank.1").write_bytes(whole[:length])
        cut = RankFile(tmp_path / "rank.1")
        kept = list(cut.records())
        assert not cut.whole
        assert kept == records[: len(kept)]
        program = _imported(tmp_path)
        assert any(sentence.startswith("The files of 1 of 2 ranks end early (rank 1)") for sentence in program.assumed)


def test_files_of_one_run_are_found_by_its_folder(programs: MpiPrograms, tmp_path: Path) -> None:
    files = sorted(programs.c("pauses", 2).glob("rank.*"))
    first, second = tmp_path / "run" / "trials" / "0" / "traces", tmp_path / "run" / "trials" / "1" / "traces"
    first.mkdir(parents=True)
    for file in files:
        shutil.copy(file, first)
    wanted = import_trace(files, "", Options("x")).calls
    for named in (tmp_path / "run", tmp_path / "run" / "trials" / "0", first):
        assert import_trace([named], "", Options("x")).calls.equals(wanted)
    shutil.copytree(first, second)
    with pytest.raises(LabError, match=r"has traces of 2 trials: name one of them, such as .*1/traces"):
        import_trace([tmp_path / "run"], "", Options("x"))
    with pytest.raises(LabError, match="has no recorded trace: run the program with --trace"):
        import_trace([tmp_path], "", Options("x"))
    with pytest.raises(UnreadableFile, match="is of 2 ranks, and rank 1 is missing"):
        import_trace(files[:1], "", Options("x"))
    with pytest.raises(UnreadableFile, match=r"is of rank 0, as rank\.0 is"):
        import_trace([files[0], files[0]], "", Options("x"))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is not a file of the recorder"),
        (MAGIC, "ends before its first record"),
        (MAGIC + bytes([8, 0, 0, 0, 9, 0, 1, 0, 1]), "has the format 9"),
        (MAGIC + bytes([8, 0, 0, 0, 1, 1, 1, 0, 1]), "is of rank 1 of 1"),
        (MAGIC + bytes([8, 0, 0, 0, 1, 0, 1, 0, 1, 2]), "has a record without times"),
        (MAGIC + bytes([8, 0, 0, 0, 1, 0, 1, 0, 1, 3, 255, 3, 0, 0]), "has a record of kind 511"),
        (MAGIC + bytes([8, 0, 0, 0, 1, 0, 1, 0, 1, 7, NUMBERS["Send"], 0, 0, 5, 0, 0, 0]), "the communicator 5"),
        (MAGIC + bytes([8, 0, 0, 0, 1, 0, 1, 0, 1, *(12 * [255]), 1]), "has a number above 63 bits"),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "rank.0"
    path.write_bytes(data)
    with pytest.raises(UnreadableFile, match=why):
        import_trace([path], "recorder", Options("x"))


def test_numbers_of_functions_are_their_own() -> None:
    assert len(BY_NUMBER) == len(FUNCTIONS) == len({function.name for function in FUNCTIONS})
