"""What an agent writes can be read back, wherever it was cut; and an agent travels as one text."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.agents.pack import packed
from eee_testbed.agents.recording import read_stream
from eee_testbed.agents.stream import Column, Stream
from tests.support.laws import law

NUMBERS = st.integers(-(2**62), 2**62) | st.floats(-1e18, 1e18)
BINS = st.lists(st.lists(NUMBERS, min_size=2, max_size=2), max_size=3)
ROWS = st.lists(st.lists(st.none() | NUMBERS | BINS, min_size=2, max_size=2), max_size=8)
COLUMNS = (Column("a_ns", "ns", "one"), Column("b", "", "another", {"side": "left"}))


def _written(path: Path, rows: list[list[object]], block_rows: int) -> str:
    stream = Stream(str(path), block_rows=block_rows)
    stream.header("test", COLUMNS, plan=[1])
    for number, row in enumerate(rows):
        stream.row(row)
        if stream.full:
            stream.flush()
        if number == 2:
            stream.event("something", number=number)
    stream.summary("done", rows=len(rows))
    return path.read_text(encoding="utf-8")


@law(40)
@given(rows=ROWS, block_rows=st.integers(1, 4), cut=st.floats(0, 1))
def test_whatever_was_cut_off_the_rest_is_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[object]], block_rows: int, cut: float
) -> None:
    text = _written(tmp_path_factory.mktemp("stream") / "s.jsonl", rows, block_rows)
    whole = read_stream(text)
    assert whole.rows == rows
    assert whole.column("b") == [row[1] for row in rows]
    assert (whole.summary["rows"], whole.cut) == (len(rows), False)
    assert len(whole.events) == (len(rows) > 2)
    first_byte = text.index("\n") + 1
    part = read_stream(text[: first_byte + int(cut * (len(text) - first_byte))])
    assert part.rows == rows[: len(part.rows)]


def test_a_stream_without_a_header_or_with_a_broken_line_is_refused() -> None:
    for text in ("", "{}\n", '{"kind":"rows","rows":[]}\n', '{"kind":"header"}\nbroken\n{"kind":"summary"}\n'):
        with pytest.raises(ValueError, match=r"header|Expecting"):
            read_stream(text)


def test_an_unknown_column_is_a_key_error(tmp_path: Path) -> None:
    told = read_stream(_written(tmp_path / "s.jsonl", [], 1))
    assert told.header["columns"][1] == {"name": "b", "unit": "", "means": "another", "labels": {"side": "left"}}
    with pytest.raises(KeyError):
        told.column("c")


AGENTS = ("echo_probe", "idle_gaps", "node_sampler")


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_runs_from_its_text_alone(agent: str, tmp_path: Path) -> None:
    """In an empty folder, isolated from everything that is installed but the standard library."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-", "--help"],
        input=packed(agent), capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.startswith(f"usage: {agent}")
    assert "Ctrl-C" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_needs_the_standard_library_alone(agent: str) -> None:
    """Every import in the text, and in the texts inside it, is of the standard library or of what travels along."""
    modules: set[str] = set()
    texts = [packed(agent)]
    while texts:
        for node in ast.walk(ast.parse(texts.pop())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                modules.add(str(node.module).partition(".")[0])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "import annotations" in node.value:
                texts.append(node.value)
    assert modules <= {"eee_testbed", *sys.stdlib_module_names}
    assert "json" in modules


def test_json_lines_are_json(tmp_path: Path) -> None:
    text = _written(tmp_path / "s.jsonl", [[1, "\n"], [2, None]], 1)
    assert [json.loads(line)["kind"] for line in text.splitlines()] == ["header", "rows", "rows", "summary"]
