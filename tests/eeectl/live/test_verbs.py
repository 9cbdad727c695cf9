"""The verbs that change a lab, on switches without faults."""

import json
from pathlib import Path

from tests.support.labs.engineer import Engineer
from tests.support.labs.lab_client import eventually, run

TRUNK = "sw1:gi1/0/5"
FAR = "sw2:1/0/5"


def test_an_apply_a_second_one_and_the_rollback(engineer: Engineer) -> None:
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
    assert "has no change to roll back" in twice.stderr


def test_the_history_and_taking_back_some_of_it_and_all(engineer: Engineer) -> None:
    assert engineer.apply().returncode == 0
    _do(engineer, "link", "off", "--no-host-check")
    off = engineer.read()
    _do(engineer, "link", "on", "--no-host-check")
    _do(engineer, "eee", "on", "--no-host-check")
    changes = json.loads(engineer.eeectl("history", "--json").stdout)["changes"]
    assert [(one["number"], one["state"], one["verified"]) for one in changes] == [
        (number, "applied", True) for number in (1, 2, 3, 4)
    ]
    assert [one["command"].split()[:2] for one in changes[1:]] == [["link", "off"], ["link", "on"], ["eee", "on"]]
    assert changes[1]["switches"] == ["sw1", "sw2", "sw3"]
    back = engineer.eeectl("rollback", "3", "--yes")
    assert back.returncode == 0, back.stderr
    assert engineer.read() == off
    again = engineer.eeectl("rollback", "3", "--yes")
    assert again.returncode == 1
    assert "change 3 is taken back already" in again.stderr
    assert engineer.eeectl("rollback", "--all", "--yes").returncode == 0
    engineer.require_before()
    said = engineer.eeectl("history").stdout
    assert said.count("taken back") == 4


def test_an_unconfirmed_apply_is_rolled_back(engineer: Engineer) -> None:
    done = engineer.program("apply", "--yes", "--no-host-check", "--confirm-in", "2s")
    assert done.returncode == 0
    assert "eeectl confirm" in done.stdout
    eventually("it is rolled back", lambda: engineer.kinds()[-1] == "done")
    assert engineer.entries()[-1]["outcome"] == "taken back"
    engineer.require_before()
    late = engineer.eeectl("confirm")
    assert late.returncode == 1
    assert "nothing waits to be confirmed" in late.stderr


def test_a_confirmed_apply_is_kept(engineer: Engineer) -> None:
    assert engineer.program("apply", "--yes", "--no-host-check", "--confirm-in", "5m").returncode == 0
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


def _do(engineer: Engineer, group: str, verb: str, *options: str) -> None:
    done = engineer.on_link(verb, TRUNK, *options, group=group)
    assert done.returncode == 0, done.stderr


def test_a_link_is_put_to_sleep_woken_and_slowed_and_its_eee_switched(engineer: Engineer) -> None:
    lab = engineer.lab
    assert engineer.apply().returncode == 0

    def speeds() -> set[int]:
        return {lab.truth()["ports"][end]["speed_mbps"] for end in (TRUNK, FAR)}

    def active() -> set[bool]:
        return {lab.truth()["ports"][end]["eee_active"] for end in (TRUNK, FAR)}

    _do(engineer, "link", "off")
    assert lab.link_state(TRUNK) == "shut"
    _do(engineer, "link", "on", "--no-host-check")
    lab.await_link(TRUNK, "up")
    _do(engineer, "link", "speed", "100", "--no-host-check")
    eventually("the link is slow", lambda: speeds() == {100})
    _do(engineer, "link", "speed", "auto", "--no-host-check")
    eventually("the link is fast", lambda: speeds() == {1000})
    _do(engineer, "eee", "on", "--no-host-check")
    eventually("EEE is active", lambda: active() == {True})
    done = engineer.eeectl("eee show", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    _do(engineer, "eee", "off", "--no-host-check")
    eventually("EEE is off", lambda: active() == {False})

    def pauses() -> list[str]:
        """dot3PauseAdminMode and dot3PauseOperMode (EtherLike-MIB) at both ends."""
        columns = [f"1.3.6.1.2.1.10.7.10.1.{column}.5" for column in (1, 2)]
        return [
            value
            for name in ("sw1", "sw2")
            for value in run(["snmpget", *lab.v2c(), "-Oqve", lab.agent(name), *columns]).stdout.split()
        ]

    assert pauses() == ["1"] * 4
    for state, value in (("on", "4"), ("off", "1")):
        done = engineer.on_link("flow-control", state, TRUNK, "--no-host-check")
        assert done.returncode == 0, done.stderr
        eventually("both ends agreed", lambda value=value: pauses() == [value] * 4)  # type: ignore[misc]


def test_a_probe_counts_its_losses_and_its_echoes_are_no_flood(engineer: Engineer) -> None:
    assert engineer.apply().returncode == 0
    for verb in ("off", "on"):
        done = engineer.on_link(verb, TRUNK, "--probe", "n01:n03")
        assert done.returncode == 0, done.stderr
        assert "probe n01:n03: none of" in done.stdout
        assert "too many" not in done.stderr
        assert "flood" not in done.stderr
