"""A measurement's commit is in the history, and the page says where the code has changed much since."""

from pathlib import Path

import pytest

from evaluation.age import MOST_COMMITS, Commit, History, parsed
from evaluation.records import ROOT, read_records
from tests.support.needs import lacking


@pytest.fixture(scope="module")
def history() -> History:
    found = History.read(ROOT)
    return found or lacking("a shallow clone, or no clone, has not all commits that records name")


def test_every_commit_is_in_the_history(history: History) -> None:
    commits = {one.commit for record in read_records().values() for one in record.measured}
    missing = [commit for commit in sorted(commits) if history.whole_name(commit) is None]
    assert missing == [], "measure again at a commit of this history, or remove the measurement"


def test_an_old_claim_is_marked_and_no_other(history: History) -> None:
    wrong = []
    for name, record in read_records().items():
        if record.shown is None:  # test_page.py lists these
            continue
        count = history.commits_since(record.shown.commit, record.about)
        if record.aged != (count > MOST_COMMITS):
            wrong.append(f"{name}: aged: {str(record.aged).lower()}, and {count} commits since")
    assert wrong == [], "measure again with --record, or let `python -m evaluation.page` mark what has aged"


def test_what_a_claim_is_about_exists() -> None:
    about = {(name, path) for name, record in read_records().items() for path in record.about}
    assert [one for one in sorted(about) if not (ROOT / one[1]).exists()] == []


def _commit(name: str, *changes: str | tuple[str, str], parents: tuple[str, ...] = ()) -> Commit:
    return Commit(name, parents, tuple((one, one) if isinstance(one, str) else one for one in changes))


def test_commits_that_changed_a_path_are_counted_and_no_others() -> None:
    history = History(
        [
            _commit("d1", "twin/lab.py", "docs/x.md", parents=("c1",)),
            _commit("c1", "twins/lab.py", "twin.py", parents=("b1",)),
            _commit("b1", "twin/a.py", "twin/b.py", parents=("a1",)),
            _commit("a1", "twin/a.py"),
        ]
    )
    assert history.commits_since("a1", ["twin"]) == 2
    assert history.commits_since("b1", ["twin"]) == 1
    assert history.commits_since("d1", ["twin"]) == 0
    assert history.commits_since("a1", ["twin/b.py", "docs"]) == 2


def test_a_file_is_followed_to_the_names_that_it_had() -> None:
    history = History(
        [
            _commit("c1", ("old/a.py", "new/a.py"), parents=("b1",)),
            _commit("b1", "old/a.py", parents=("a1",)),
            _commit("a1", "old/b.py"),
        ]
    )
    assert history.commits_since("a1", ["new"]) == 2


def test_commits_of_another_branch_count_once_it_is_merged() -> None:
    history = History(
        [
            _commit("d1", parents=("b1", "c1")),
            _commit("c1", "twin/a.py", parents=("a1",)),
            _commit("b1", "twin/a.py", parents=("a1",)),
            _commit("a1", "twin/a.py"),
        ]
    )
    assert history.commits_since("b1", ["twin"]) == 1


def test_an_abbreviation_stands_for_one_commit() -> None:
    history = History([_commit("abc1"), _commit("abd1")])
    assert history.whole_name("abc") == "abc1"
    assert history.whole_name("ab") is None
    with pytest.raises(ValueError, match="ffff is no commit of this history"):
        history.commits_since("ffff", ["twin"])


def test_gits_log_is_read_with_odd_names_and_moved_files() -> None:
    log = "\x01b1 a1 a2\0\nM\0a file\0R097\0old/x.py\0new/x.py\0\x01a1 \0\nA\0é.md\0\x01a0 \0"
    assert parsed(log) == [
        Commit("b1", ("a1", "a2"), (("a file", "a file"), ("old/x.py", "new/x.py"))),
        Commit("a1", (), (("é.md", "é.md"),)),
        Commit("a0", (), ()),
    ]


def test_a_folder_that_is_no_clone_has_no_history(tmp_path: Path) -> None:
    assert History.read(tmp_path) is None
