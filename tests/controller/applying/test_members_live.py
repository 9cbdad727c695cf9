"""One cable of a LAG is taken out and put back on a live lab: no echo is lost, or no more than the steps state."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import pytest

from eee_testbed.controller.planning.disruption import MEMBER_S
from eee_testbed.eeectl import cli
from tests.support.labs.lab_client import IF_OUT_DISCARDS, IF_OUT_UCAST, LabClient, eventually
from tests.support.labs.lagged import FIRST, OTHER, SECOND, lagged_lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.labs.two_switches import Eeectl

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("rights")]
FLOWS = 60


@pytest.fixture
def lab(
    eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabClient]:
    with lagged_lab(eeectl, eeectl_environment, tmp_path, monkeypatch) as lab:
        yield lab


def _sent(lab: LabClient) -> list[int]:
    """Frames that sw1 sent on each cable of the LAG."""
    ports = [end.partition(":")[2] for end in (FIRST, SECOND)]
    return [int(lab.get("sw1", f"{IF_OUT_UCAST}.{lab.if_index('sw1', port)}")) for port in ports]


def _by_use(lab: LabClient) -> tuple[str, str]:
    """The LAG's cables, first that on which echoes from n01 to n03 go."""
    before = _sent(lab)
    lab.ssh("n01", f"ping -q -n -c {FLOWS} -i 0.01 {lab.address('n03')}")
    eventually("the echoes are counted", lambda: sum(_sent(lab)) - sum(before) >= FLOWS)
    first, second = (now - was for now, was in zip(_sent(lab), before, strict=True))
    return (FIRST, SECOND) if first > second else (SECOND, FIRST)


def _require_no_more_lost_than_stated(said: str) -> int:
    """Echoes lost, which are no more than the steps state."""
    stated_s = {float(found) for found in re.findall(r"loss ≤ ([\d.]+) s", said)}
    assert stated_s == {MEMBER_S}
    probed = re.search(r"(none|\d+) of (\d+) echoes, one each ([\d.]+) ms", said)
    assert probed is not None, said
    lost, interval_s = 0 if probed[1] == "none" else int(probed[1]), float(probed[3]) / 1000
    assert lost * interval_s <= MEMBER_S + interval_s, said
    assert int(probed[2]) > lost
    return lost


def _discarded(lab: LabClient) -> int:
    """Frames that both switches lost on the LAG's cables, by their own counters."""
    ends = [("sw1", "gi1/0/5"), ("sw1", "gi1/0/6"), ("sw2", "1/0/5"), ("sw2", "1/0/6")]
    return sum(int(lab.get(switch, f"{IF_OUT_DISCARDS}.{lab.if_index(switch, port)}")) for switch, port in ends)


def test_frames_that_switches_lose_while_they_follow_are_counted_and_none_is_where_the_plan_is_hitless(
    eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both switches lose the flows of a member that is gone for 0.4 s, and state up to 0.75 s."""
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))
    with lagged_lab(eeectl, eeectl_environment, tmp_path, monkeypatch, rehash_s=0.4) as lab:

        def do(*words: str) -> tuple[str, int]:
            """Run eeectl in this process; what it said, and how many frames the switches lost meanwhile."""
            said, before = io.StringIO(), _discarded(lab)
            with redirect_stdout(said), redirect_stderr(said):
                assert cli.run([*words, "--yes", "--lab", str(lab.lab.folder)]) == 0, said.getvalue()
            return said.getvalue(), _discarded(lab) - before

        do("apply", "--trees-per-switch", "2")
        used, _ = _by_use(lab)
        for verb in ("off", "on"):
            said, discarded = do("link", verb, used, "--probe", "n01:n03")
            assert "none of" in said, said
            assert discarded == 0, "its traffic was on another path"
        do("link", "off", OTHER)
        used, _ = _by_use(lab)
        said, discarded = do("link", "off", used, "--may-lose", "--probe", "n01:n03")
        lost = _require_no_more_lost_than_stated(said)
        assert 0 < lost <= discarded, "each lost echo is a frame that a switch counts"


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

    def spread() -> list[int]:
        """Frames on each cable of the LAG when two hosts send many flows over it, of which one host's may go beside."""
        before = _sent(lab)
        for host, target in (("n01", "n03"), ("n02", "n04")):
            there = lab.address(target)
            lab.ssh(host, f"for p in $(seq 20001 {20000 + FLOWS}); do echo x >/dev/udp/{there}/$p || true; done")
        eventually("the frames are counted", lambda: sum(_sent(lab)) - sum(before) >= FLOWS)
        return [now - was for now, was in zip(_sent(lab), before, strict=True)]

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
    used, left = _by_use(lab)
    status, said = do("link", "off", used)
    assert status == 1
    assert "give --may-lose" in said
    status, said = do("link", "off", used, "--may-lose", "--probe", "n01:n03")
    assert status == 0, said
    _require_no_more_lost_than_stated(said)
    status, said = do("link", "off", left)
    assert status == 1
    assert "is the last cable of sw1:lag1--sw2:lag1 that is up" in said
    status, said = do("rollback", "--all")
    assert status == 0, said
    assert members() == [True, True]
    assert [lab.link_state(end) for end in (FIRST, SECOND, OTHER)] == ["up", "up", "shut"]
