"""EEE as ping measures it, and as the switches count it. Margins are wide: the quicker quarter of many echoes."""

import re
import statistics
from dataclasses import dataclass

import pytest

from eee_testbed.agents.pack import packed
from eee_testbed.agents.recording import read_stream
from tests.support.labs.lab_client import LabClient, Terminal, eventually

ECHOES = 240


@dataclass(frozen=True, slots=True)
class Probed:
    """Lower quartiles of round trips, us, of echoes soon after the one before (none sleeps yet) and long after it.

    Other work on the machine only makes an echo late, and each echo has its wakes: the quicker ones show them.
    """

    soon_us: float
    late_us: float


def _probe(lab: LabClient, a: str, b: str, soon_us: tuple[int, int], late_us: tuple[int, int]) -> Probed:
    """Short and long gaps in turn, so that both meet the same machine; gaps that became others do not count."""
    quartiles = []
    for low_us, high_us in (soon_us, late_us):
        rtts_us: list[float] = []
        for seed in range(2):
            words = f"{lab.address(b)} --count {ECHOES // 2} --gap-us {low_us}:{high_us} --draw uniform --seed {seed}"
            shown = read_stream(lab.ssh(a, f"/usr/bin/python3 /shared/echo_probe.py {words}", root=True).stdout)
            gaps_ns = zip(shown.column("idle_transmit_ns"), shown.column("idle_receive_ns"), strict=True)
            true_us = [None if None in gap else min(gap) / 1_000 for gap in gaps_ns]
            rtts_us += [
                rtt_ns / 1_000
                for gap_us, rtt_ns in zip(true_us, shown.column("rtt_ns"), strict=True)
                if gap_us is not None and rtt_ns is not None and low_us <= gap_us < high_us * 1.5
            ]
        assert len(rtts_us) > ECHOES / 4, "enough echoes are answered, after the gaps that were wanted"
        quartiles.append(statistics.quantiles(rtts_us, n=4)[0])
    return Probed(*quartiles)


def _awake(lab: LabClient, on: Probed, by_us: float, hosts: tuple[str, str], **gaps: tuple[int, int]) -> Probed:
    """A probe with EEE off that is quicker after long gaps, by so much.

    Asleep no echo ever is, as each has its wakes. Awake other work on the machine may make all of one probe late.
    """

    def quick() -> list[Probed]:
        off = _probe(lab, *hosts, **gaps)
        return [off] if on.late_us - off.late_us > by_us else []

    (off,) = eventually(f"echoes are {by_us:g} us quicker than {on}", quick)
    return off


def _asleep(lab: LabClient, hosts: tuple[str, str], **gaps: tuple[int, int]) -> Probed:
    """A probe whose echoes are slower after long gaps: a link that came up just now stays awake for a second."""

    def slow() -> list[Probed]:
        on = _probe(lab, *hosts, **gaps)
        return [on] if on.late_us - on.soon_us > 80 else []

    (on,) = eventually("echoes are slower after long gaps", slow)
    return on


@pytest.fixture(autouse=True)
def probe(lab: LabClient) -> None:
    there = lab.state / "shared" / "echo_probe.py"
    there.write_text(packed("echo_probe"), encoding="utf-8")
    there.chmod(0o644)


def _await_eee(lab: LabClient, host: str, *, active: bool) -> None:
    def agreed() -> bool:
        shown = next(found for found in lab.status()["hosts"] if found["host"] == host)
        return bool(shown["link_up"]) and shown["eee_active"] is active

    eventually(f"{host}'s link is up and EEE is {active}", agreed)


def test_a_powerconnect_wakes_for_echoes_after_a_pause_unless_eee_is_off(lab: LabClient) -> None:
    """Its ports sleep after 1 ms and wake in 60 us: twice on a round trip."""
    gaps = {"soon_us": (100, 500), "late_us": (2_500, 4_500)}
    for host in ("n01", "n02"):
        _await_eee(lab, host, active=True)
    lab.await_ping("n01", "n02")
    on = _asleep(lab, ("n01", "n02"), **gaps)
    with lab.terminal("sw1") as terminal:
        terminal.configure("interface range gi1/0/1-2", "no eee enable")
        try:
            for host in ("n01", "n02"):
                _await_eee(lab, host, active=False)
            assert "EEE Operational status: disabled" in terminal.type("show eee gi1/0/1")
            lab.await_ping("n01", "n02")
            off = _awake(lab, on, 60, ("n01", "n02"), **gaps)
        finally:
            terminal.configure("interface range gi1/0/1-2", "eee enable")
        for host in ("n01", "n02"):
            _await_eee(lab, host, active=True)
        assert "EEE Operational status: enabled" in terminal.type("show eee gi1/0/1")
    lab.await_ping("n01", "n02")
    assert on.late_us - on.soon_us > 80, (on, off)
    assert off.late_us - off.soon_us < (on.late_us - on.soon_us) / 2, (on, off)


def _counted(terminal: Terminal, port: str) -> dict[str, int]:
    shown = terminal.type(f"show green-mode {port}")
    found = re.findall(r"([RT]x Low Power Idle (?:Event Count|Duration))\b[^.\n]*\.+ *(\d+)", shown)
    assert len(found) == 4, shown
    return {name: int(value) for name, value in found}


def test_an_m4300_counts_its_sleeps_while_eee_is_on(lab: LabClient) -> None:
    gaps = {"soon_us": (50, 250), "late_us": (2_500, 4_500)}
    with lab.terminal("sw5") as terminal:
        before = _counted(terminal, "1/0/1")
        terminal.configure("interface 1/0/1-1/0/2", "green-mode eee")
        try:
            for host in ("n09", "n10"):
                _await_eee(lab, host, active=True)
            lab.await_ping("n09", "n10")

            def slept() -> bool:
                lab.ssh("n09", "ping -q -n -c 10 -i 0.01 n10")
                now = _counted(terminal, "1/0/1")
                return all(now[name] > before[name] + 9 for name in now)

            eventually("sleeps of both directions, and their time, are counted", slept)
            on = _probe(lab, "n09", "n10", **gaps)
        finally:
            terminal.configure("interface 1/0/1-1/0/2", "no green-mode eee")
        for host in ("n09", "n10"):
            _await_eee(lab, host, active=False)
        lab.await_ping("n09", "n10")
        after = _counted(terminal, "1/0/1")
        lab.ssh("n09", "ping -q -n -c 20 -i 0.01 n10")
        assert _counted(terminal, "1/0/1") == after
        # 22 us at each of two switch ports and 16.5 us at each of two cards
        _awake(lab, on, 30, ("n09", "n10"), **gaps)


def test_truth_accounts_for_all_time(lab: LabClient) -> None:
    for name, port in lab.truth()["ports"].items():
        spent = port["time_in_state"]
        parts = ("down_ps", "active_ps", "sleep_ps", "quiet_ps", "refresh_ps", "wake_ps", "fast_ps")
        assert sum(spent[part] for part in parts) == spent["total_ps"], name
