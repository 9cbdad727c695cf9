"""One cable of a LAG is taken out and put back on a live lab: no echo is lost, and flows use the cables left."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eeectl import cli
from tests.support.labs.lab_client import IF_OUT_UCAST, LabClient, eventually
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.lagged import FIRST, OTHER, SECOND, write_lagged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.labs.two_switches import Eeectl

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("rights")]
FLOWS = 60


@pytest.fixture
def lab(
    eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabClient]:
    root = Path(eeectl_environment["EEE_STATE_DIR"])
    monkeypatch.setenv("EEE_STATE_DIR", str(root))
    folder = write_lagged(tmp_path, reserve(), root)
    done = eeectl("lab", "up", str(folder))
    assert done.returncode == 0, done.stderr
    try:
        yield LabClient.of(folder, root)
    finally:
        eeectl("lab", "down", folder.name)


def test_a_cable_of_a_lag_goes_and_comes_back_without_a_lost_echo(
    lab: LabClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))

    def do(*words: str) -> tuple[int, str]:
        """Run eeectl in this process, which saves the second that a new one takes to start."""
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            status = cli.run([*words, "--yes", "--lab", str(lab.lab.folder)])
        return status, said.getvalue()

    def sent() -> list[int]:
        """Frames that sw1 sent on each cable of the LAG."""
        ports = [end.partition(":")[2] for end in (FIRST, SECOND)]
        return [int(lab.get("sw1", f"{IF_OUT_UCAST}.{lab.if_index('sw1', port)}")) for port in ports]

    def spread() -> list[int]:
        """Frames on each cable of the LAG when two hosts send many flows over it, of which one host's may go beside."""
        before = sent()
        for host, target in (("n01", "n03"), ("n02", "n04")):
            there = lab.address(target)
            lab.ssh(host, f"for p in $(seq 20001 {20000 + FLOWS}); do echo x >/dev/udp/{there}/$p || true; done")
        eventually("the frames are counted", lambda: sum(sent()) - sum(before) >= FLOWS)
        return [now - was for now, was in zip(sent(), before, strict=True)]

    def members() -> list[bool]:
        """Whether the first cable's ports are in the LAG by the switches' configuration."""
        found = []
        for switch, port, line in (("sw1", "gi1/0/5", "channel-group 1"), ("sw2", "1/0/5", "addport lag 1")):
            with lab.terminal(switch) as terminal:
                found.append(line in terminal.type(f"show running-config interface {port}"))
        return found

    status, said = do("apply", "--trees-per-switch", "2")
    assert status == 0, said
    assert min(spread()) > 0
    assert members() == [True, True]

    for verb, options, state in (("off", ("--leave",), "shut"), ("on", (), "up")):
        status, said = do("link", verb, FIRST, *options, "--probe", "n01:n03")
        assert status == 0, said
        assert "none of" in said, said
        assert lab.link_state(FIRST) == state
        assert lab.link_state(SECOND) == "up"
        assert members() == [state == "up"] * 2
        first, second = spread()
        assert (first > 0) == (state == "up")
        assert second > 0

    status, said = do("link", "off", OTHER)
    assert status == 0, said
    status, said = do("link", "off", FIRST)
    assert status == 1
    assert "give --may-lose" in said
    status, said = do("link", "off", FIRST, "--may-lose")
    assert status == 0, said
    assert "loss ≤ 0.75 s" in said
    status, said = do("link", "off", SECOND)
    assert status == 1
    assert "is the last cable of sw1:lag1--sw2:lag1 that is up" in said
    status, said = do("rollback", "--all")
    assert status == 0, said
    assert members() == [True, True]
    assert [lab.link_state(end) for end in (FIRST, SECOND, OTHER)] == ["up", "up", "shut"]
