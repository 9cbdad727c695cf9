"""GOAL schedules: graphs that become a sequence of calls, and those that cannot."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.replay.calls import ANY, Call
from eee_testbed.simulation.replay.checks import check_program
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.goal import read_goal
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import format_of, import_trace
from tests.support.laws import law


def _read(tmp_path: Path, text: str) -> Program:
    (tmp_path / "s.goal").write_text(text, encoding="utf-8")
    return import_trace([tmp_path / "s.goal"], "", Options("s"))


def _rows(program: Program, *names: str, rank: int = 0) -> list[tuple[Any, ...]]:
    return program.calls.filter(program.calls["rank"] == rank).select(names).rows()


def _of_rank(*lines: str) -> str:
    return "num_ranks 4\n\nrank 0 {\n" + "".join(f"{line}\n" for line in lines) + "}\n"


def test_a_sequence(tmp_path: Path) -> None:
    program = _read(
        tmp_path,
        "// made by hand\n/* of two\n ranks */ num_ranks 2\nrank 1{\n}\n"
        "rank 0 {\nl1: calc 500\nl2: send 10b to 1 tag 3\nl2 requires l1\n"
        "l3: recv 6000000000b from -1 tag -1 cpu 0 nic 0\nl3 requires l2\n"
        "l4: calc 7 /* the last */\nl4 requires l3\n}\n",
    )
    assert program.ranks == 2
    assert _rows(program, "call", "compute_ns", "peer", "tag", "bytes", "sizes") == [
        (Call.ISEND, 500, 1, 3, 10, None),
        (Call.WAIT, 0, ANY, 0, 0, [0]),
        (Call.IRECV, 0, ANY, ANY, 6_000_000_000, None),
        (Call.WAIT, 0, ANY, 0, 0, [0]),
        (Call.COMPUTE, 7, ANY, 0, 0, None),
    ]
    assert all("not in the file" in sentence for sentence in program.assumed)


def test_other_spellings_of_the_format_are_read(tmp_path: Path) -> None:
    """As the format's own reader takes them: with a byte order mark or other ends of lines, too."""
    text = "\ufeffnum_ranks\t3\r\nrank 2 {}\r\nrank 0 {\r\n\tsend 10 b to 1\r\n}\r\nrank 1{ }\r\n"
    program = _read(tmp_path, text)
    assert (program.ranks, program.assumed) == (3, ())
    assert _rows(program, "call", "bytes") == [(Call.ISEND, 10), (Call.WAIT, 0)]


def test_what_may_begin_is_begun_and_all_is_waited_for_where_all_needs_it(tmp_path: Path) -> None:
    text = _of_rank(
        "a: recv 1b from 1 tag 1",
        "b: send 1b to 1 tag 1",
        "c: recv 1b from 2 tag 1",
        "d: send 1b to 2 tag 2",
        "d requires a",
        "e: calc 5",
        "e requires b",
        "e requires c",
        "e requires d",
    )
    assert _rows(_read(tmp_path, text), "call", "sizes") == [
        (Call.IRECV, None),
        (Call.ISEND, None),
        (Call.IRECV, None),
        (Call.WAIT, [0]),
        (Call.ISEND, None),
        (Call.WAIT, [1, 2, 0]),
        (Call.COMPUTE, None),
    ]


def test_irequires_needs_only_the_begin(tmp_path: Path) -> None:
    text = _of_rank("a: send 1b to 1", "b: calc 9", "b irequires a", "c: send 1b to 2", "c irequires b")
    program = _read(tmp_path, text)
    assert _rows(program, "call", "compute_ns") == [(Call.ISEND, 0), (Call.ISEND, 9), (Call.WAIT, 0)]
    assert program.assumed[0] == "What may begin when computing has begun (irequires) begins at its end."


def test_computing_on_several_processors_is_done_one_after_the_other(tmp_path: Path) -> None:
    program = _read(tmp_path, _of_rank("a: calc 5 cpu 0", "b: calc 6 cpu 1"))
    assert _rows(program, "call", "compute_ns") == [(Call.COMPUTE, 11)]
    assert "A rank computes on one processor" in program.assumed[0]


def test_sends_that_different_tasks_need_are_waited_for_in_order(tmp_path: Path) -> None:
    text = _of_rank(
        "a: send 1b to 1", "b: send 1b to 2", "c: send 2b to 1", "c requires a", "d: send 2b to 2", "d requires b"
    )
    program = _read(tmp_path, text)
    calls = [call for (call,) in _rows(program, "call")]
    assert calls == [Call.ISEND, Call.ISEND, Call.WAIT, Call.ISEND, Call.WAIT, Call.ISEND, Call.WAIT]
    assert "sends are waited for in the order of the schedule" in program.assumed[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            _of_rank(
                "a: recv 1b from 1", "b: recv 1b from 2", "c: calc 5", "c requires a", "d: calc 6", "d requires b"
            ),
            "s.goal:6 and line 8 go on whichever message comes first",
        ),
        (_of_rank("a: calc 1", "b: calc 1", "a requires b", "b requires a"), "s.goal:4 depends on itself"),
        (
            _of_rank("l0: put 1b to 1 ct 0 tag 10"),
            "s.goal:4 has 'put', which is no send, recv, calc or requires of MPI",
        ),
        (_of_rank("a: send 1b to"), "s.goal:4 has a send that is not whole"),
        (_of_rank("a: calc -5"), "s.goal:4 has a calc that is not whole"),
        (_of_rank("a: calc 1", "a requires z"), "s.goal:5 names z, which is not before"),
        (_of_rank("a: calc 1", "a: calc 1"), "has the label a a second time"),
        (_of_rank("send 1b to 4"), "'4' for a rank, which is not from 0 to 3"),
        (_of_rank("send 1b to -1"), "'-1' for a rank"),
        (_of_rank("send 1b to 1 tag 99999999999"), "'99999999999' for a tag"),
        (_of_rank("calc 1")[:-2], "ends within rank 0: it was cut off"),
        (_of_rank() + "rank 0 {\n}\n", "begins rank 0 a second time"),
        ("num_ranks 2\nsend 1b to 1\n", "is neither the begin of a rank nor within one"),
        ("num_ranks 0\n", "'0' for num_ranks"),
    ],
)
def test_refusals(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        _read(tmp_path, text)
    assert words in str(caught.value)


def test_ranks_that_are_not_there_are_counted(tmp_path: Path) -> None:
    program = _read(tmp_path, "num_ranks 4\nrank 1 {\ncalc 5\n}\n")
    assert "3 of 4 ranks (the first is 0) are not in the file" in program.assumed[-1]
    whole = _read(tmp_path, "num_ranks 2\nrank 1 {\ncalc 5\n}\nrank 0 {\n}\n")
    assert not whole.assumed


def test_other_files(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("rank 0 {\n")
    with pytest.raises(UnreadableFile, match="does not begin with num_ranks"):
        import_trace([tmp_path / "x"], "goal", Options())
    (tmp_path / "x").write_text("// nothing\n")
    with pytest.raises(UnreadableFile, match="has no num_ranks"):
        import_trace([tmp_path / "x"], "goal", Options())
    with pytest.raises(UnreadableFile, match="name the schedule alone"):
        import_trace([tmp_path / "x", tmp_path / "x"], "goal", Options())
    (tmp_path / "x").write_text("/* a\nb */\nnum_ranks 3\n")
    assert format_of(tmp_path / "x") == "goal"


@st.composite
def _stages(draw: st.DrawFn) -> list[list[tuple[str, int]]]:
    """Fork and join: the tasks of a stage need all of the stage before."""
    tasks = st.sampled_from(("send 1b to 1 tag {}", "recv 1b from 1 tag {}", "calc {}"))
    stage = st.lists(st.tuples(tasks, st.integers(1, 9)), min_size=1, max_size=3)
    return draw(st.lists(stage, max_size=4))


@law(80)
@given(_stages())
def test_fork_and_join_are_kept(tmp_path_factory: pytest.TempPathFactory, stages: list[list[tuple[str, int]]]) -> None:
    lines: list[str] = []
    for number, stage in enumerate(stages):
        for at, (task, value) in enumerate(stage):
            lines.append(f"l{number}x{at}: {task.format(value)}")
            if number:
                lines += [
                    f"l{number}x{at} requires l{number - 1}x{before}" for before in range(len(stages[number - 1]))
                ]
    path = tmp_path_factory.mktemp("law") / "s.goal"
    path.write_text(_of_rank(*lines))
    program = read_goal([path], Options())
    check_program(program.calls, program.ranks, program.communicators)
    assert all("not in the file" in sentence for sentence in program.assumed)
    found: list[list[str]] = [[]]
    waited = compute_ns = 0
    for call, ns, sizes in _rows(program, "call", "compute_ns", "sizes"):
        compute_ns += ns
        if call == Call.WAIT:
            waited += len(sizes)
            found.append([])
        elif call != Call.COMPUTE:
            found[-1].append(Call(call).name)
    messages = [["ISEND" if task[0] == "s" else "IRECV" for task, _ in stage if task[0] != "c"] for stage in stages]
    assert [part for part in found if part] == _merged(messages)
    assert waited == sum(map(len, messages))
    assert compute_ns == sum(value for stage in stages for task, value in stage if task[0] == "c")


def _merged(messages: list[list[str]]) -> list[list[str]]:
    return [part for part in messages if part]
