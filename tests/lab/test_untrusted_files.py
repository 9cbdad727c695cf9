"""Damaged and hostile files: an error with file and line, or the loss of one part, and never a hang."""

import warnings
from pathlib import Path

import pytest

from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.lab.json_text import parse_object
from eee_testbed.lab.untrusted_files import DamagedPart, parse_yaml, read_json_lines, read_object, read_text, read_yaml
from tests.fuzz.mutations import BOMB

MERGES = "a: &a {k: 1}\n" + "".join(
    f"{chr(98 + step)}: &{chr(98 + step)} {{<<: [{','.join(['*' + chr(97 + step)] * 10)}]}}\n" for step in range(9)
)


@pytest.mark.parametrize("text", [BOMB, MERGES, "a: &a [*a]", "[" * 100_000, "- " * 5_000])
@pytest.mark.parametrize("round_trip", [False, True])
def test_yaml_that_would_fill_the_memory_or_never_end_is_refused(text: str, round_trip: bool) -> None:  # noqa: FBT001
    with pytest.raises(UnreadableFile, match=r"^x\.yaml .*: mend it\.$"):
        parse_yaml(text, "x.yaml", "mend it", round_trip=round_trip)


def test_aliases_that_a_person_writes_are_read() -> None:
    assert parse_yaml("a: &a {x: 1}\nb: {<<: *a, y: 2}\n", "x.yaml", "") == {"a": {"x": 1}, "b": {"x": 1, "y": 2}}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\nb: [1\nc: 2\n", "x.yaml:"),
        ("a: 1\na: 2\n", "x.yaml:"),
        ("a: !!python/object:os.system x\n", "x.yaml:1 "),
        ("a: 2001-99-99\n", "x.yaml "),
        ("a: !!int x\n", "x.yaml "),
        ("a: *b\n", "x.yaml:1 "),
        ("a: " + "9" * 5_000, "x.yaml "),
        ("\x00", "x.yaml "),
    ],
)
def test_what_is_wrong_with_yaml_is_said_with_its_place(text: str, place: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        parse_yaml(text, "x.yaml", "mend it")
    assert str(caught.value).startswith(place)
    assert len(str(caught.value).splitlines()) == 1


def test_text_of_yaml_is_safe(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text('"a\\e[2J": "b\\u202E"\n')
    assert read_yaml(tmp_path / "x.yaml", "") == {"a\ufffd[2J": "b\ufffd"}


def test_a_bad_line_is_lost_with_its_number_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": NaN}\n\xff\n[]\n{"n": 2}\n{"n": 3')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(read_json_lines(path, parse_object)) == [{"n": 1}, {"n": 2}]
    assert [one.category for one in caught] == [DamagedPart] * 3
    assert [str(one.message).partition(": ")[0] for one in caught] == [f"{path}:{line}" for line in (2, 3, 4)]


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xe9")
    (tmp_path / "list.json").write_text("[]")
    for read in (
        lambda: read_text(tmp_path, "x"),
        lambda: read_text(tmp_path / "none", "x"),
        lambda: read_text(tmp_path / "latin", "x"),
        lambda: read_object(tmp_path / "list.json", "x"),
    ):
        with pytest.raises(LabError, match=str(tmp_path)):
            read()
