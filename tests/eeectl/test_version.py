"""The version names the package's number and, in a checkout only, the commit."""

import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

from eee_testbed.eeectl.version import version_text
from tests.support import ROOT

_NUMBER = metadata.version("eee-testbed")


def _git(folder: Path, *words: str) -> str:
    argv = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def test_an_installed_package_has_its_number_alone(tmp_path: Path) -> None:
    assert version_text(tmp_path) == f"eeectl {_NUMBER}"


def test_a_checkout_has_its_commit_and_whether_files_differ(tmp_path: Path) -> None:
    _git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("a")
    _git(tmp_path, "add", "file")
    _git(tmp_path, "commit", "--quiet", "--message", "first")
    commit = _git(tmp_path, "rev-parse", "--short=12", "HEAD")
    assert version_text(tmp_path) == f"eeectl {_NUMBER} ({commit})"
    (tmp_path / "file").write_text("b")
    assert version_text(tmp_path) == f"eeectl {_NUMBER} ({commit}-dirty)"


def test_a_broken_checkout_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere")
    assert version_text(tmp_path) == f"eeectl {_NUMBER}"


def test_both_packages_have_one_number() -> None:
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())
    engine = tomllib.loads((ROOT / "engine" / "pyproject.toml").read_text())
    assert "version" in ours["project"]["dynamic"]
    assert ours["tool"]["hatch"]["version"]["path"] == "engine/Cargo.toml"
    assert "version" in engine["project"]["dynamic"]
