from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.unmarked import can_hold

_PLAIN = "def test_nothing() -> None: ..."
_MARKED = f"@pytest.mark.lab\n{_PLAIN}"


@pytest.mark.parametrize(
    ("text", "asked", "held"),
    [
        (_PLAIN, "", True),
        (_PLAIN, "lab", False),
        (_PLAIN, "not lab and not alone", True),
        (_MARKED, "lab and not alone", True),
        (_MARKED, "lab and alone", False),
        # Other tests of the file may have no mark.
        (_MARKED, "not lab", True),
    ],
)
def test_a_file_is_read_if_one_of_its_tests_may_be_asked_for(
    text: str, asked: str, *, held: bool, tmp_path: Path
) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert can_hold(path, asked) == held


def test_marks_of_a_conftest_are_those_of_its_folder() -> None:
    live = ROOT / "tests" / "twin" / "live"
    assert "mark" not in (live / "test_eee.py").read_text()
    assert can_hold(live / "test_eee.py", "lab and alone")
    assert not can_hold(live / "test_eee.py", "smoke")
