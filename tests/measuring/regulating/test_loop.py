"""The closed loop on switches in memory: links go off and come back under load, and through every fault, as found.

The toy lab replays each order through the proof, so `harms` has every loop and every pair that an order cut off.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from eee_testbed.controller.applying.rounds import Stopped
from eee_testbed.controller.applying.run_notes import RunNotes
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.lab.errors import RollbackFailed
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.experiments.restore_journal import RestoreJournal
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.regulation.closed_loop import Settings
from tests.support.labs.toy_lab import ToyLab, small_lab, trees_state
from tests.support.regulation.looped_toy import FULL_BYTE_S, Load, LoopedToy, shut

QUICK = Settings(deactivation_epochs=2)
BUSY: Load = {("n2", "n3"): FULL_BYTE_S * 0.6, ("n2", "n1"): FULL_BYTE_S * 0.2}
"""More than one link from sw2 should carry, mostly to sw3, which is a detour if only links to the hub sw1 are on."""


@pytest.fixture
def looped(tmp_path: Path) -> Iterator[LoopedToy]:
    lab = small_lab(tmp_path / "toy")
    with LoopedToy(lab, ToyLab(lab, trees_state(lab)), tmp_path / "runs", QUICK) as made:
        yield made
        assert not made.toys.harms


def _require_restored(looped: LoopedToy) -> None:
    looped.controller.restore()
    assert looped.toys.state == looped.home
    assert looped.controller.restored


def test_links_go_off_without_load_come_back_with_it_and_the_lab_is_as_it_was(looped: LoopedToy) -> None:
    root = looped.network.fabric.root
    trunks = frozenset(looped.network.network.trunks)
    looped.until(lambda: shut(looped.lab, looped.toys.state) == trunks - root)
    assert looped.used() <= root
    looped.until(lambda: not looped.used() <= root, BUSY)
    busy = looped.counts(BUSY)
    assert max(one.out_byte_s for one in busy.ports.values()) <= FULL_BYTE_S * 0.6, "each on a path of its own"
    looped.loop.tell_slowdown(1.0)
    looped.until(lambda: looped.loop.state.having("active") == trunks, BUSY)
    assert looped.toys.state == looped.home, "with all links active the lab is as it was found"
    decided = looped.events(EventKind.LOOP_DECIDED)
    assert all(one["why"] for one in decided)
    assert Counter(one["after"] for one in decided)["off"] == len(trunks - root)
    physical = looped.events(EventKind.ACTUATION)
    assert Counter(one["after"] for one in physical) == {"off": len(trunks - root), "on": len(trunks - root)}
    _require_restored(looped)


def test_hosts_send_over_no_link_that_is_not_active(looped: LoopedToy) -> None:
    """After every epoch, a shadow link is up and no tree has it."""
    for _ in range(30):
        looped.epochs(1)
        assert looped.used() <= looped.loop.state.having("active")
        assert shut(looped.lab, looped.toys.state) == looped.loop.state.having("off")
    _require_restored(looped)


@pytest.mark.slow
def test_the_way_back_stays_short_whatever_the_loop_did(looped: LoopedToy) -> None:
    for turn in range(6):
        looped.epochs(8, BUSY if turn % 2 else {})
        kept = RunNotes(StateFolder.of(looped.lab)).journal(looped.run.folder)
        journal = RestoreJournal.load(kept, looped.run.folder)
        assert journal is not None
        assert journal.length <= 1
    _require_restored(looped)


def test_a_killed_loop_leaves_what_restores_the_lab(looped: LoopedToy) -> None:
    """Nothing of the loop but the lab's state is left; a controller that opens it finds what to restore."""
    looped.until(lambda: shut(looped.lab, looped.toys.state))
    found = LabController(
        looped.lab, looped.controller.experiment, looped.run, looped.toys.backend(), looped.lock, looped.progress
    )
    found.open()
    assert "restored" in found.restore()
    assert looped.toys.state == looped.home


def test_a_loop_that_ended_in_the_middle_of_a_change_leaves_what_restores_the_lab(looped: LoopedToy) -> None:
    """Somebody stops it twice, so that neither the change nor its rollback is finished."""
    looped.controller.stop = looped.toys.stop
    looped.until(lambda: looped.loop.state.having("shadow"))
    looped.toys.troubles[looped.toys.orders] = "Ctrl-C twice"
    with pytest.raises(Stopped):
        looped.epochs(10)
    assert looped.toys.state != looped.home
    found = LabController(
        looped.lab, looped.controller.experiment, looped.run, looped.toys.backend(), looped.lock, looped.progress
    )
    found.open()
    found.restore()
    assert looped.toys.state == looped.home


def test_an_epoch_that_was_not_counted_has_no_decision_and_says_why(looped: LoopedToy) -> None:
    looped.until(lambda: looped.loop.state.having("shadow"))
    before = looped.loop.state
    looped.loop.step("sw2: does not answer.")
    assert looped.loop.state.having("shadow") == before.having("shadow")
    (told,) = looped.events(EventKind.LOOP_UNDECIDED)
    assert told["why"] == "sw2: does not answer."
    assert looped.events(EventKind.LOOP_EPOCH)[-1]["undecided"] == "sw2: does not answer."
    _require_restored(looped)


def test_a_switch_that_restarts_gets_its_settings_back_and_all_links_are_active(looped: LoopedToy) -> None:
    """It boots into settings that are not those of the run, and for a while does not answer."""
    root = looped.network.fabric.root
    looped.until(lambda: shut(looped.lab, looped.toys.state))
    looped.toys.boot_dials = 1
    looped.toys.reboot("sw2")
    looped.loop.step("sw2: does not answer.", ("sw2",))
    assert "could not be restored yet" in looped.events(EventKind.LOOP_UNDECIDED)[-1]["why"]
    looped.loop.step("sw2: its counters were restarted.")
    assert looped.toys.state == looped.home
    assert looped.loop.state.having("active") == set(looped.network.network.trunks)
    looped.epochs(2 * QUICK.deactivation_epochs - 1)
    assert not shut(looped.lab, looped.toys.state), "for a while no link is deactivated"
    looped.until(lambda: looped.loop.state.having("active") == root)
    _require_restored(looped)


def test_a_switch_that_restarts_in_the_middle_of_a_change(looped: LoopedToy) -> None:
    """The change is rolled back or the lab restored; either way hosts are joined, and the loop goes on."""
    looped.until(lambda: looped.loop.state.having("shadow"))
    looped.toys.troubles[looped.toys.orders + 1] = "reboot"
    looped.epochs(20)
    assert looped.loop.state.having("off")
    _require_restored(looped)


def test_a_cut_cable_is_avoided_and_used_again(looped: LoopedToy) -> None:
    looped.until(lambda: looped.loop.state.having("active") == looped.network.fabric.root)
    cut = min(looped.network.fabric.root)
    looped.cut.add(cut)
    looped.until(lambda: cut not in looped.used(), BUSY, most=6)
    assert looped.loop.state.links[cut].state == "down"
    looped.cut.clear()
    looped.epochs(1)
    assert looped.loop.state.links[cut].state == "active"
    _require_restored(looped)


def test_what_a_switch_refuses_is_rolled_back_and_not_tried_again_at_once(looped: LoopedToy) -> None:
    looped.until(lambda: looped.loop.state.having("shadow"))
    begin = looped.toys.orders
    looped.toys.troubles = {begin: "refuse"}
    looped.until(lambda: looped.events(EventKind.LOOP_REFUSED))
    before = looped.toys.orders
    looped.epochs(2 * QUICK.deactivation_epochs - 2)
    assert "not today" in looped.events(EventKind.LOOP_REFUSED)[0]["why"]
    off = looped.loop.state.having("off")
    assert shut(looped.lab, looped.toys.state) == off
    looped.until(lambda: looped.loop.state.having("off"))
    assert looped.toys.orders > before
    _require_restored(looped)


def test_settings_that_somebody_changes_are_undone_with_all_links_on(looped: LoopedToy) -> None:
    looped.until(lambda: shut(looped.lab, looped.toys.state))
    looped.toys.meddle("sw2")
    looped.until(lambda: looped.events(EventKind.LOOP_UNDECIDED))
    assert "changed by somebody else" in looped.events(EventKind.LOOP_UNDECIDED)[0]["why"]
    looped.epochs(1)
    assert looped.toys.state == looped.home
    _require_restored(looped)


def test_a_lab_that_can_no_longer_be_rolled_back_ends_the_loop(looped: LoopedToy) -> None:
    looped.until(lambda: looped.loop.state.having("shadow"))
    begin = looped.toys.orders
    looped.toys.troubles = dict.fromkeys(range(begin + 1, begin + 4000), "refuse")
    with pytest.raises(RollbackFailed):
        looped.epochs(20)


def test_a_program_that_is_too_slow_gets_all_links_back(looped: LoopedToy) -> None:
    looped.until(lambda: shut(looped.lab, looped.toys.state))
    looped.loop.tell_slowdown(0.2)
    looped.epochs(1)
    assert looped.events(EventKind.LOOP_EPOCH)[-1]["backs_off"] is True
    looped.until(lambda: looped.loop.state.having("active") == set(looped.network.network.trunks), most=10)
    assert looped.events(EventKind.LOOP_EPOCH)[-1]["slowdown"] == 0.2
    while looped.loop.state.epoch < looped.loop.state.quiet_until:
        assert looped.loop.steady_epochs == 0, "it only waits"
        looped.epochs(1)
    looped.until(lambda: looped.loop.steady_epochs > 0)
    _require_restored(looped)


def test_before_it_may_decide_the_loop_only_counts(looped: LoopedToy) -> None:
    looped.loop.decides.clear()
    orders = looped.toys.orders
    looped.epochs(10)
    assert looped.toys.orders == orders
    assert len(looped.events(EventKind.LOOP_EPOCH)) == 10
    assert looped.events(EventKind.LOOP_DECIDED) == []


@pytest.mark.slow
def test_the_same_counters_lead_to_the_same_decisions(tmp_path: Path) -> None:
    told = []
    for name in ("one", "other"):
        lab = small_lab(tmp_path / name / "toy")
        with LoopedToy(lab, ToyLab(lab, trees_state(lab)), tmp_path / name / "runs", QUICK) as looped:
            for turn in range(4):
                looped.epochs(6, BUSY if turn % 2 else {})
            kept = ("epoch", "link", "before", "after", "why")
            decided = looped.events(EventKind.LOOP_DECIDED)
            told.append([tuple(one[key] for key in kept) for one in decided])
            looped.controller.restore()
    assert told[0] == told[1]
    assert told[0]
