"""DUMPI traces, from files that are written as the format's description has them."""

from pathlib import Path
from typing import Any

import pytest

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.replay.calls import ANY, NOBODY, NOT_COMMUTATIVE, Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.dumpi_file import read_rank_file
from eee_testbed.simulation.replay.readers.dumpi_layouts import LAYOUTS
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import format_of, import_trace
from tests.support.dumpi_bytes import DOUBLE, INT, SELF, WORLD, rank_file, write_trace


def _read(tmp_path: Path, *ranks: list[tuple[Any, ...]]) -> Program:
    return import_trace(write_trace(tmp_path, *ranks), "", Options("x"))


def _rows(program: Program, *names: str, rank: int = 0) -> list[tuple[Any, ...]]:
    return program.calls.filter(program.calls["rank"] == rank).select(names).rows()


def test_messages_and_time(tmp_path: Path) -> None:
    program = _read(
        tmp_path,
        [
            ("Ssend", [2, DOUBLE, 1, 7, WORLD], 50),
            ("Wtime", [], 3),
            ("Irecv", [5, INT, -1, -1, WORLD, 2]),
            ("Wait", [2, [(8, 1, 0, 9)]]),
            ("Send", [1, INT, -2, 0, WORLD]),
        ],
        [("Recv", [4, DOUBLE, 0, 7, WORLD, []]), ("Rsend", [2, INT, 0, 9, WORLD], 100)],
    )
    assert _rows(program, "call", "compute_ns", "peer", "tag", "bytes", "request", "sizes") == [
        (Call.SSEND, 60_000, 1, 7, 16, -1, None),
        (Call.IRECV, 13_000, 1, 9, 8, 0, None),
        (Call.WAIT, 10_000, ANY, 0, 0, -1, [0]),
        (Call.SEND, 10_000, NOBODY, 0, 4, -1, None),
        (Call.COMPUTE, 10_000, ANY, 0, 0, -1, None),
    ]
    assert _rows(program, "call", "bytes", rank=1)[:2] == [(Call.RECV, 32), (Call.SEND, 8)]
    assert program.recorded_ns == 133_000
    assert program.assumed == (
        "1 receives from any rank or of any tag are replayed as what they received.",
        "1 receives have no status: their bytes are those of their buffers.",
        "1 messages with a negative rank are taken as those of MPI_PROC_NULL.",
    )


def test_waits_for_what_has_completed(tmp_path: Path) -> None:
    sends: list[tuple[Any, ...]] = [("Isend", [1, INT, 0, tag, WORLD, 2 + tag]) for tag in range(6)]
    program = _read(
        tmp_path,
        [
            *(("Irecv", [1, INT, 0, tag, WORLD, 10 + tag]) for tag in range(6)),
            *sends,
            ("Waitany", [2, (11, 12), 1, [(4, 0, 0, 2)]]),
            ("Testany", [2, (11, 13), 0, 0, []]),
            ("Test", [11, 1, [(4, 0, 0, 1)]]),
            ("Waitsome", [3, (10, 13, 14), 2, (0, 2), [(4, 0, 0, 0), (4, 0, 0, 4)]]),
            ("Testall", [1, (13,), 0, []]),
            ("Testsome", [1, (13,), -1, (), []]),
            ("Waitall", [2, (13, 1), []]),
            ("Request_free", [2]),
        ],
    )
    waits = [row for row in _rows(program, "call", "sizes") if row[0] == Call.WAIT]
    assert waits == [(Call.WAIT, [2]), (Call.WAIT, [1]), (Call.WAIT, [0, 4]), (Call.WAIT, [3])]
    assert "Time between tests of requests counts as computing." in program.assumed


def test_persistent_requests_sendrecv_and_cancelled_ones(tmp_path: Path) -> None:
    program = _read(
        tmp_path,
        [
            ("Send_init", [1, INT, 0, 1, WORLD, 5]),
            ("Recv_init", [1, INT, 0, 1, WORLD, 6]),
            *(2 * [("Startall", [2, (5, 6)]), ("Waitall", [2, (5, 6), [(0, 0, 0, 0), (4, 0, 0, 1)]])]),
            ("Sendrecv", [1, INT, 0, 1, 2, INT, 0, -1, WORLD, [(4, 0, 0, 1)]]),
            ("Sendrecv_replace", [1, INT, 0, 1, 0, 1, WORLD, [(4, 0, 0, 1)]]),
            ("Irecv", [1, INT, -1, 1, WORLD, 7]),
            ("Cancel", [7]),
            ("Wait", [7, [(0, 0, 1, 0)]]),
        ],
    )
    calls = [(row[0], row[1]) for row in _rows(program, "call", "bytes")]
    both, receive = (
        [(Call.IRECV, 4), (Call.ISEND, 4), (Call.WAIT, 0)],
        [(Call.ISEND, 4), (Call.IRECV, 4), (Call.WAIT, 0)],
    )
    assert calls == [*receive, *receive, *both, *both, (Call.COMPUTE, 0)]
    assert "1 requests that were cancelled are left out." in program.assumed


def test_every_collective_call(tmp_path: Path) -> None:
    def of_rank(rank: int) -> list[tuple[Any, ...]]:
        return [
            ("Op_create", [0, 20]),
            ("Barrier", [WORLD]),
            ("Bcast", [3, INT, 1, WORLD]),
            ("Gather", [rank, 9 if rank else 4, INT, 1, WORLD, 2, DOUBLE]),
            ("Gatherv", [rank, 2, 3 + rank, INT, 1, WORLD, (3, 4), (0, 3), INT]),
            ("Scatter", [rank, 3, INT, 1, WORLD, 3, INT]),
            ("Scatterv", [rank, 2, INT, 3 + rank, INT, 1, WORLD, (3, 4), (0, 3)]),
            ("Allgather", [3, INT, 3, INT, WORLD]),
            ("Allgatherv", [2, 3 + rank, INT, (3, 4), (0, 3), INT, WORLD]),
            ("Alltoall", [3, INT, 3, INT, WORLD]),
            ("Alltoallv", [2, (1, 2), (0, 1), INT, (3, 4), (0, 3), INT, WORLD]),
            ("Alltoallw", [2, (1, 2), (0, 1), (INT, DOUBLE), (3, 4), (0, 3), (INT, INT), WORLD]),
            ("Reduce", [3, INT, 3, 1, WORLD]),
            ("Allreduce", [3, INT, 20, WORLD]),
            ("Reduce_scatter", [2, (3, 4), INT, 3, WORLD]),
            ("Scan", [3, INT, 3, WORLD]),
            ("Exscan", [3, INT, 3, WORLD]),
            ("Bcast", [3, INT, 0, SELF]),
        ]

    program = _read(tmp_path, of_rank(0), of_rank(1))
    assert _rows(program, "call", "peer", "bytes", "sizes", "flags", rank=1)[:-1] == [
        (Call.BARRIER, ANY, 0, None, 0),
        (Call.BCAST, 1, 12, None, 0),
        (Call.GATHER, 1, 16, None, 0),
        (Call.GATHERV, 1, 16, [12, 16], 0),
        (Call.SCATTER, 1, 12, None, 0),
        (Call.SCATTERV, 1, 16, [12, 16], 0),
        (Call.ALLGATHER, ANY, 12, None, 0),
        (Call.ALLGATHERV, ANY, 16, [12, 16], 0),
        (Call.ALLTOALL, ANY, 12, None, 0),
        (Call.ALLTOALLV, ANY, 12, [4, 8, 12, 16], 0),
        (Call.ALLTOALLV, ANY, 20, [4, 16, 12, 16], 0),
        (Call.REDUCE, 1, 12, None, 0),
        (Call.ALLREDUCE, ANY, 12, None, NOT_COMMUTATIVE),
        (Call.REDUCE_SCATTER, ANY, 28, [12, 16], 0),
        (Call.SCAN, ANY, 12, None, 0),
        (Call.EXSCAN, ANY, 12, None, 0),
    ]
    assert _rows(program, "call", "bytes", "sizes")[2:6] == [
        (Call.GATHER, 16, None),
        (Call.GATHERV, 12, None),
        (Call.SCATTER, 12, None),
        (Call.SCATTERV, 12, None),
    ]


def test_communicators_follow_from_the_calls_of_all_ranks(tmp_path: Path) -> None:
    def of_rank(rank: int) -> list[tuple[Any, ...]]:
        calls: list[tuple[Any, ...]] = [
            ("Comm_split", [WORLD, rank % 2, -rank, 4 + rank]),  # each rank counts communicators by itself
            ("Barrier", [4 + rank]),
            ("Comm_dup", [WORLD, 20]),
            ("Barrier", [20]),
            ("Cart_create", [WORLD, 2, (2, 2), (0, 0), 1, 21]),
            ("Cart_sub", [2, 21, (0, 1), 22]),
            ("Barrier", [22]),
            ("Comm_group", [WORLD, 3]),
            ("Group_incl", [3, 2, (3, 0), 4]),
            ("Group_range_incl", [3, 1, [(1, 2, 1)], 5]),
            ("Group_excl", [3, 2, (0, 3), 6]),
            ("Group_union", [4, 6, 7]),
            ("Group_difference", [7, 5, 8]),
            ("Group_intersection", [8, 3, 9]),
            ("Comm_create", [WORLD, 9, 23 if rank in (0, 3) else 1]),
        ]
        return calls + ([("Barrier", [23]), ("Comm_free", [23])] if rank in (0, 3) else [])

    program = _read(tmp_path, *map(of_rank, range(4)))
    used = [
        [tuple(program.communicators[number]) for (number,) in _rows(program, "communicator", rank=rank)][:-1]
        for rank in range(4)
    ]
    world = (0, 1, 2, 3)
    assert used == [
        [(2, 0), world, (0, 1), (3, 0)],
        [(3, 1), world, (0, 1)],
        [(2, 0), world, (2, 3)],
        [(3, 1), world, (2, 3), (3, 0)],
    ]
    assert len([one for one in program.communicators if tuple(one) == world]) == 2  # the duplicate matches for itself
    assert "keep their order" in "".join(program.assumed)


def test_datatypes_that_the_program_made(tmp_path: Path) -> None:
    program = _read(
        tmp_path,
        [
            ("Type_vector", [3, 2, 5, INT, 30]),
            ("Isend", [1, 30, 0, 1, WORLD, 2]),
            ("Type_free", [30]),
            ("Type_create_struct", [2, (1, 2), (0, 8), (INT, DOUBLE), 30]),
            ("Type_contiguous", [4, 30, 31]),
            ("Isend", [1, 31, 0, 1, WORLD, 3]),
            ("Type_create_subarray", [2, (9, 9), (2, 3), (0, 0), 1, INT, 32]),
            ("Isend", [1 << 28, 32, 0, 1, WORLD, 4]),
        ],
    )
    assert [size for _, size in _rows(program, "call", "bytes")][:3] == [24, 80, 24 << 28]


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([("Barrier", [9])], "a call on communicator 9, which is not made before"),
        ([("Intercomm_create", [SELF, 0, WORLD, 0, 1, 9]), ("Barrier", [9])], "whose ranks the trace does not show"),
        ([("Send", [1, INT, 3, 0, WORLD])], "a message with rank 3 of a communicator of 1 ranks"),
        ([("Send", [1, 77, 0, 0, WORLD])], "a message of datatype 77, whose size the trace does not show"),
        ([("Send", [-1, INT, 0, 0, WORLD])], "has -1 elements of 4 bytes"),
        ([("Put", [1, INT, 0, 0, 1, INT, 3])], "one-sided communication"),
        ([("Start", [5])], "starts a request that is not persistent"),
        ([("Alltoallv", [2, (1, 2), (0, 1), INT, (3, 4), (0, 3), INT, WORLD])], "2 counts for 1 ranks"),
        ([("Bcast", [1, INT, 4, WORLD])], "a collective call with the root 4"),
    ],
)
def test_what_is_refused(tmp_path: Path, calls: list[tuple[Any, ...]], words: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        _read(tmp_path, calls)
    assert words in str(caught.value)


def test_calls_that_others_did_not_make(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"a call MPI_Comm_dup \(number 0\) that other ranks did not make"):
        _read(tmp_path, [("Comm_dup", [WORLD, 4])], [])
    with pytest.raises(UnreadableFile, match="MPI_Comm_dup and MPI_Comm_split at once"):
        _read(tmp_path, [("Comm_dup", [WORLD, 4])], [("Comm_split", [WORLD, 0, 0, 4])])


def test_files_of_all_ranks_are_needed(tmp_path: Path) -> None:
    files = write_trace(tmp_path, [], [])
    with pytest.raises(UnreadableFile, match="belongs to a trace of 2 ranks, and no file of rank 1 is named"):
        import_trace(files[:1], "", Options())
    with pytest.raises(UnreadableFile, match="is a second file of rank 0"):
        import_trace([files[0], files[0]], "", Options())
    (tmp_path / "trace.meta").write_text("hostname=x\nnumprocs=2\nfileprefix=trace\n")
    assert format_of(tmp_path / "trace.meta") == "dumpi"
    assert import_trace([tmp_path / "trace.meta"], "", Options()).ranks == 2
    (tmp_path / "other.meta").write_text("numprocs=2\nfileprefix=other\n")
    with pytest.raises(UnreadableFile, match=r"has no files other-\*.bin beside it"):
        import_trace([tmp_path / "other.meta"], "", Options())


def test_files_that_are_cut_or_old(tmp_path: Path) -> None:
    whole = rank_file(("Init", [[b"./a", b"-x"]]), ("Error_string", [1, b"abc", 3]), ("Finalize", []))
    path = tmp_path / "x.bin"
    path.write_bytes(whole)
    assert [call.name for call in read_rank_file(path).calls] == ["Init", "Error_string", "Finalize"]
    for data, words in (
        (whole[:-5], "has no index: it was cut off"),
        (whole[:8], "has no index: it was cut off"),
        (b"x" + whole, "is not a file of a DUMPI trace"),
        (rank_file(version=(0, 6, 8)), "those before 0.6.9 are not read"),
        (whole.replace(b"\x00\x00\x00\x03abc", b"\x7f\xff\xff\xffabc"), "a list that is longer than the file"),
    ):
        path.write_bytes(data)
        with pytest.raises(UnreadableFile) as caught:
            read_rank_file(path)
        assert words in str(caught.value)


def test_the_numbers_of_calls_are_those_of_the_format() -> None:
    numbers = {name: number for number, (name, _) in enumerate(LAYOUTS)}
    known = {"Send": 0, "Barrier": 52, "Allreduce": 65, "Comm_split": 86, "Finalize": 125, "File_open": 230}
    assert {name: numbers[name] for name in known} == known
    assert numbers["Function_exit"] == len(LAYOUTS) - 1 == 292
