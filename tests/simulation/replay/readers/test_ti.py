"""Time-independent traces of SimGrid: every verb, and what is refused."""

from pathlib import Path

import pytest

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.replay.calls import ANY, NOBODY, Call
from eee_testbed.simulation.replay.program import Program, write_program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import format_of, import_trace


def _read(tmp_path: Path, text: str, options: Options | None = None) -> Program:
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    return import_trace([tmp_path / "t.txt"], "", options or Options("t"))


def _rows(program: Program, *names: str, rank: int = 0) -> list[tuple[object, ...]]:
    own = program.calls.filter(program.calls["rank"] == rank)
    return own.select(names).rows()


def test_messages_requests_and_time(tmp_path: Path) -> None:
    text = (
        "0 init\n0 compute 1e6\n0 isend 1 7 1e3\n0 irecv 1 8 6e9\n\n0 sleep 0.5\n0 wait 1 0 8\n0 waitall\n0 finalize\n"
        "1 init\n1 recv 0 7 1000\n1 send 0 8 6000000000\n1 compute 5\n1 finalize\n"
    )
    program = _read(tmp_path, text, Options("t", flops_per_s=2e9))
    assert program.ranks == 2
    assert _rows(program, "call", "compute_ns", "peer", "tag", "bytes", "request", "sizes") == [
        (Call.ISEND, 500_000, 1, 7, 1000, 0, None),
        (Call.IRECV, 0, 1, 8, 6_000_000_000, 1, None),
        (Call.WAIT, 500_000_000, ANY, 0, 0, -1, [1]),
        (Call.WAIT, 0, ANY, 0, 0, -1, [0]),
    ]
    assert _rows(program, "call", "compute_ns", rank=1)[-1] == (Call.COMPUTE, 2)
    assert program.assumed == ("Computing is given in operations: 2e+09 of them take a second.",)


def test_a_file_for_each_rank_and_words_for_anybody(tmp_path: Path) -> None:
    (tmp_path / "0").write_text("0 init 1\n0 recv -555 -444 10\n0 send -666 0 10 6\n")
    (tmp_path / "1").write_text("1 init 1\n1 send 0 3 10\n")
    program = import_trace([tmp_path / "0", tmp_path / "1"], "", Options())
    assert _rows(program, "call", "peer", "tag", "bytes") == [(Call.RECV, ANY, ANY, 80), (Call.SEND, NOBODY, 0, 10)]


def test_a_list_names_the_files_of_the_ranks(tmp_path: Path) -> None:
    (tmp_path / "t_files").mkdir()
    (tmp_path / "t_files" / "0.txt").write_text("0 init\n0 send 1 0 8\n0 finalize\n")
    (tmp_path / "t_files" / "1.txt").write_text("1 init\n1 recv 0 0 8\n1 finalize\n")
    program = _read(tmp_path, "t_files/0.txt\nt_files/1.txt\n")
    assert program.ranks == 2
    assert program.source.endswith("2 files")
    with pytest.raises(UnreadableFile, match=r"t_files/2.txt cannot be read \(No such file"):
        _read(tmp_path, "t_files/0.txt\nt_files/1.txt\nt_files/2.txt\n")
    for text in ("t_files/2.txt\n", "t_files\n", "x" * 3000 + "\n", "a\0b\n"):
        with pytest.raises(UnreadableFile, match="looks like none of the formats"):
            _read(tmp_path, text)


def test_a_test_that_no_wait_follows_is_the_wait(tmp_path: Path) -> None:
    text = (
        "0 init\n0 irecv 0 1 5\n0 test 0 0 1\n0 isend 0 1 5\n0 test 0 0 1\n0 wait 0 0 1\n0 compute 7\n0 test 0 0 1\n"
        "0 wait 0 0 2\n"
    )
    program = _read(tmp_path, text)
    assert _rows(program, "call", "compute_ns", "sizes") == [
        (Call.IRECV, 0, None),
        (Call.ISEND, 0, None),
        (Call.WAIT, 0, [0]),
        (Call.WAIT, 7, [1]),
    ]
    assert "the last test of a request is its wait" in program.assumed[1]


def test_every_collective_call(tmp_path: Path) -> None:
    verbs = {
        "barrier": (Call.BARRIER, ANY, 0, None),
        "bcast 5 1 1": (Call.BCAST, 1, 20, None),
        "bcast 5": (Call.BCAST, 0, 5, None),
        "reduce 5 1e9 1": (Call.REDUCE, 1, 5, None),
        "allreduce 5 0 0": (Call.ALLREDUCE, ANY, 40, None),
        "scan 5 0": (Call.SCAN, ANY, 5, None),
        "exscan 5 0": (Call.EXSCAN, ANY, 5, None),
        "alltoall 5 5": (Call.ALLTOALL, ANY, 5, None),
        "allgather 5 5 0 0": (Call.ALLGATHER, ANY, 40, None),
        "gather 5 5 1 0 0": (Call.GATHER, 1, 40, None),
        "scatter 7 5 1": (Call.SCATTER, 1, 5, None),
        "gatherv 5 5 6 0 0 1": (Call.GATHERV, 0, 40, [20, 24]),
        "gatherv 5 5 6 1": (Call.GATHERV, 1, 5, None),
        "scatterv 5 6 5 0": (Call.SCATTERV, 0, 5, [5, 6]),
        "allgatherv 5 5 6": (Call.ALLGATHERV, ANY, 5, [5, 6]),
        "allgatherv 5 5 6 0 0": (Call.ALLGATHERV, ANY, 40, [40, 48]),
        "allgatherv 5 5 6 0 0 0 5": (Call.ALLGATHERV, ANY, 40, [40, 48]),
        "alltoallv 99 1 2 99 3 4": (Call.ALLTOALLV, ANY, 3, [1, 2, 3, 4]),
        "reducescatter 5 6 1e9 1": (Call.REDUCE_SCATTER, ANY, 44, [20, 24]),
    }
    text = "".join(f"0 {verb}\n" for verb in ("init", "comm_size 2", "comm_dup 2", "location a.c 3", *verbs))
    program = _read(tmp_path, text + "1 init\n")
    assert _rows(program, "call", "peer", "bytes", "sizes") == [*verbs.values(), (Call.COMPUTE, ANY, 0, None)]
    assert any("Communicators are made" in sentence for sentence in program.assumed)


def test_sendrecv_is_both_at_once(tmp_path: Path) -> None:
    program = _read(tmp_path, "0 init\n1 init\n0 sendRecv 5 1 6 1\n")
    assert _rows(program, "call", "bytes") == [(Call.IRECV, 6), (Call.ISEND, 5), (Call.WAIT, 0)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0 jump 1", "t.txt:2 has the call 'jump', which the format does not have"),
        ("0 send 1 5", "a message without a tag, as up to SimGrid 3.19"),
        ("0 send 9 0 5", "'9' for a rank, which is not from 0 to 0"),
        ("0 send 0 0 -5", "'-5' for a size, which is not from 0"),
        ("0 send 0 0 nan", "'nan' for a size, which is no number"),
        ("0 send 0 0 5 77", "'77' for a type"),
        ("0 recv 0 0 -1", "a receive of unknown size"),
        ("0 compute 1e30", "which is not from 0 to 104 days"),
        ("0 compute x", "'x' for a time, which is no number"),
        ("0 compute", "has 0 words after its verb, not 1"),
        ("x compute 5", "'x' for a rank, which is no number"),
        ("0", "has a rank without a call"),
        ("5 init", "has no call of rank 1, but of rank 5"),
        ("0 send 0 -9 5", "'-9' for a tag"),
        ("0 s\x1bnd 0 0 5", "the call"),
        ("0 sénd", "is not plain text"),
    ],
)
def test_refusals_name_file_and_line(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        _read(tmp_path, f"0 init\n{line}\n")
    assert words in str(caught.value)


def test_a_trace_that_may_be_cut_off_says_so(tmp_path: Path) -> None:
    whole = "0 init\n0 send 1 0 8\n0 finalize\n1 init\n1 recv 0 0 8\n1 finalize\n"
    assert len(_read(tmp_path, whole).assumed) == 1
    assert _read(tmp_path, whole[:-11]).assumed[-1].startswith("Only 1 of 2 ranks end with finalize")


def test_ranks_that_make_different_collective_calls_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"t.txt has BARRIER as collective call 1 of rank 1 on communicator 0"):
        _read(tmp_path, "0 init\n0 bcast 8\n0 finalize\n1 init\n1 barrier\n1 finalize\n")


def test_formats_are_recognised(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("3 init 1\n")
    assert format_of(tmp_path / "x") == "ti"
    (tmp_path / "x").write_text("hello\n")
    with pytest.raises(UnreadableFile, match="looks like none of the formats"):
        format_of(tmp_path / "x")
    write_program(tmp_path / "x", _read(tmp_path, "0 init\n0 finalize\n"))
    with pytest.raises(UnreadableFile, match="is a replay file already: use it as it is"):
        format_of(tmp_path / "x")
    (tmp_path / "x").write_text("")
    with pytest.raises(UnreadableFile, match="is empty: record the trace again"):
        format_of(tmp_path / "x")
    with pytest.raises(UnreadableFile, match=r"cannot be read \(No such file"):
        format_of(tmp_path / "none")
