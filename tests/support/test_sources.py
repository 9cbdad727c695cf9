"""What a Python file depends on, and tests that `make check` leaves out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.sources import Sources, files_of

_FILES = {
    "lab/__init__.py": b"",
    "lab/model.py": b"import eee_testbed.lab.parts\n",
    "lab/parts.py": b"",
    "lab/other.py": b"",
    "verbs/__init__.py": b"",
    "verbs/table.py": b'TABLE = ["verbs.plan:plan_app"]\n',
    "verbs/plan.py": b"from .words import say\n",
    "verbs/words.py": b"",
    "agents/probe.py": b"",
    "docs/page.md": b"",
    "tests/test_model.py": b"def test():\n    from eee_testbed.lab import model\n",
    "tests/test_table.py": b"from verbs.table import TABLE\n",
    "tests/test_command.py": b"import subprocess\n",
}


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("lab/model.py", {"model"}),
        ("lab/parts.py", {"model"}),
        ("lab/__init__.py", {"model"}),
        ("lab/other.py", set()),
        ("verbs/words.py", {"table"}),
        ("agents/probe.py", {"model", "table"}),
        ("docs/page.md", {"model", "table"}),
        ("tests/test_table.py", {"table"}),
    ],
)
def test_a_change_reaches_the_tests_whose_sources_have_it(changed: str, tests: set[str]) -> None:
    before, after = Sources(_FILES), Sources({**_FILES, changed: b"x = 1\n"})
    names = [name for name in _FILES if name.startswith("tests/")]
    different = {name for name in names if before.digest(name) != after.digest(name)}
    assert different == {f"tests/test_{name}.py" for name in tests | {"command"}}


def _check(checkout: Path) -> str:
    """The last lines of a run of the tests of a checkout.

    Python takes what it compiled for a file's if size and second of the change agree, as they may here.
    """
    argv = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "tests.support.unchanged", "--rootdir", "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(argv, cwd=checkout, env=environment, capture_output=True, text=True, check=False).stdout


def test_a_file_of_tests_is_left_out_until_its_sources_change_or_it_fails(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    (tmp_path / "value.py").write_text("VALUE = 1\n", encoding="utf-8")
    (tmp_path / "test_value.py").write_text(
        "from value import VALUE\ndef test_it():\n    assert VALUE < 3\n", encoding="utf-8"
    )
    (tmp_path / "test_other.py").write_text("def test_it():\n    pass\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text(".pytest_cache\n__pycache__\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert set(files_of(tmp_path)) == {"pytest.ini", "value.py", "test_value.py", "test_other.py", ".gitignore"}
    assert "2 passed" in _check(tmp_path)
    assert "2 of 2 files of tests are left out" in _check(tmp_path)
    (tmp_path / "value.py").write_text("VALUE = 3\n", encoding="utf-8")
    for _ in range(2):
        printed = _check(tmp_path)
        assert "1 failed" in printed
        assert "1 of 2 files" in printed
    (tmp_path / "value.py").write_text("VALUE = 2\n", encoding="utf-8")
    assert "1 passed" in _check(tmp_path)
