"""The page of figures is what its records say."""

import subprocess
from pathlib import Path

import pytest

from evaluation.age import MOST_COMMITS
from evaluation.page import PAGE, mark_aged, page, written
from evaluation.records import FOLDER, Record, read_records, write_record
from tests.support import ROOT

_LONGEST = 120

_NOT_YET = {
    "interconnect-booksim2",
}
"""Claims whose commands take long, or compare with another program. The page has them once they are recorded, and then
they leave this list."""
_MEASURED = {"value": 8.7, "commit": "1234567", "machine": "a machine", "date": "2026-11-27", "quiet": False}
_ANCHOR = {"anchor_value": 31, "ratio": 0.26, "ratio_low": 0.24, "ratio_high": 0.33, "n": 7}


def _record(*measured: dict[str, object], **more: object) -> Record:
    given = {"kind": "speed", "claim": "echoes", "unit": "us", "anchor": "other", "command": "eeectl probe"}
    return Record.model_validate(given | {"about": ("agents",), "measured": measured} | more)


def test_the_page_is_generated_and_short() -> None:
    made = written()
    assert (ROOT / PAGE).read_text(encoding="utf-8") == made, "run `python -m evaluation.page`"
    assert len(made.splitlines()) <= _LONGEST


def test_every_claim_has_been_measured() -> None:
    assert {name for name, record in read_records().items() if record.shown is None} == _NOT_YET


def test_a_row_shows_value_anchor_ratio_and_whether_the_machine_was_quiet() -> None:
    made = page({"echoes": _record(_MEASURED | _ANCHOR)}, "")
    assert "| echoes | 8.7 us | other (31) | 0.26 (0.24 - 0.33) | 7 | 1234567 * |" in made


@pytest.mark.parametrize(("kind", "row"), [("accuracy", "| 8.7 us |  | 3 |"), ("links", "| 8.7 us |  | 3 |")])
def test_a_row_has_the_columns_of_its_kind(kind: str, row: str) -> None:
    assert row in page({"echoes": _record(_MEASURED | {"n": 3}, kind=kind)}, "")


def test_the_hold_comes_first_whatever_its_file_is_called() -> None:
    made = page({"echoes": _record(_MEASURED), "study-hold": _record(_MEASURED, claim="hold")}, "")
    assert made.index("| hold |") < made.index("| echoes |")


def test_a_row_says_that_its_claim_has_aged() -> None:
    assert "| 1234567 *, aged |" in page({"echoes": _record(_MEASURED, aged=True)}, "")


def test_marks_are_brought_up_to_date_from_the_history(tmp_path: Path) -> None:
    def git(*words: str, given: str = "") -> str:
        argv = ["git", "-C", str(tmp_path), *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True, input=given).stdout

    commit = (
        "commit refs/heads/main\ncommitter x <x@example.org> {0} +0000\ndata 0\nM 100644 inline agents\ndata 2\n{0}\n"
    )
    git("init", "--quiet", "--initial-branch=main")
    git("fast-import", "--quiet", given="".join(commit.format(number) for number in range(10, MOST_COMMITS + 12)))
    measured = [_MEASURED | {"commit": name} for name in git("log", "--format=%H", "--reverse").split()]
    (tmp_path / FOLDER).mkdir(parents=True)
    write_record("old", _record(measured[0]), tmp_path)
    write_record("fresh", _record(measured[1], aged=True), tmp_path)
    mark_aged(tmp_path)
    assert {name: record.aged for name, record in read_records(tmp_path).items()} == {"old": True, "fresh": False}
    write_record("unknown", _record(_MEASURED), tmp_path)
    with pytest.raises(SystemExit, match="unknown: 1234567 is no commit of this history"):
        mark_aged(tmp_path)


def test_a_claim_that_was_never_measured_has_no_row() -> None:
    assert "echoes" not in page({"echoes": _record()}, "")
