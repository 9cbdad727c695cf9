"""Watts of ports: the twin's by its truth, the papers' by their equations."""

from typing import Any

import pytest

from eee_testbed.dataset.power import REDUCED, Grid, ports, power_rows, truth_of
from eee_testbed.dataset.schema import STATES


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return list(power_rows(Grid((64,), (100.0, 3_000.0, 100_000.0), (0.0, 1000.0))))


def only(rows: list[dict[str, Any]], **wanted: object) -> dict[str, Any]:
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    assert len(found) == 1
    return found[0]


def test_a_port_of_the_twin_has_the_watts_of_its_truth(rows: list[dict[str, Any]]) -> None:
    port = truth_of("miwa").switches.families["dell_powerconnect_55xx"].power.port
    row = only(rows, switch="miwa/dell_powerconnect_55xx", speed_mbps=1000, mode="deep", hold_us=1000.0,
               interval_us=3_000.0)  # fmt: skip
    each_s = 3e-3
    quiet = row["quiet_fraction"]
    sent_joule = 8 * 64 * port.bit_joule + port.frame_joule + port.wake_joule
    assert row["woken_fraction"] == 1.0
    assert row["port_watt"] == pytest.approx(0.6 * (1 - quiet * (1 - port.deep_fraction)) + sent_joule / each_s)


def test_ports_of_the_papers_follow_their_equations(rows: list[dict[str, Any]]) -> None:
    row = only(rows, switch="andujar-2023", mode="deep", hold_us=0.0, interval_us=100.0)
    low = row["quiet_fraction"] + row["refresh_fraction"]
    assert row["power_fraction"] == pytest.approx(1 - 0.816 * 0.9 * low)
    assert row["port_watt"] == pytest.approx(5 * row["power_fraction"])
    row = only(rows, switch="georgakoudis-2019", speed_mbps=100_000, mode="hybrid", hold_us=0.0, interval_us=3_000.0)
    assert row["power_fraction"] == pytest.approx(1 - 0.9 * row["quiet_fraction"] - 0.4 * row["fast_fraction"])
    assert row["port_watt"] is None


def test_links_that_never_sleep_have_full_power_and_every_share_adds_up(rows: list[dict[str, Any]]) -> None:
    awake = [row["power_fraction"] for row in rows if row["mode"] == "off"]
    assert awake == pytest.approx([1.0] * len(awake))
    assert {row["switch"] for row in rows if row["mode"] == "off"} == {port.switch for port in ports()}
    assert all(sum(row[f"{state}_fraction"] for state in STATES) == pytest.approx(1.0) for row in rows)


def test_no_point_is_there_twice() -> None:
    keys = ("switch", "speed_mbps", "mode", "hold_us", "size_byte", "interval_us")
    found = [tuple(row[key] for key in keys) for row in power_rows(REDUCED)]
    assert len(found) == len(set(found))
    assert {key[0] for key in found} == {port.switch for port in ports()}
