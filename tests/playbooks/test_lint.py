"""Playbooks and roles as ansible-lint's production profile wants them. A file of its own: it takes half a minute."""

from pathlib import Path

import pytest

from tests.support.ansible_play import ANSIBLE, play
from tests.support.needs import needs


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    needs(ANSIBLE)


@pytest.mark.slow
def test_ansible_lint_finds_nothing(tmp_path: Path) -> None:
    done = play("--offline", "--profile", "production", tool="ansible-lint", ANSIBLE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Profile 'production' was required, and it passed" in done.stderr
