"""The closed loop on a running lab: links off and on under load, faults in the middle of an epoch, a kill."""

from pathlib import Path

from eee_testbed.eeectl.exit_status import INTERRUPTED
from eee_testbed.record.event_kinds import EventKind
from tests.support.labs.engineer import Engineer
from tests.support.labs.loop_run import SENSITIVE, LoopRun, decided, load
from tests.support.labs.square_wave import square_wave

_BESIDE_ROOT = 4
"""Links that are not in the root network: of the two cables between each two switches, all but two from one switch."""


def test_links_follow_the_load_and_the_lab_is_restored_after_a_restart_and_a_kill(
    engineer: Engineer, tmp_path: Path
) -> None:
    assert engineer.apply().returncode == 0
    before = engineer.read()
    with LoopRun(engineer, tmp_path, *SENSITIVE, "--deactivation-epochs", "1") as loop:
        for _ in range(_BESIDE_ROOT):
            loop.await_event("a link goes off", decided("off"))
        with load(engineer.lab, "n03", "n05"):
            woken = loop.await_event("a link is switched on", decided("waking", "links beside it are above"))
            active = loop.await_event("it is in use", decided("active", "it is up"))
            assert active["link"] == woken["link"]

        loop.await_event("a link goes off again", decided("off"))
        with engineer.lab.terminal("sw1") as terminal:
            loop.await_event(
                "an epoch is not counted, as counters were reset within it",
                lambda event: event["kind"] == EventKind.LOOP_UNDECIDED and "sw1:gi1/0/" in event["why"],
                provoke=lambda: terminal.type("clear counters"),
            )
        engineer.lab.reboot("sw2")
        loop.await_event(
            "the lab is restored, as the switch restarted or its settings are others",
            lambda event: event["kind"] == EventKind.LOOP_UNDECIDED and "the lab was restored" in event["why"],
        )
        loop.await_event("a link goes off after that", decided("off"))
        loop.running.kill()
    status = engineer.eeectl("status")
    assert status.returncode == 3
    assert f"`eeectl run {loop.folder} --put-back` only restores the lab" in status.stdout
    assert "--resume" not in status.stdout
    assert engineer.words("run", str(loop.folder), "--resume").returncode == 1
    put_back = engineer.words("run", str(loop.folder), "--put-back")
    assert put_back.returncode == 0, put_back.stderr
    assert engineer.read() == before


def test_a_cable_that_is_cut_in_the_middle_of_an_epoch_is_avoided_until_it_is_mended(
    engineer: Engineer, tmp_path: Path
) -> None:
    """One of the root network: another link has to join the hosts again. At the end the lab is as it was found."""
    assert engineer.apply().returncode == 0
    before = engineer.read()
    lab = engineer.lab
    with LoopRun(engineer, tmp_path, *SENSITIVE, "--deactivation-epochs", "1") as loop:
        off = {loop.await_event("a link goes off", decided("off"))["link"] for _ in range(_BESIDE_ROOT)}
        (cut, *_) = sorted({link.name for link in lab.lab.trunks()} - off)
        engineer.fault("cut", cut.partition("--")[0])
        down = loop.await_event("the cut cable is seen", decided("down"))
        assert down["link"] == cut
        woken = loop.await_event("another link is switched on", decided("waking"))
        assert woken["link"] in off
        loop.await_event("it is in use", decided("active"))
        for a, b in (("n01", "n03"), ("n03", "n05"), ("n05", "n01")):
            lab.await_ping(a, lab.address(b))
        engineer.fault("mend", cut.partition("--")[0])
        in_use = decided("active")
        loop.await_event("the mended cable is in use again", lambda event: event.get("link") == cut and in_use(event))
        loop.running.interrupt()
        done = loop.running.end()
    assert done.returncode == INTERRUPTED, done.stderr
    assert engineer.read() == before


def test_load_that_comes_and_goes_switches_no_link_for_ever_and_costs_no_frame(
    engineer: Engineer, tmp_path: Path
) -> None:
    """Ten periods of eight epochs. `python -m evaluation.accuracy.square_wave` does it for an hour of lab time."""
    assert engineer.apply().returncode == 0
    before = engineer.read()
    wave = square_wave(engineer, tmp_path, epochs=80, half_epochs=4)
    assert engineer.read() == before
    assert wave.offs, "nothing was regulated"
    assert not wave.faults, wave
