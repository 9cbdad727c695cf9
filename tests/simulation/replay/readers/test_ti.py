"""Time-independent traces of SimGrid: every verb, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.simulation.replay.calls import ANY, NOBODY, Call
from eee_testbed.simulation.replay.program import Program, write_program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import format_of, import_trace
from tests.support.laws import law


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


def test_an_option_for_another_format_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="the format ti takes no --codes: leave it out, or say another"):
        _read(tmp_path, "0 init\n0 compute 1\n0 finalize\n", Options("t", codes=tmp_path / "codes.yaml"))


def test_a_file_for_each_rank_and_words_for_anybody(tmp_path: Path) -> None:
    (tmp_path / "0").write_text("0 init 1\n0 recv -555 -444 10\n0 send -666 0 10 6\n")
    (tmp_path / "1").write_text("1 init 1\n1 send 0 3 10\n")
    program = import_trace([tmp_path / "0", tmp_path / "1"], "", Options())
    assert _rows(program, "call", "peer", "tag", "bytes") == [(Call.RECV, ANY, ANY, 80), (Call.SEND, NOBODY, 0, 10)]


def test_a_list_names_the_files_of_the_ranks(tmp_path: Path) -> None:
    (tmp_path / "t_files").mkdir()
    (tmp_path / "t_files" / "0.txt").write_text("0 init\n0 send 1 0 8\n0 finalize\n")
    (tmp_path / "t_files" / "1.txt").write_text("1 init\n1 recv 0 0 8\n1 finalize\n")
    program = _read(tmp_path, "t_files/0.txt\r\nt_files/1.txt\r\n")
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


def test_lists_as_smpi_writes_them(tmp_path: Path) -> None:
    """Lines of version 3.32: no count at ranks that receive nothing, none at all of older forms."""
    verbs = {
        "gatherv 1 1 2 0 1 1": (Call.GATHERV, 0, 4, [4, 8]),
        "alltoallv 3 1 2 2 1 1 1 1": (Call.ALLTOALLV, ANY, 12, [4, 8, 4, 4]),
        "reducescatter 1 2 0 1": (Call.REDUCE_SCATTER, ANY, 12, [4, 8]),
        "reducescatter 0 0 0 1": (Call.REDUCE_SCATTER_BLOCK, ANY, 12, None),
        "reducescatter 0 0 1": (Call.REDUCE_SCATTER_BLOCK, ANY, 8, None),
        "reducescatter 0 1": (Call.REDUCE_SCATTER_BLOCK, ANY, 4, None),
        "scan 5 0 1": (Call.SCAN, ANY, 20, None),
        "gather 0 10 0 1 1": (Call.GATHER, 0, 40, None),
        "gather 10 1 1 1": (Call.GATHER, 1, 40, None),
    }
    program = _read(tmp_path, "0 init\n" + "".join(f"0 {verb}\n" for verb in verbs) + "1 init\n")
    assert _rows(program, "call", "peer", "bytes", "sizes") == [*verbs.values()]
    assert "Collective calls are taken as those of all ranks: the format has no communicators." in program.assumed


def test_lists_as_older_versions_of_smpi_wrote_them(tmp_path: Path) -> None:
    """The bytes of an element before a list, no list at ranks that have none, bytes in MPI_Alltoallv."""
    verbs = {
        "gatherv 1 1 1 2 0 1 1": (Call.GATHERV, 0, 4, [4, 8]),
        "gatherv 1 1 1 1 1": (Call.GATHERV, 1, 4, None),
        "scatterv 1 1 2 1 0 1 1": (Call.SCATTERV, 0, 4, [4, 8]),
        "scatterv 1 1 1 1 1": (Call.SCATTERV, 1, 4, None),
        "allgatherv 1 1 1 2 1 1": (Call.ALLGATHERV, ANY, 4, [4, 8]),
        "alltoallv 12 4 8 8 4 4 1 1": (Call.ALLTOALLV, ANY, 12, [4, 8, 4, 4]),
        "reducescatter 1 0 5 6 1": (Call.REDUCE_SCATTER, ANY, 44, [20, 24]),
        "reducescatter 0 0 0 0 0 1": (Call.REDUCE_SCATTER_BLOCK, ANY, 12, None),
        "scan -1 0 5 1": (Call.SCAN, ANY, 20, None),
        "exscan -1 0 5 0": (Call.EXSCAN, ANY, 40, None),
    }
    program = _read(tmp_path, "0 init\n" + "".join(f"0 {verb}\n" for verb in verbs) + "1 init\n")
    assert _rows(program, "call", "peer", "bytes", "sizes") == [*verbs.values()]
    assert any(sentence.startswith("Lists are as SMPI wrote them up to 3.31") for sentence in program.assumed)


def test_collective_calls_that_do_not_block(tmp_path: Path) -> None:
    """Their ends have a tag that their begins do not have: the oldest ends first."""
    lines = ("ibarrier", "iallreduce 10 0 1", "igatherv 1 1 2 0 1 1", "wait -333 -333 -4446", "test -333 -333 -77")
    text = "0 init\n" + "".join(f"0 {line}\n" for line in (*lines, "waitall 1")) + "1 init\n"
    assert _rows(_read(tmp_path, text), "call", "bytes", "request", "sizes") == [
        (Call.BARRIER, 0, 0, None),
        (Call.ALLREDUCE, 40, 1, None),
        (Call.GATHERV, 4, 2, [4, 8]),
        (Call.WAIT, 0, -1, [0]),
        (Call.WAIT, 0, -1, [1, 2]),
    ]


def test_an_undefined_source_is_any_rank_or_none(tmp_path: Path) -> None:
    """What SMPI writes for both: as many messages come as there are such receives, or none for them."""
    receive, send = "0 irecv -333 7 8\n0 wait -333 0 7\n", "1 send 0 7 8\n"
    named = "0 irecv 1 7 8\n0 wait 1 0 7\n"
    for text, peers in (
        (receive + named + send, [NOBODY, 1]),
        (receive + named + 2 * send, [ANY, 1]),
        (receive, [NOBODY]),
        ("0 recv -333 7 8\n" + send, [ANY]),
    ):
        rows = _rows(_read(tmp_path, "0 init\n1 init\n" + text), "call", "peer")
        assert [peer for call, peer in rows if call != Call.WAIT] == peers
    with pytest.raises(UnreadableFile, match=r"t.txt:3 has a receive from -333, which is any rank or none"):
        _read(tmp_path, "0 init\n1 init\n" + 2 * receive + send)


def test_types_and_displacements_of_allgatherv(tmp_path: Path) -> None:
    """As SimGrid reads them: one type, two, displacements alone, or behind one type."""
    verbs = {
        "allgatherv 5 5 6 7 8": 5,
        "allgatherv 5 5 6 7 8 1": 20,
        "allgatherv 5 5 6 7 8 0 1": 20,
        "allgatherv 5 5 6 7 8 0 5 11 18": 5,
        "allgatherv 5 5 6 7 8 1 0 5 11 18": 20,
    }
    text = "0 init\n" + "".join(f"0 {verb}\n" for verb in verbs) + "".join(f"{rank} init\n" for rank in (1, 2, 3))
    assert [size for (size,) in _rows(_read(tmp_path, text), "bytes")] == [*verbs.values()]


def test_other_spellings_of_the_format_are_read(tmp_path: Path) -> None:
    """Comments, capitals as up to SimGrid 3.19, names of source files, and other ends of lines."""
    text = (
        "\ufeff# by hand\r\n0 location h\u00e9.c 1\r\n0 init\r\n\r\n0\tallReduce 8 0\r\n# more\r\n0 Ssend 1 1 8 2\r\n"
        "0 ISsend 1 2 8 2\r\n0 waitAll\r\n0 ibsend -333 2 8\r\n0 wait 0 -333 2\r\n0 finalize"
        "\r\n1 init\r\n1 allReduce 8 0\r\n1 recv -333 1 8 2\r\n1 recv 0 -444 8 2\r\n"
        "1 location finalize.c 2\r\n1 finalize\r\n"
    )
    program = _read(tmp_path, text)
    assert _rows(program, "call", "peer", "bytes") == [
        (Call.ALLREDUCE, ANY, 8),
        (Call.SSEND, 1, 8),
        (Call.ISSEND, 1, 8),
        (Call.WAIT, ANY, 0),
        (Call.IBSEND, NOBODY, 8),
        (Call.WAIT, ANY, 0),
    ]
    assert _rows(program, "call", "peer", "tag", rank=1)[1:] == [(Call.RECV, ANY, 1), (Call.RECV, 0, ANY)]
    assert len(program.assumed) == 2
    assert "1 of 2 ranks end" in _read(tmp_path, text.removesuffix("1 finalize\r\n")).assumed[-1]


_LINES = st.sampled_from(("compute 5", "isend 1 0 8", "irecv 1 0 8 1", "send 2 3 4", "waitall", "location a.c 1"))


@law(40)
@given(st.lists(st.tuples(st.integers(0, 2), _LINES), max_size=12))
def test_how_lines_are_spread_over_files_is_irrelevant(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[int, str]]
) -> None:
    """Ranks in turns in one file, one after the other, or a file for each in any order."""
    folder = tmp_path_factory.mktemp("law")
    every = [*((rank, "init") for rank in range(3)), *lines]
    texts = ["".join(f"{rank} {line}\n" for rank, line in every if rank == own) for own in range(3)]
    for name, text in zip(
        "abcde", [*texts, "".join(f"{rank} {line}\n" for rank, line in every), "".join(texts)], strict=True
    ):
        (folder / name).write_text(text)
    spread = [[*"abc"], [*"bca"], ["d"], ["e"]]
    first, *others = (import_trace([folder / name for name in names], "", Options()) for names in spread)
    assert all(other.calls.equals(first.calls) for other in others)


def test_a_rank_in_two_files_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("0 init\n0 send 1 0 8\n1 init\n1 recv 0 0 8\n")
    for second in ("a", "b"):
        with pytest.raises(UnreadableFile) as caught:
            import_trace([tmp_path / "a", tmp_path / second], "", Options())
        assert f"{second}:1 has a call of rank 0, of which another file has calls: name each" in str(caught.value)


def test_sendrecv_is_both_at_once(tmp_path: Path) -> None:
    program = _read(tmp_path, "0 init\n1 init\n0 sendRecv 5 1 6 1\n")
    assert _rows(program, "call", "bytes") == [(Call.IRECV, 6), (Call.ISEND, 5), (Call.WAIT, 0)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0 jump 1", "t.txt:2 has the call 'jump', which the format does not have"),
        ("0 send 1 5", "a message without a tag, as up to SimGrid 3.19"),
        ("0 Irecv 1 5", "a message without a tag, as up to SimGrid 3.19"),
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
        ("0 bcast 3 0 -1", "has a type that the program made, whose size the format does not say"),
        ("0 waitAny 3", "has 'waitany' of several requests, and the format does not say which of them had ended"),
        ("0 Start 1 0 8 2", "starts a persistent request, and the format does not say which"),
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
