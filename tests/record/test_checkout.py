"""The commit of a checkout."""

import subprocess
from pathlib import Path

from eee_testbed.record.checkout import described
from eee_testbed.record.store import versions


def _git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(("git", "-C", str(root), *who, *words), check=True, capture_output=True)


def test_a_checkout_is_described_with_its_changes(tmp_path: Path) -> None:
    (clean := tmp_path / "clean").mkdir()
    _git(clean, "init")
    (clean / "file").write_text("one\n", encoding="utf-8")
    _git(clean, "add", "file")
    _git(clean, "commit", "-m", "one")
    _git(clean, "tag", "v1")
    assert described(clean) == "v1"
    changed = tmp_path / "changed"
    _git(tmp_path, "clone", str(clean), str(changed))
    (changed / "file").write_text("two\n", encoding="utf-8")
    assert described(changed) == "v1-dirty"


def test_what_is_no_checkout_has_no_commit(tmp_path: Path) -> None:
    assert described(tmp_path) == ""
    (tmp_path / ".git").mkdir()
    assert described(tmp_path) == "", "git refuses it"


def test_a_run_names_its_commit_where_there_is_one() -> None:
    assert versions().get("commit", "") == described()
