"""VEF traces, with codes that a test invents."""

from pathlib import Path
from typing import Any

import pytest

from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.simulation.replay.calls import ANY, Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import format_of, import_trace
from eee_testbed.simulation.replay.readers.vef import CODES

_TRACE = """\
VEF3 2 3 1 1 0 TRUE
C0 0 1
0 0 1 100 0 500 0
1 1 0 6000000000 2 50 0
G0 0 2 0 8 8 2 30 1
G0 C0 2 1 8 8 1 40 1
2 0 1 7 3 20 G0
"""


def _read(tmp_path: Path, text: str, codes: str = CODES) -> Program:
    (tmp_path / "t.vef").write_text(text, encoding="utf-8")
    (tmp_path / "codes.yaml").write_text(codes, encoding="utf-8")
    return import_trace([tmp_path / "t.vef"], "", Options("t", codes=tmp_path / "codes.yaml"))


def _rows(program: Program, *names: str, rank: int = 0) -> list[tuple[Any, ...]]:
    return program.calls.filter(program.calls["rank"] == rank).select(names).rows()


def test_messages_wait_for_what_they_depend_on(tmp_path: Path) -> None:
    program = _read(tmp_path, _TRACE)
    columns = ("call", "compute_ns", "peer", "bytes", "sizes")
    assert _rows(program, *columns) == [
        (Call.IRECV, 0, 1, 6_000_000_000, None),
        (Call.ISEND, 500, 1, 100, None),
        (Call.WAIT, 0, ANY, 0, [0]),
        (Call.ALLREDUCE, 30, ANY, 8, None),
        (Call.ISEND, 20, 1, 7, None),
        (Call.WAIT, 0, ANY, 0, [1, 0]),
    ]
    assert _rows(program, *columns, rank=1) == [
        (Call.IRECV, 0, 0, 100, None),
        (Call.IRECV, 0, 0, 7, None),
        (Call.WAIT, 0, ANY, 0, [0]),
        (Call.ISEND, 50, 0, 6_000_000_000, None),
        (Call.WAIT, 0, ANY, 0, [0]),
        (Call.ALLREDUCE, 40, ANY, 8, None),
        (Call.WAIT, 0, ANY, 0, [1]),
    ]
    assert _rows(program, "tag", rank=1)[:2] == [(0,), (1,)]
    assert "Receives are begun when a rank starts" in program.assumed[0]


def test_time_counts_from_the_dependency(tmp_path: Path) -> None:
    text = "VEF 2 3 1 0 0\nC0 0 1\n0 0 1 1 0 100 0\n1 0 1 1 1 70 0\n2 0 1 1 0 150 0\n"
    assert [ns for ns in _rows(_read(tmp_path, text), "compute_ns") if ns[0]] == [(100,), (70,)]


def test_roots_and_sizes_of_collective_calls(tmp_path: Path) -> None:
    calls = {
        0: (((0, 9), (9, 0)), (Call.BCAST, 1, 9)),
        1: (((5, 0), (5, 5)), (Call.REDUCE, 1, 5)),
        3: (((5, 10), (5, 0)), (Call.GATHER, 0, 5)),
        4: (((10, 5), (0, 5)), (Call.SCATTER, 0, 5)),
        5: (((5, 5), (5, 5)), (Call.ALLGATHER, ANY, 5)),
        6: (((0, 0), (0, 0)), (Call.BARRIER, ANY, 0)),
        7: (((10, 1), (10, 1)), (Call.ALLTOALL, ANY, 5)),
    }
    lines = [
        f"G{code} 0 {code} {rank} {sent} {received} 0 0 0"
        for code, (sizes, _) in calls.items()
        for rank, (sent, received) in enumerate(sizes)
    ]
    program = _read(tmp_path, "VEF 2 0 1 7 0\nC0 0 1\n" + "\n".join(lines) + "\n")
    assert _rows(program, "call", "peer", "bytes") == [expected for _, expected in calls.values()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (_TRACE.replace("2 0 1 7 3 20 G0\n", ""), "has 2 of its 3 messages: it was cut off"),
        (_TRACE.replace("G0 C0 2 1 8 8 1 40 1\n", ""), "lacks tasks of collective call 0: it was cut off"),
        (_TRACE.replace("1 1 0 6000000000 2 50 0", "1 1 0 6000000000 2 50 1"), "depends on receive 1"),
        (_TRACE.replace("1 1 0 6000000000 2 50 0", "1 1 0 60 9 50 0"), "the dependency 9, which the codes do not name"),
        (_TRACE.replace("G0 0 2 0", "G0 0 9 0"), "the operation 9, which the codes do not name"),
        (_TRACE.replace("G0 0 2 0", "G0 5 2 0"), "the communicator 5, which is not before"),
        (_TRACE.replace("G0 C0 2 1", "G0 C0 3 1"), "a part of collective call 0 that does not fit its others"),
        (_TRACE.replace("0 0 1 100 0 500 0", "0 0 1 100 0 500"), "t.vef:3 has 6 words, and a message has 7"),
        (_TRACE.replace("0 0 1 100 0 500 0", "1 0 1 100 0 500 0"), "has message 1 a second time"),
        (_TRACE.replace("0 0 1 100", "0 0 2 100"), "'2' for a rank"),
        ("VEF 2 0 1 1 0\nC0 0 1\nG0 0 0 0 5 5 0 0 0\nG0 0 0 1 5 5 0 0 0\n", "a collective call with 2 roots"),
        ("VEF 2 0 2 1 0\nC0 0 1\nC1 1\nG0 1 6 0 0 0 0 0 0\n", "the task 0, which is not in the communicator 1"),
        ("VEF 2 0 2 0 0\nC0 0 1\nC0 0\n", "the communicator 0 a second time"),
    ],
)
def test_refusals(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        _read(tmp_path, text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ("", "has no table of numbers `dependencies`"),
        ("dependencies: {0: send}\n", "has no table of numbers `operations`"),
        ("dependencies: {a: send}\noperations: {}\n", "has no table of numbers `dependencies`"),
        ("dependencies: {0: later}\noperations: {}\n", "has dependencies: 0: later, and known are independent, send"),
        ("dependencies: [\n", "is not YAML"),
    ],
)
def test_codes_that_are_wrong(tmp_path: Path, codes: str, words: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        _read(tmp_path, _TRACE, codes)
    assert words in str(caught.value)


def test_codes_are_needed(tmp_path: Path) -> None:
    (tmp_path / "t.vef").write_text(_TRACE)
    assert format_of(tmp_path / "t.vef") == "vef"
    with pytest.raises(LabError, match="name a file with them"):
        import_trace([tmp_path / "t.vef"], "", Options())
