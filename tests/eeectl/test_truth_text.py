"""`eeectl lab truth` as text: a summary, and details on request."""

from typing import Any

import pytest

from eee_testbed.eeectl.truth_text import print_truth

_PS = 1_000_000_000_000


def _timing(hold_us: float, *, latency_us: float | None = None) -> dict[str, Any]:
    lpi = {"mode": "deep", "hold_us": hold_us, "sleep_us": 182.0, "wake_us": None}
    return {"boot_s": 6.0, "lpi": lpi, **({} if latency_us is None else {"latency_us": latency_us})}


def _device(kind: str, watt: float) -> dict[str, Any]:
    watts = {"ac_watt": watt, "base_watt": watt - 3, "port_watt": 2.0, "wander_watt": 0.1}
    return {"kind": kind, **watts, "energy_joule": 1000.0, "outlets": [f"pdu1:{watt:.0f}"]}


def _port(*, up: bool, eee: bool, quiet_s: int) -> dict[str, Any]:
    zero = dict.fromkeys(("refresh_ps", "fast_ps", "sleep_ps", "wake_ps", "down_ps"), 0)
    spent = {
        "total_ps": 10 * _PS,
        "active_ps": (10 - quiet_s) * _PS,
        "quiet_ps": quiet_s * _PS,
        "lpi_events": 3,
        **zero,
    }
    now = "quiet" if eee else "off"
    return {"oper_up": up, "speed_mbps": 1000, "eee_active": eee, "lpi_now": now, "time_in_state": spent}


def _truth() -> dict[str, Any]:
    uppers = [2 ** (step / 8) for step in range(-8, 40)]
    counts = [0] * (len(uppers) + 1)
    counts[8], counts[9], counts[16] = 3, 2, 4  # up to 1 us, just above, up to 2 us
    lateness = {"count": 9, "p50_us": 1.1, "p90_us": 2.0, "p99_us": 2.0, "max_us": 2.0}
    lateness |= {"bucket_upper_us": uppers, "bucket_count": counts}  # type: ignore[dict-item]
    return {
        "lab": "toy",
        "now_ps": 100 * _PS,
        "timing": {"sw1": _timing(1000, latency_us=2.7), "sw2": _timing(1000, latency_us=2.7), "n01": _timing(600)},
        "power": {"devices": {"sw1": _device("switch", 26), "sw2": _device("switch", 28), "n01": _device("node", 58)}},
        "ports": {
            "sw1:p1": _port(up=True, eee=True, quiet_s=9),
            "n01:eth0": _port(up=True, eee=True, quiet_s=8),
            "sw1:p2": _port(up=True, eee=False, quiet_s=0),
            "sw2:p2": _port(up=False, eee=False, quiet_s=0),
        },
        "engine": {"lateness": lateness, "frames": {"offered": 9, "in_flight": 0}},
    }


def _words(captured: str) -> list[str]:
    return [" ".join(line.split()) for line in captured.splitlines()]


def test_the_summary_adds_up_what_is_alike_and_fits_a_small_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_truth(_truth(), 80, histogram=False, every=False)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert len(printed.splitlines()) <= 24
    lines = _words(printed)
    assert "sw1 to sw2 (2) 2.7 deep 1000 182 PHY's 6" in lines
    assert "n01 - deep 600 182 PHY's 6" in lines
    assert "2 of kind switch 54.0 26.0 to 28.0 48.0 4.0 0.2 2000" in lines
    assert "3 of 4: 3 at 1000 Mb/s; EEE in force on 2" in lines
    assert any("2 quiet; asleep 80.0 to 90.0 % of their time up, median 85.0 %" in line for line in lines)
    assert "sw1:p1" not in printed


def test_all_names_each_device_and_each_port_that_is_up(capsys: pytest.CaptureFixture[str]) -> None:
    print_truth(_truth(), 80, histogram=False, every=True)
    lines = _words(capsys.readouterr().out)
    assert "sw2 28.00 25.00 2.00 0.10 1000 pdu1:28" in lines
    assert "sw1:p1 1000 yes quiet 10.0 90.0 0.0 3" in lines
    assert not any(line.startswith("sw2:p2") for line in lines)


def test_the_histogram_counts_frames_by_doublings_of_how_late_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    print_truth(_truth(), 80, histogram=True, every=False)
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines() if "█" in line]
    assert rows == [["1", "3"], ["2", "6"]]
