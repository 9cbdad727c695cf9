"""The page of figures is what its records say, and each record is of a commit that the history has."""

import subprocess

import pytest
from pydantic import ValidationError

from evaluation.page import _LIMITS, PAGE, page
from evaluation.records import Record, read_records
from tests.support import ROOT
from tests.support.needs import lacking

_LONGEST = 120
_GIVEN = {
    "kind": "speed", "claim": "echoes", "value": 8.7, "unit": "us", "command": "eeectl probe", "commit": "1234567",
    "machine": "a machine", "date": "2026-11-27", "quiet": False,
}  # fmt: skip


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)


def test_the_page_is_generated_and_short() -> None:
    made = page(read_records(), _LIMITS.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8") == made, "run `python -m evaluation.page`"
    assert len(made.splitlines()) <= _LONGEST


def test_every_commit_is_in_the_history() -> None:
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        lacking("a shallow clone, or no clone, has not all commits that records name")
    commits = {record.commit for record in read_records().values()}
    missing = [one for one in sorted(commits) if _git("merge-base", "--is-ancestor", one, "HEAD").returncode]
    assert missing == [], "measure again at a commit of this history, or remove the record"


def test_a_row_shows_value_anchor_ratio_and_whether_the_machine_was_quiet() -> None:
    more = {"anchor": "other", "anchor_value": 31, "ratio": 0.26, "ratio_low": 0.24, "ratio_high": 0.33, "n": 7}
    record = Record.model_validate(_GIVEN | more)
    assert "| echoes | 8.7 us | other (31) | 0.26 (0.24 - 0.33) | 7 | 1234567 * |" in page({"one": record}, "")


@pytest.mark.parametrize(
    "wrong", [{"commit": "none"}, {"held": "most"}, {"n": 0}, {"kind": "opinion"}, {"remark": "x"}]
)
def test_what_is_no_record_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Record.model_validate(_GIVEN | wrong)
