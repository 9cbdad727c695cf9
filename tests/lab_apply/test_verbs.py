"""The verbs that change a lab, on switches that do as they are told."""

import json
from pathlib import Path
from typing import Any

import pytest
from engineer import LONG_S, Engineer
from stranger import EEECTL, eventually, run

TRUNK = "sw1:gi1/0/5"
FAR = "sw2:1/0/5"


def test_an_apply_a_second_one_and_the_way_back(engineer: Engineer) -> None:
    done = engineer.timed("apply with a check by the hosts", "apply", "--yes")
    assert done.returncode == 0, done.stderr
    assert "read back and verified" in done.stdout
    engineer.require_after()
    again = engineer.eeectl("apply", "--yes")
    assert again.returncode == 0
    assert "nothing to do" in again.stdout
    assert engineer.eeectl("status").returncode == 0
    back = engineer.timed("rollback", "rollback", "--yes")
    assert back.returncode == 0
    assert "as it was before" in back.stdout
    engineer.require_before()
    twice = engineer.eeectl("rollback", "--yes")
    assert twice.returncode == 1
    assert "nothing to take back" in twice.stderr


def test_what_nobody_confirms_is_taken_back_by_itself(engineer: Engineer) -> None:
    done = engineer.apply("--confirm-in", "2s")
    assert done.returncode == 0
    assert "eeectl confirm" in done.stdout
    eventually("it is taken back", lambda: engineer.kinds()[-1] == "done")
    assert engineer.entries()[-1]["outcome"] == "taken back"
    engineer.require_before()
    late = engineer.eeectl("confirm")
    assert late.returncode == 1
    assert "nothing waits to be confirmed" in late.stderr


def test_what_is_confirmed_stays(engineer: Engineer) -> None:
    assert engineer.apply("--confirm-in", "5m").returncode == 0
    assert engineer.eeectl("status").returncode == 3
    refused = engineer.apply()
    assert refused.returncode == 1
    assert "waits to be confirmed" in refused.stderr
    done = engineer.eeectl("confirm")
    assert done.returncode == 0
    guardian = next(entry["pid"] for entry in engineer.entries() if entry["kind"] == "guarded")
    eventually("the guardian leaves", lambda: not Path(f"/proc/{guardian}/cmdline").exists())
    assert engineer.eeectl("status").returncode == 0
    engineer.require_after()


@pytest.fixture
def applied(engineer: Engineer) -> Engineer:
    assert engineer.apply().returncode == 0
    return engineer


def _do(engineer: Engineer, *words: str) -> None:
    """A verb that takes the lab as an option."""
    argv = [*EEECTL, *words, "--yes", "--lab", engineer.folder]
    done = run(argv, check=False, patience_s=LONG_S, env=engineer.environment())
    assert done.returncode == 0, done.stderr


def test_a_link_is_put_to_sleep_slowed_and_woken(applied: Engineer) -> None:
    lab = applied.lab
    _do(applied, "link", "off", TRUNK)
    assert lab.link_state(TRUNK) == "shut"
    _do(applied, "link", "on", TRUNK, "--no-host-check")
    lab.await_link(TRUNK, "up")
    _do(applied, "link", "speed", TRUNK, "100", "--no-host-check")
    eventually("the link is slow", lambda: lab.truth()["ports"][TRUNK]["speed_mbps"] == 100)
    _do(applied, "link", "speed", TRUNK, "auto")
    eventually("the link is fast", lambda: lab.truth()["ports"][FAR]["speed_mbps"] == 1000)


def test_eee_off_and_on_at_both_ends(applied: Engineer) -> None:
    lab = applied.lab

    def active() -> set[bool]:
        return {lab.truth()["ports"][end]["eee_active"] for end in (TRUNK, FAR)}

    def shown() -> Any:
        done = applied.eeectl("eee show", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    _do(applied, "eee", "on", TRUNK, "--no-host-check")
    eventually("EEE is active", lambda: active() == {True})
    assert shown()
    _do(applied, "eee", "off", TRUNK, "--no-host-check")
    eventually("EEE is off", lambda: active() == {False})
