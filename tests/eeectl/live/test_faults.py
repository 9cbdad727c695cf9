"""Switches and cables that fail during an apply. `--at-change` triggers a fault at a given order."""

import threading

import pytest

from tests.support.labs.engineer import Engineer

TRUNK = "sw1:gi1/0/5"
ROLLED_BACK = "everything was rolled back: the lab is as it was before."
BETWEEN = "between two states"


def _require_rolled_back(engineer: Engineer, what: str, *faults: str) -> str:
    """Apply with a fault that ends by itself: refused, and fully rolled back. Returns what eeectl printed."""
    engineer.fault(*faults)
    done = engineer.timed(f"apply rolled back: {what}", "apply", "--yes", "--no-host-check")
    assert done.returncode == 1, done.stdout + done.stderr
    assert ROLLED_BACK in done.stderr, done.stderr
    assert "verified" not in done.stdout
    assert engineer.entries()[-1]["outcome"] == "taken back"
    engineer.fault("clear")
    engineer.require_before()
    return done.stderr


def test_a_reboot(engineer: Engineer) -> None:
    _require_rolled_back(engineer, "reboot", "reboot", "sw2", "--at-change", "20")


def test_a_dropped_session(engineer: Engineer) -> None:
    said = _require_rolled_back(engineer, "dropped session", "drop", "sw3", "--at-change", "25")
    assert "sw3: " in said


@pytest.mark.parametrize(
    ("switch", "command"), [("sw1", "mac address-table static"), ("sw2", "vlan participation include")]
)
def test_a_refused_command(engineer: Engineer, switch: str, command: str) -> None:
    said = _require_rolled_back(engineer, "refused command", "refuse", switch, command, "--words", "% Flash is full")
    assert f"{switch}: refused" in said
    assert "Flash is full" in said


def test_a_session_that_hangs(engineer: Engineer) -> None:
    said = _require_rolled_back(engineer, "hanging session", "hang", "sw3", "--at-change", "5")
    assert "sw3: it said nothing for" in said


def test_a_switch_that_ignores_everything_from_the_start(engineer: Engineer) -> None:
    said = _require_rolled_back(engineer, "ignored writes", "ignore", "sw2")
    assert "accepted a change and ignored it" in said


def test_a_switch_that_ignores_later_changes_cannot_be_rolled_back_before_it_is_repaired(engineer: Engineer) -> None:
    engineer.fault("ignore", "sw1", "--at-change", "10")
    _require_broken_then_recovered(engineer, "ignored writes in the middle")


def test_garbage_now_and_then(engineer: Engineer) -> None:
    engineer.fault("garble", "sw1", "--answers", "2", "--at-change", "8")
    done = engineer.apply()
    if done.returncode == 0:  # the garbage was in answers without content; the settings were read back
        engineer.require_after()
    else:
        assert ROLLED_BACK in done.stderr, done.stderr
        engineer.require_before()


def test_garbage_and_nothing_else(engineer: Engineer) -> None:
    engineer.fault("garble", "sw1", "--at-change", "10")
    _require_broken_then_recovered(engineer, "garbage")


def _require_broken_then_recovered(engineer: Engineer, what: str) -> None:
    done = engineer.apply()
    assert done.returncode == 1, done.stdout
    assert BETWEEN in done.stderr, done.stderr
    assert "verified" not in done.stdout
    assert engineer.eeectl("status", "--offline").returncode == 3
    again = engineer.apply()
    assert again.returncode == 1
    assert "eeectl recover" in again.stderr
    engineer.fault("clear")
    recovered = engineer.timed(f"recover: {what}", "recover", "--yes")
    assert recovered.returncode == 0, recovered.stderr
    assert engineer.eeectl("status").returncode == 0
    engineer.require_before()


def test_unexpected_pages_are_turned(engineer: Engineer) -> None:
    for switch, change in (("sw1", 5), ("sw2", 9)):
        engineer.fault("page", switch, "--at-change", str(change))
    done = engineer.apply()
    assert done.returncode == 0, done.stderr
    engineer.fault("clear")
    engineer.require_after()


def test_a_pulled_plug_is_waited_for(engineer: Engineer) -> None:
    engineer.fault("power", "sw2", "off", "--at-change", "15")
    applying = engineer.start_apply()
    applying.await_words("for sw2 to answer")
    engineer.fault("power", "sw2", "on")
    done = applying.end()
    assert done.returncode == 1
    assert ROLLED_BACK in done.stderr
    engineer.require_before()


def test_a_fifth_of_snmp_requests_lost(engineer: Engineer) -> None:
    assert engineer.apply().returncode == 0
    engineer.fault("lose", "sw2", "0.2")
    done = engineer.on_link("off", TRUNK, "--no-host-check")
    engineer.fault("clear")
    assert done.returncode == 0, done.stderr
    assert engineer.lab.link_state(TRUNK) == "shut"
    assert engineer.eeectl("rollback", "--yes").returncode == 0
    engineer.require_after()


def test_a_cable_cut_meanwhile(engineer: Engineer) -> None:
    applying = engineer.start("apply", "--yes")
    engineer.await_round(applying, 5)
    engineer.fault("cut", TRUNK)
    done = applying.end()
    assert done.returncode == 1, done.stdout
    assert "n01" in done.stderr  # hosts do not reach each other
    assert ROLLED_BACK in done.stderr, done.stderr
    engineer.require_before()


def test_another_change_between_two_rounds_is_not_overwritten(engineer: Engineer) -> None:
    """A colleague shuts a host's port during an apply: the read-back of the round that touches the port shows it."""
    applying = engineer.start_apply()
    engineer.await_round(applying, 2)
    meddling = threading.Thread(target=engineer.lab.configure, args=("sw1", "interface gi1/0/1", "shutdown"))
    meddling.start()
    done = applying.end()
    meddling.join()
    assert done.returncode == 1, done.stdout
    assert "verified" not in done.stdout
