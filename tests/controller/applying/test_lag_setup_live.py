"""A LAG is set up on switches as from the factory, carries trees, is taken down without a lost echo, and all undone."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import pytest

from eee_testbed.eeectl import cli
from tests.support.labs.lagged import FIRST, OTHER, SECOND, lagged_lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.labs.lab_client import LabClient
    from tests.support.labs.two_switches import Eeectl

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("rights")]
_LINES = (
    ("sw1", "gi1/0/5", "channel-group 1 mode on"),
    ("sw2", "1/0/5", "addport lag 1"),
    ("sw2", "lag 1", "port-channel static"),
)


@pytest.fixture
def lab(
    eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabClient]:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))
    with lagged_lab(eeectl, eeectl_environment, tmp_path, monkeypatch, is_set_up=False) as lab:
        yield lab


def test_a_lag_is_set_up_used_taken_down_and_all_is_rolled_back(lab: LabClient) -> None:
    def do(*words: str) -> str:
        """Run eeectl in this process, which saves the second that a new one takes to start."""
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            status = cli.run([*words, "--yes", "--lab", str(lab.lab.folder)])
        assert status == 0, said.getvalue()
        return said.getvalue()

    def configured() -> list[bool]:
        found = []
        for switch, interface, line in _LINES:
            with lab.terminal(switch) as terminal:
                found.append(line in terminal.type(f"show running-config interface {interface}"))
        return found

    def woken() -> list[bool]:
        """Spanning tree may block one that is."""
        return [lab.link_state(end) != "shut" for end in (FIRST, SECOND, OTHER)]

    assert (configured(), woken()) == ([False] * 3, [True, True, False])
    assert "checking that all hosts reach each other" in do("link", "lag", "set-up", "sw1:lag1")
    assert (configured(), woken()) == ([True] * 3, [True, True, False])

    assert "sw1:lag1--sw2:lag1" in do("apply", "--trees-per-switch", "2")
    assert woken() == [True] * 3
    assert "none of" in do("link", "lag", "take-down", "sw1:lag1", "--probe", "n01:n03")
    assert (configured()[:2], woken()) == ([False] * 2, [False, False, True])

    do("rollback", "--all")
    assert (configured()[:2], woken()) == ([False] * 2, [True, True, False])
