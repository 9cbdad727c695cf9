"""OTF2 archives: what a program did is found in the records of its recording."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import otf2
import polars as pl
import pytest
from hypothesis import assume, given

from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.simulation.replay.calls import ANY, COLLECTIVES, NOBODY, RECEIVES, SENDS, STARTS, Call
from eee_testbed.simulation.replay.checks import check_program
from eee_testbed.simulation.replay.loops import unrolled
from eee_testbed.simulation.replay.otf2_writer import write_otf2
from eee_testbed.simulation.replay.program import Program, write_program
from eee_testbed.simulation.replay.readers.otf2 import program_of
from eee_testbed.simulation.replay.readers.otf2_events import ROW, Archive, Kind, events_of, read
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import import_trace
from eee_testbed.simulation.replay.replayed import replay
from tests.support.laws import law
from tests.support.replay_programs import of_calls, programs, ring
from tests.support.replays import described


def _here(anchor: Path) -> Program:
    """An archive that is known to be sound, read in this process."""
    program = program_of(read(otf2, str(anchor)), anchor, "x")
    check_program(program.calls, program.ranks, program.communicators)
    return program


def _facts(program: Program) -> list[list[Any]]:
    """Per rank what a recording holds: messages, collective calls, which requests end together, time."""
    found: list[list[Any]] = []
    for rank in range(program.ranks):
        own: list[Any] = []
        open_requests: dict[int, int] = {}
        begun = compute_ns = 0
        for row in unrolled(program.calls.filter(program.calls["rank"] == rank).to_dicts()):
            call, members = Call(row["call"]), tuple(program.communicators[row["communicator"]])
            compute_ns += row["compute_ns"]
            nobody = call in SENDS | RECEIVES and row["peer"] == NOBODY
            if not nobody and (call in STARTS or (call in COLLECTIVES and row["request"] != -1)):
                open_requests[row["request"]] = begun
                begun += 1
            if call is Call.WAIT:
                ended = {open_requests.pop(one) for one in row["sizes"] if one in open_requests}
                own += [ended] if ended else []
            elif call in SENDS | RECEIVES and not nobody:
                own.append((call, members, row["peer"], row["tag"], row["bytes"]))
            elif call is Call.ALLTOALLV:
                half = len(members)
                own.append((call, members, sum(row["sizes"][:half]), sum(row["sizes"][half:])))
            elif call is Call.EXSCAN and len(members) == 1:
                own.append((call, members))  # nothing is sent, so nobody knows how much
            elif call in COLLECTIVES:
                own.append((call, members, row["peer"], row["bytes"], row["sizes"]))
        found.append([*own, compute_ns])
    return found


@law(60)
@given(programs(wildcards=False, in_place=False, settled=True))
def test_a_program_is_found_in_its_recording(tmp_path_factory: pytest.TempPathFactory, program: Program) -> None:
    anchor = write_otf2(program, tmp_path_factory.mktemp("law") / "trace")
    assert _facts(_here(anchor)) == _facts(program)


@law(15)
@given(programs(wildcards=False, in_place=False, settled=True))
def test_a_program_and_its_recording_are_replayed_alike(
    tmp_path_factory: pytest.TempPathFactory, program: Program
) -> None:
    """Bytes, messages and time; but a recording does not hold which operations commute, nor MPI_Alltoallv's blocks."""
    calls = program.calls.filter(program.calls["call"] != Call.ALLTOALLV).with_columns(flags=pl.lit(0, pl.UInt8))
    assume(calls.height == program.calls.height)
    folder = tmp_path_factory.mktemp("law")
    found = _here(write_otf2(replace(program, calls=calls), folder / "trace"))
    assert _replayed(folder, found) == _replayed(folder, replace(program, calls=calls))


def _replayed(folder: Path, program: Program) -> tuple[float, int, int]:
    write_program(folder / "x.replay", program)
    job = {"program": {"kind": "file", "path": str(folder / "x.replay")}}
    times = {"latency_ns": 1000, "gap_ns": 10, "gap_byte_ns": 0.001}
    found = replay(described(job, programs={"jobs": [job], "log_gops": times}), 1, sleeping=False)
    return found.run_time_s, found.messages, found.sent_byte


def test_an_archive_is_read_in_a_process_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = ring(ranks=3, size=6 << 30, passes=2)
    found = import_trace([write_otf2(program, tmp_path / "trace")], "", Options("ring"))
    assert _facts(found) == _facts(program)
    assert (found.name, found.source, found.recorded_ns) == ("ring", "OTF2 archive of 3 ranks", 8100)
    assert capfd.readouterr() == ("", "")


class _Recording:
    """Writes records of a few ranks as a test says."""

    def __init__(self, folder: Path, ranks: int) -> None:
        self.anchor = folder / "traces.otf2"
        self._closing = otf2.writer.open(str(folder), timer_resolution=10**9)
        self._archive = self._closing.__enter__()
        made = self._archive.definitions
        node = made.system_tree_node("machine")
        groups = [made.location_group(f"MPI Rank {rank}", system_tree_parent=node) for rank in range(ranks)]
        self.places = [made.location("Master thread", group=group) for group in groups]
        mpi, kinds = otf2.Paradigm.MPI, otf2.GroupType
        made.group("", group_type=kinds.COMM_LOCATIONS, paradigm=mpi, members=self.places)
        world = made.group("", group_type=kinds.COMM_GROUP, paradigm=mpi, members=self.places)
        alone = made.group("", group_type=kinds.COMM_SELF, paradigm=mpi, members=())
        self.world = made.comm("MPI_COMM_WORLD", group=world)
        self.alone = made.comm("MPI_COMM_SELF", group=alone)
        self.writers = [self._archive.event_writer_from_location(place) for place in self.places]
        self._ends = [0] * ranks

    def region(self, name: str, *, mpi: bool = True) -> Any:
        paradigm = otf2.Paradigm.MPI if mpi else otf2.Paradigm.USER
        return self._archive.definitions.region(name, paradigm=paradigm)

    def call(self, rank: int, name: str, *records: Callable[[Any, int], None], gap: int = 0, mpi: bool = True) -> None:
        """A function of 100 ns, a gap after the last one, with records."""
        writer, start = self.writers[rank], self._ends[rank] + gap
        writer.enter(start, self.region(name, mpi=mpi))
        for number, record in enumerate(records):
            record(writer, start + 10 + number)
        self._ends[rank] = start + 100
        writer.leave(self._ends[rank], self.region(name, mpi=mpi))

    def program(self) -> Program:
        self.close()
        return _here(self.anchor)

    def close(self) -> None:
        self._closing.__exit__(None, None, None)


def _rows(program: Program, *names: str, rank: int = 0) -> list[tuple[Any, ...]]:
    return program.calls.filter(program.calls["rank"] == rank).select(names).rows()


@pytest.fixture
def two(tmp_path: Path) -> _Recording:
    return _Recording(tmp_path / "trace", 2)


def test_computing_is_what_lies_between_functions_of_mpi(two: _Recording) -> None:
    two.call(0, "MPI_Init")
    two.writers[0].enter(150, two.region("main", mpi=False))  # never left
    two.call(0, "MPI_Comm_rank", gap=400)
    two.call(0, "work", gap=50, mpi=False)
    two.call(0, "MPI_Send", lambda at, time: at.mpi_send(time, 1, two.world, 3, 8), gap=7)
    off = two._ends[0] + 30
    two.writers[0].measurement_on_off(off, otf2.MeasurementMode.OFF)
    two.writers[0].measurement_on_off(off + 10**6, otf2.MeasurementMode.ON)
    two._ends[0] = off + 10**6
    two.call(0, "MPI_Send", lambda at, time: at.mpi_send(time, 1, two.world, 3, 9), gap=5)
    two.call(1, "MPI_Recv", lambda at, time: at.mpi_recv(time, 0, two.world, 3, 8))
    two.writers[1].mpi_recv(1000, 0, two.world, 3, 9)  # outside of any function
    program = two.program()
    assert _rows(program, "call", "compute_ns", "bytes") == [
        (Call.SEND, 400 + 50 + 100 + 7, 8),
        (Call.SEND, 30 + 5, 9),
    ]
    assert _rows(program, "call", "compute_ns", rank=1) == [(Call.RECV, 0), (Call.RECV, 900)]


def test_a_receive_is_posted_where_it_was_with_what_its_completion_says(two: _Recording) -> None:
    for number in (1, 2, 3, 4):
        two.call(0, "MPI_Irecv", lambda at, time, number=number: at.mpi_irecv_request(time, number))  # type: ignore[misc]
    two.call(0, "MPI_Testany", lambda at, time: at.mpi_request_test(time, 1))
    two.call(0, "MPI_Waitsome", lambda at, time: at.mpi_irecv(time, 1, two.world, 5, 10, 2))
    two.call(0, "MPI_Wait", lambda at, time: at.mpi_irecv(time, 1, two.world, 6, 11, 1))
    two.call(0, "MPI_Cancel", lambda at, time: at.mpi_request_cancelled(time, 3))
    for size, tag in ((10, 5), (11, 6)):
        two.call(1, "MPI_Send", lambda at, time, size=size, tag=tag: at.mpi_send(time, 0, two.world, tag, size))  # type: ignore[misc]
    program = two.program()
    assert _rows(program, "call", "peer", "tag", "bytes", "request", "sizes") == [
        (Call.IRECV, 1, 6, 11, 0, None),
        (Call.IRECV, 1, 5, 10, 1, None),
        (Call.WAIT, ANY, 0, 0, -1, [1]),
        (Call.WAIT, ANY, 0, 0, -1, [0]),
    ]
    assert [sentence for sentence in program.assumed if "left out" in sentence] == [
        "1 requests that were cancelled are left out.",
        "1 receives that never completed, or from MPI_PROC_NULL, are left out: their sender is unknown.",
    ]
    assert "Time between tests of requests counts as computing." in program.assumed


def test_kinds_of_sends_and_both_halves_of_sendrecv(two: _Recording) -> None:
    for rank in (0, 1):
        two.call(
            rank,
            "MPI_Sendrecv",
            lambda at, time, rank=rank: at.mpi_send(time, 1 - rank, two.world, 1, 8),  # type: ignore[misc]
            lambda at, time, rank=rank: at.mpi_recv(time, 1 - rank, two.world, 1, 8),  # type: ignore[misc]
        )
    two.call(0, "MPI_Ssend", lambda at, time: at.mpi_send(time, 1, two.world, 1, 8))
    two.call(0, "MPI_Issend", lambda at, time: at.mpi_isend(time, 1, two.world, 1, 8, 1))
    two.call(0, "MPI_Test", lambda at, time: at.mpi_isend_complete(time, 1))
    for _ in range(2):
        two.call(1, "MPI_Recv", lambda at, time: at.mpi_recv(time, 0, two.world, 1, 8))
    program = two.program()
    assert [Call(call) for (call,) in _rows(program, "call")] == [
        Call.IRECV,
        Call.ISEND,
        Call.WAIT,
        Call.SSEND,
        Call.ISSEND,
        Call.WAIT,
    ]


def test_collective_calls_that_carry_nothing_are_left_out(two: _Recording) -> None:
    operation = otf2.CollectiveOp

    def end(communicator: Any, kind: Any) -> Callable[[Any, int], None]:
        return lambda at, time: at.mpi_collective_end(time, kind, communicator, 2**32 - 1, 0, 0)

    for rank in (0, 1):
        two.call(rank, "MPI_Comm_dup", end(two.world, operation.CREATE_HANDLE))
        two.call(rank, "MPI_Barrier", end(two.alone, operation.BARRIER))
        two.call(rank, "MPI_Barrier", end(two.world, operation.BARRIER))
    program = two.program()
    assert _rows(program, "call") == [(Call.BARRIER,)]
    assert program.assumed == (
        "2 calls that make or free communicators and windows are left out.",
        "2 collective calls on communicators of one rank are left out.",
    )


def test_non_blocking_collective_calls_without_records_are_counted(two: _Recording) -> None:
    operation = otf2.CollectiveOp.BARRIER
    for rank in (0, 1):
        two.call(rank, "MPI_Iallreduce")
        two.call(rank, "MPI_Ibarrier", lambda at, time: at.non_blocking_collective_request(time, 1))
        two.call(
            rank,
            "MPI_Wait",
            lambda at, time: at.non_blocking_collective_complete(time, operation, two.world, 2**32 - 1, 0, 0, 1),
        )
    program = two.program()
    assert _rows(program, "call", "request", "sizes") == [(Call.BARRIER, 0, None), (Call.WAIT, -1, [0])]
    assert program.assumed == ("2 non-blocking collective calls have no records and are left out.",)


def test_time_in_which_the_recording_was_written_is_not_computing(two: _Recording) -> None:
    two.writers[0].buffer_flush(0, 5)  # before anything else
    two.call(0, "MPI_Init")
    two.writers[0].buffer_flush(150, 1150)
    two._ends[0] = 1150
    two.call(0, "MPI_Send", lambda at, time: at.mpi_send(time, 1, two.world, 3, 8), gap=20)
    two.call(0, "MPI_Send", lambda at, time: at.buffer_flush(time, time + 50), gap=7)
    two.call(0, "MPI_Send", lambda at, time: at.mpi_send(time, 1, two.world, 3, 9), gap=2)
    for size in (8, 9):
        two.call(1, "MPI_Recv", lambda at, time, size=size: at.mpi_recv(time, 0, two.world, 3, size))  # type: ignore[misc]
    program = two.program()
    assert _rows(program, "compute_ns", "bytes") == [(50 + 20, 8), (7 + 2, 9)]
    assert "Time in which the recording was written, 3 times, is not computing." in program.assumed


def test_a_non_blocking_send_without_a_request_ends_in_the_next_wait(two: _Recording) -> None:
    for rank in (0, 1):
        for name in ("MPI_Isend", "MPI_Issend"):
            two.call(rank, name, lambda at, time, rank=rank: at.mpi_send(time, 1 - rank, two.world, 3, 8))  # type: ignore[misc]
        for _ in range(2):
            two.call(rank, "MPI_Waitany", lambda at, time, rank=rank: at.mpi_recv(time, 1 - rank, two.world, 3, 8))  # type: ignore[misc]
    two.call(0, "MPI_Isend", lambda at, time: at.mpi_send(time, 1, two.world, 3, 9))
    two.call(1, "MPI_Recv", lambda at, time: at.mpi_recv(time, 0, two.world, 3, 9))
    program = two.program()
    calls = [Call(call) for (call,) in _rows(program, "call")]
    assert calls[:5] == [Call.ISEND, Call.ISSEND, Call.RECV, Call.WAIT, Call.RECV]
    assert calls[5:] == [Call.ISEND, Call.WAIT]
    assert any(sentence.startswith("5 non-blocking sends without a request") for sentence in program.assumed)


def test_a_broadcast_whose_root_counted_in_32_bits_is_what_was_received(two: _Recording) -> None:
    size = (1 << 31) - 8
    for rank, sent in ((0, (1 << 64) - 16), (1, 0)):
        two.call(
            rank,
            "MPI_Bcast",
            lambda at, time, sent=sent: at.mpi_collective_end(time, otf2.CollectiveOp.BCAST, two.world, 0, sent, size),  # type: ignore[misc]
        )
    assert _rows(two.program(), "call", "bytes") == [(Call.BCAST, size)]


def test_a_message_to_oneself_alone(two: _Recording) -> None:
    two.call(0, "MPI_Isend", lambda at, time: at.mpi_isend(time, 0, two.alone, 1, 8, 1))
    two.call(0, "MPI_Recv", lambda at, time: at.mpi_recv(time, 0, two.alone, 1, 8))
    program = two.program()
    assert list(program.communicators[1]) == [0]
    assert _rows(program, "call", "communicator", "peer") == [(Call.ISEND, 1, 0), (Call.RECV, 1, 0)]


def test_probed_messages(two: _Recording) -> None:
    two.call(0, "MPI_Mprobe", lambda at, time: at.mpi_probe(time, 1, two.world, 4, 77))
    two.call(0, "MPI_Mrecv", lambda at, time: at.mpi_mrecv(time, 77, 12))
    two.call(0, "MPI_Improbe", lambda at, time: at.mpi_probe(time, 1, two.world, 5, 78))
    two.call(0, "MPI_Imrecv", lambda at, time: at.mpi_imrecv_request(time, 78, 9))
    two.call(0, "MPI_Wait", lambda at, time: at.mpi_imrecv(time, 9, 13))
    program = two.program()
    assert _rows(program, "call", "peer", "tag", "bytes") == [
        (Call.RECV, 1, 4, 12),
        (Call.IRECV, 1, 5, 13),
        (Call.WAIT, ANY, 0, 0),
    ]


def _lonely(two: _Recording) -> None:
    barrier = otf2.CollectiveOp.BARRIER
    two.call(0, "MPI_Barrier", lambda at, time: at.mpi_collective_end(time, barrier, two.world, 0, 0, 0))


def _far(two: _Recording) -> None:
    two.call(0, "MPI_Send", lambda at, time: at.mpi_send(time, 5, two.world, 1, 8))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (_lonely, "has records of collective call 0 on 'MPI_COMM_WORLD' that do not belong together"),
        (_far, "has a message of rank 0 with a peer, tag or size that cannot be"),
    ],
)
def test_refusals(two: _Recording, record: Callable[[_Recording], None], words: str) -> None:
    record(two)
    with pytest.raises(UnreadableFile) as caught:
        two.program()
    assert words in str(caught.value)


def _archive(rows: list[tuple[int, ...]]) -> Archive:
    """Two ranks with a world and an inter-communicator, which the package cannot write."""
    made = np.array([row + (0,) * (len(ROW.names or ()) - len(row)) for row in rows], dtype=ROW)
    return Archive(2, 10**9, {}, [[0, 1], []], ["world", "between"], made)


def test_what_records_cannot_say() -> None:
    with pytest.raises(UnreadableFile, match="has calls on 'between', an inter-communicator, which is not replayed"):
        program_of(_archive([(0, Kind.SEND, 5, 1, 1, 3, 8)]), Path("x"), "x")
    with pytest.raises(UnreadableFile, match="has one-sided communication, which is not replayed"):
        program_of(_archive([(0, Kind.ONE_SIDED, 5)]), Path("x"), "x")
    late = program_of(_archive([(0, Kind.IRECV, 5, 1, 0, 3, 8, 99)]), Path("x"), "x")
    assert _rows(late, "call", "bytes") == [(Call.RECV, 8)]
    assert "1 receives without a record of their begin are begun where they completed." in late.assumed


def test_what_is_no_archive(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x").write_bytes(b"\x03BOTF2 and no more")
    with pytest.raises(UnreadableFile, match="is damaged or no OTF2 archive"):
        import_trace([tmp_path / "x"], "", Options())
    with pytest.raises(UnreadableFile, match="is no file: name the anchor file"):
        import_trace([tmp_path], "otf2", Options())
    with pytest.raises(UnreadableFile, match="name the anchor file alone"):
        import_trace([tmp_path / "x", tmp_path / "x"], "", Options())
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_damaged_archives_end_in_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_otf2(ring(passes=3), tmp_path / "trace")
    files = sorted(path for path in (tmp_path / "trace").rglob("*") if path.is_file())
    whole = {path: path.read_bytes() for path in files}
    rng = random.Random(1)  # noqa: S311 - damage is to be the same each time
    for _ in range(12):
        path = rng.choice(files)
        data = bytearray(whole[path])
        if rng.random() < 0.5:
            data = data[: rng.randrange(len(data))]
        else:
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        path.write_bytes(data)
        try:
            import_trace([tmp_path / "trace" / "traces.otf2"], "otf2", Options())
        except LabError as error:
            assert "\n" not in str(error)  # noqa: PT017 - some damage leaves another archive
        path.write_bytes(whole[path])
    assert capfd.readouterr() == ("", "")


def test_a_missing_rank_is_seen(tmp_path: Path) -> None:
    anchor = write_otf2(ring(passes=3), tmp_path / "trace")
    next((tmp_path / "trace" / "traces").glob("2.evt")).unlink()
    with pytest.raises(UnreadableFile):
        events_of(anchor)


def test_a_receive_from_anybody_is_not_written(tmp_path: Path) -> None:
    program = of_calls(1, {"call": Call.RECV, "peer": ANY})
    with pytest.raises(LabError, match="a trace has to name the sender"):
        write_otf2(program, tmp_path / "trace")
