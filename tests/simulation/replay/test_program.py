"""Replay files: what was written is read, and what is damaged or invented is refused in one sentence."""

import io
import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import KEY, Program, read_program, write_program
from eee_testbed.simulation.replay.seal import sealed, unsealed
from tests.support.laws import law
from tests.support.replay_programs import of_calls, programs, ring


@law(60)
@given(programs())
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, program: Program) -> None:
    file = tmp_path_factory.mktemp("law") / "x.replay"
    write_program(file, program)
    found = read_program(file)
    assert found.calls.equals(program.calls)
    assert [list(one) for one in found.communicators] == [list(one) for one in program.communicators]
    facts = (found.name, found.ranks, found.source, tuple(found.assumed))
    assert facts == (program.name, program.ranks, program.source, tuple(program.assumed))


def test_the_same_program_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_program(tmp_path / name, ring())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_is_replaced_and_what_is_none_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "link").symlink_to("x")
    write_program(tmp_path / "link", ring())
    assert (tmp_path / "link").is_symlink()
    assert read_program(tmp_path / "x").ranks == ring().ranks
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDWR)
    write_program(tmp_path / "pipe", ring())
    assert os.read(reader, 1 << 20) == (tmp_path / "x").read_bytes()
    os.close(reader)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "pipe", "x"]


def test_messages_of_more_than_4_gib(tmp_path: Path) -> None:
    write_program(tmp_path / "x", ring(size=5 << 30))
    assert read_program(tmp_path / "x").calls["bytes"].max() == 5 << 30


def _refused(path: Path) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read_program(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _altered(path: Path, **facts: Any) -> Path:
    write_program(path, ring())
    about = json.loads(pl.read_parquet_metadata(path)[KEY]) | facts
    return _written(path, pl.read_parquet(path), json.dumps(about))


def _written(path: Path, calls: pl.DataFrame, text: str | None) -> Path:
    """A file with a right digest."""
    made = io.BytesIO()
    calls.write_parquet(made, metadata=None if text is None else {KEY: text})
    path.write_bytes(sealed(made.getvalue()))
    return path


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"format": 2}, "has the format 2, and this version reads up to 1: update eee-testbed."),
        ({"format": "1"}, "without a format"),
        ({"format": True}, "without a format"),
        ({"name": 3}, "without name, source or assumed"),
        ({"assumed": "all"}, "without name, source or assumed"),
        ({"ranks": 0}, "without a number of ranks"),
        ({"ranks": 10**9}, "without a number of ranks"),
        ({"ranks": 5}, "communicator 0 that is not the world of ranks 0 to 4"),
        ({"communicators": 1}, "without communicators"),
        ({"communicators": []}, "communicator 0"),
        ({"communicators": [[0, 1, 2, 3], [0, "x"]]}, "a communicator 1 that is neither"),
        ({"communicators": [[0, 1, 2, 3], {"first": 0, "ranks": 2, "step": 0}]}, "a communicator 1 that is neither"),
        ({"communicators": [[0, 1, 2, 3], {"first": 0, "ranks": 9**20, "step": 1}]}, "communicator 1 that is neither"),
        ({"communicators": [[0, 1, 2, 3], {"first": 0, "ranks": 5, "step": 1}]}, "with ranks outside 0 to 3"),
        ({"communicators": [[0, 1, 2, 3], [1, 1]]}, "a communicator 1 with a rank twice"),
        ({"communicators": [[0, 1, 2, 3], []]}, "a communicator 1 without ranks"),
    ],
)
def test_metadata_that_is_wrong(tmp_path: Path, facts: dict[str, Any], words: str) -> None:
    assert words in _refused(_altered(tmp_path / "x.replay", **facts))


def test_metadata_that_is_no_json(tmp_path: Path) -> None:
    for text in ('{"format": NaN}', "[1]", "", '{"format": 1, "format": 1}'):
        file = _written(tmp_path / "x", ring().calls, text)
        assert "has metadata that cannot be read" in _refused(file)
    assert "has no metadata `replay`" in _refused(_written(tmp_path / "x", ring().calls, None))


def test_other_files(tmp_path: Path) -> None:
    assert "cannot be read (No such file or directory): name a replay file" in _refused(tmp_path / "none")
    assert "cannot be read (Is a directory)" in _refused(tmp_path)
    (tmp_path / "x").write_text("0 init\n")
    assert "is not a replay file, or is damaged" in _refused(tmp_path / "x")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "x")
    assert "is not a replay file, or is damaged" in _refused(tmp_path / "x")
    (tmp_path / "x").write_bytes(sealed(b"PAR1abc\x03\0\0\0PAR1"))
    assert "is damaged or not Parquet" in _refused(tmp_path / "x")


def test_any_damage_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "x"
    write_program(file, ring())
    data = file.read_bytes()
    assert sealed(unsealed(data)) == data
    for at in range(len(data)):
        for damaged in (data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], data[:at], data[:at] + data[at + 1 :]):
            with pytest.raises(ValueError, match="damaged"):
                unsealed(damaged)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pl.lit("1").alias("peer"), "the column `peer` of the type String"),
        (pl.lit(None, dtype=pl.Int32).alias("peer"), "empty cells in the column `peer`"),
        (pl.lit(3 << 40).alias("peer"), "numbers in the column `peer` that are none of Int32"),
        (pl.lit(-1).alias("rank"), "numbers in the column `rank` that are none of UInt32"),
        (pl.lit(1).alias("sizes"), "the column `sizes` of the type Int32"),
        (pl.lit([None], dtype=pl.List(pl.Int64)).alias("sizes"), "empty cells in the column `sizes`"),
    ],
)
def test_columns_that_are_wrong(tmp_path: Path, column: pl.Expr, words: str) -> None:
    file = tmp_path / "x"
    write_program(file, ring())
    text = pl.read_parquet_metadata(file)[KEY]
    calls = pl.read_parquet(file)
    assert words in _refused(_written(file, calls.with_columns(column), text))
    _written(file, calls.drop(column.meta.output_name()), text)
    assert f"has no column `{column.meta.output_name()}`" in _refused(file)


def test_a_bad_reference_is_named_with_its_row(tmp_path: Path) -> None:
    write_program(tmp_path / "x", of_calls(2, {"call": Call.SEND, "peer": 1}, {"call": Call.SEND, "peer": 2}))
    words = "has in row 1 (rank 0) the peer 2, which the communicator 0 does not have"
    assert words in _refused(tmp_path / "x")
