"""Whatever fails, at whichever order: the lab is fully applied or fully rolled back, and was safe all the time."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from eee_testbed.controller.applying.apply import Aim, Options, Result, apply
from eee_testbed.controller.applying.journal import Acknowledged, Journal, JournalState, RollingBack, read_journal
from eee_testbed.controller.applying.recover import recover
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import Backend, at_work
from eee_testbed.controller.model.state import PortChange, State, diff, factory_state, replay
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.proof import ProvedPlan, join_proved, require_start
from eee_testbed.controller.planning.rollback import Position, Return, rollback_plan
from eee_testbed.controller.planning.site import Site, management_of
from eee_testbed.controller.planning.wishes import Eee, LinkOff, LinkSpeed, MultiTree, Wish
from eee_testbed.lab.errors import (
    Drift,
    Ignored,
    LabError,
    PlanError,
    Rejected,
    RollbackFailed,
    Unreachable,
    Unreadable,
)
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from tests.support.labs.starts import named
from tests.support.labs.toy_lab import Quiet, ToyLab, Trouble, small_lab, trees_state
from tests.support.laws import law

_TROUBLES: tuple[Trouble, ...] = (
    "refuse",
    "ignore",
    "drop before",
    "drop after",
    "reboot",
    "hang",
    "Ctrl-C",
    "stranger",
)
_SCENES = ("trees", "one tree", "link off", "link speed", "eee")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return small_lab(tmp_path_factory.mktemp("labs") / "toys")


def scene_of(lab: Lab, name: str) -> tuple[State, Wish]:
    """A lab's initial state, and what is wished for."""
    factory, trees = factory_state(lab), trees_state(lab)
    link = next(lab.trunks())
    match name:
        case "trees":
            return factory, MultiTree()
        case "one tree":
            return trees, MultiTree(policy="one")
        case "link off":
            return trees, LinkOff(link.name)
        case "link speed":
            return trees, LinkSpeed((link.name,), 100)
        case "eee":
            return trees, Eee(named(lab.links), on=True, hold_us=300, may_flap=True)
    raise KeyError(name)


def run_apply(toys: ToyLab, aim: Aim, backend: Backend | None = None, options: Options | None = None) -> Result:
    with at_work(toys.lab, backend or toys.backend(), "apply", Quiet(), toys.stop) as work:
        return apply(work, aim, management_of(toys.lab, None), lambda _: True, options or Options("apply"))


def run_recover(toys: ToyLab) -> str:
    with (
        at_work(toys.lab, toys.backend(), "recover", Quiet(), toys.stop) as work,
        Journal(work.folder.journal) as journal,
    ):
        return recover(work, journal)


def record_of(lab: Lab) -> JournalState:
    record = read_journal(StateFolder(lab.name).journal)
    assert record is not None
    return record


@pytest.mark.parametrize("scene", _SCENES)
def test_an_apply_leads_where_the_plan_says_over_one_session_a_switch(lab: Lab, scene: str) -> None:
    start, wish = scene_of(lab, scene)
    toys = ToyLab(lab, start)
    result = run_apply(toys, wish)
    assert result.ending == "applied"
    assert not toys.harms
    assert toys.dials == dict.fromkeys(("sw1", "sw2", "sw3"), 1)
    assert record_of(lab).finished
    assert record_of(lab).rest == toys.state != start


def test_the_second_time_there_is_nothing_to_do(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    run_apply(toys, MultiTree())
    orders = toys.orders
    assert run_apply(toys, MultiTree()).ending == "nothing to do"
    assert toys.orders == orders
    assert record_of(lab).outcome == "applied"


@pytest.mark.slow
@pytest.mark.parametrize("trouble", _TROUBLES)
@pytest.mark.parametrize("scene", ["trees", "link off"])
def test_each_trouble_at_every_order_rolls_the_lab_back_fully(lab: Lab, scene: str, trouble: Trouble) -> None:
    start, wish = scene_of(lab, scene)
    whole = ToyLab(lab, start)
    run_apply(whole, wish)
    for number in range(0, whole.orders, 3 if scene == "trees" else 1):
        toys = ToyLab(lab, start, factory_state(lab), {number: trouble})
        result = run_apply(toys, wish)
        assert result.ending == "taken back", (number, result)
        assert not diff(toys.state, start), number
        assert not toys.harms, (number, toys.harms[:3])
        assert record_of(lab).outcome == "taken back"


def test_what_another_person_changes_during_a_rollback_is_taken_back_with_it(lab: Lab) -> None:
    """Rounds read back what they set; the rest is read at the end."""
    start, wish = scene_of(lab, "link off")
    whole = ToyLab(lab, start)
    run_apply(whole, wish)
    last = whole.orders - 1
    failed = ToyLab(lab, start, troubles={last: "refuse"})
    run_apply(failed, wish)
    for number in range(last + 1, failed.orders, 5):
        toys = ToyLab(lab, start, troubles={last: "refuse", number: "stranger"})
        assert run_apply(toys, wish).ending == "taken back"
        assert not diff(toys.state, start), number


@law(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    scene=st.sampled_from(_SCENES),
    troubles=st.dictionaries(st.integers(0, 120), st.sampled_from(_TROUBLES), min_size=1, max_size=2),
    garbage=st.frozensets(st.integers(12, 60), max_size=1),
)
def test_troubles_during_the_rollback_too(
    lab: Lab, scene: str, troubles: dict[int, Trouble], garbage: frozenset[int]
) -> None:
    """Two faults at once, of which the second may occur during the rollback."""
    start, wish = scene_of(lab, scene)
    toys = ToyLab(lab, start, factory_state(lab), dict(troubles), garbage)
    if list(troubles.values()).count("Ctrl-C") == 2:
        toys.troubles.popitem()
    try:
        result = run_apply(toys, wish)
    except Drift:
        assert toys.orders == 0
        return
    assert result.ending in ("applied", "taken back")
    aim = start if result.ending == "taken back" else record_of(lab).after
    assert not diff(toys.state, aim)
    assert not toys.harms


@pytest.mark.parametrize(
    ("trouble", "error", "words"),
    [
        ("refuse", Rejected, "not today"),
        ("ignore", Ignored, "accepted a change and ignored it"),
        ("drop after", Unreachable, "session ended"),
        ("stranger", LabError, "differ"),
    ],
)
def test_the_cause_is_reported(lab: Lab, trouble: Trouble, error: type[LabError], words: str) -> None:
    toys = ToyLab(lab, factory_state(lab), troubles={20: trouble})
    result = run_apply(toys, MultiTree())
    assert isinstance(result.cause, error)
    assert words in str(result.cause)
    assert "as it was before" in result.sentence


@pytest.mark.slow
def test_garbage_in_any_answer_is_never_taken_for_success(lab: Lab) -> None:
    start, wish = scene_of(lab, "link off")
    whole = ToyLab(lab, start)
    run_apply(whole, wish)
    for number in range(whole.questions):
        toys = ToyLab(lab, start, garbage_at=frozenset({number}))
        if number < 6:  # before anything is sent
            with pytest.raises(Unreadable):
                run_apply(toys, wish)
            assert toys.orders == 0
            continue
        result = run_apply(toys, wish)
        assert (result.ending, diff(toys.state, start)) == ("taken back", ()), number


def test_another_persons_change_between_plan_and_apply_is_refused(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    backend = toys.backend()
    with at_work(lab, backend, "apply", Quiet(), toys.stop) as work:

        def ask(_: object) -> bool:
            toys.meddle("sw2")
            return True

        with pytest.raises(Drift) as caught:
            apply(work, MultiTree(), None, ask, Options("apply"))
    assert [change.switch for change in caught.value.changes] == ["sw2"]  # type: ignore[attr-defined]
    assert toys.orders == 0
    assert read_journal(StateFolder(lab.name).journal) is None


@pytest.mark.parametrize("attended", [False, True])
def test_a_change_just_after_a_fresh_reading_is_found_before_the_first_order_if_a_person_was_asked(
    lab: Lab, *, attended: bool
) -> None:
    """Else by the reading back."""
    toys = ToyLab(lab, factory_state(lab))
    with at_work(lab, toys.backend(fresh_s=3600.0), "apply", Quiet(), toys.stop) as work:

        def ask(_: object) -> bool:
            toys.meddle("sw2")
            return True

        options = Options("apply", attended=attended)
        if attended:
            with pytest.raises(Drift):
                apply(work, MultiTree(), None, ask, options)
        else:
            result = apply(work, MultiTree(), None, ask, options)
            assert isinstance(result.cause, Drift), result
    assert (toys.orders == 0) == attended


def test_a_failed_check_between_hosts_rolls_everything_back(lab: Lab) -> None:
    def cut(_: Lab, __: State) -> None:
        raise LabError("n1 does not reach n2")

    toys = ToyLab(lab, factory_state(lab))
    result = run_apply(toys, MultiTree(), toys.backend(check_hosts=cut))
    assert (result.ending, str(result.cause)) == ("taken back", "n1 does not reach n2")
    assert not diff(toys.state, toys.initial)
    without = Options("apply", check_hosts=False)
    assert run_apply(toys, MultiTree(), toys.backend(check_hosts=cut), without).ending == "applied"


def test_ctrl_c_does_not_wait_for_the_hosts(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    ever = threading.Event()

    def check(_: Lab, __: State) -> None:
        toys.stop.ask()
        ever.wait()

    result = run_apply(toys, MultiTree(), toys.backend(check_hosts=check))
    ever.set()
    assert result.interrupted
    assert not diff(toys.state, toys.initial)


def test_a_switch_that_never_comes_back_is_reported_and_recover_waits_for_it(lab: Lab) -> None:
    start, wish = scene_of(lab, "link off")
    toys = ToyLab(lab, start, factory_state(lab), {9: "drop before"})
    backend = toys.backend(patience_s=0.05)
    toys.vanish_at = 9
    with pytest.raises(RollbackFailed, match="eeectl recover"):
        run_apply(toys, wish, backend)
    assert record_of(lab).broken
    with pytest.raises(LabError, match="eeectl recover"):
        run_apply(toys, wish)
    toys.gone.clear()
    assert "as it was before" in run_recover(toys)
    assert not diff(toys.state, start)
    assert not toys.harms


@pytest.mark.slow
def test_a_second_ctrl_c_keeps_the_journal_for_recover(lab: Lab) -> None:
    start, wish = scene_of(lab, "link off")
    whole = ToyLab(lab, start)
    run_apply(whole, wish)
    for number in range(1, whole.orders):
        toys = ToyLab(lab, start, troubles={number: "Ctrl-C twice"})
        result = run_apply(toys, wish)
        assert result.ending == "left between"
        assert result.interrupted
        fresh = ToyLab(lab, toys.state)
        run_recover(fresh)
        assert not diff(fresh.state, start)
        assert not toys.harms + fresh.harms


@pytest.mark.parametrize("trouble", ["Ctrl-C", "refuse"])
def test_ctrl_c_or_an_error_finishes_the_orders_in_flight_and_no_more(lab: Lab, trouble: Trouble) -> None:
    for number in (0, 20, 60):
        toys = ToyLab(lab, factory_state(lab), troubles={number: trouble})
        run_apply(toys, MultiTree())
        entries = record_of(lab).entries
        forward = entries[: next(place for place, entry in enumerate(entries) if isinstance(entry, RollingBack))]
        taken = [own for entry in forward if isinstance(entry, Acknowledged) for own in entry.taken.values()]
        assert sum(map(len, taken)) <= number + len(lab.switches)


def test_no_rollback_cuts_hosts_apart_that_are_joined(lab: Lab) -> None:
    trees = trees_state(lab)
    topology = Topology.of(lab)
    home = topology.homes["n1"]
    up = trees.port(home.device, home.port)
    cut = PortChange(home.device, home.port, up, replace(up, pvid=12, untagged_vids=up.untagged_vids - {12}))
    with pytest.raises(PlanError, match="VLAN"):
        rollback_plan(lab, trees, Position(trees, trees, ()), replay([cut], trees))


def test_a_switch_that_restarts_after_all_is_done_is_brought_back_by_its_journal(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    run_apply(toys, MultiTree())
    aim = toys.state
    toys.reboot("sw2")
    toys.away.clear()
    with at_work(lab, toys.backend(), "recover", Quiet(), toys.stop) as work:
        back = Return(Position(aim, aim, ()), aim)
        result = apply(work, back, None, lambda _: True, Options("recover"))
    assert result.ending == "applied"
    assert not diff(toys.state, aim)
    assert not toys.harms


def test_recover_rolls_back_what_nobody_confirmed(lab: Lab) -> None:
    start, wish = scene_of(lab, "link off")
    toys = ToyLab(lab, start)
    assert run_apply(toys, wish, options=Options("apply", confirm_s=600.0)).ending == "to be confirmed"
    assert diff(toys.state, start)
    assert "as it was before" in run_recover(toys)
    assert not diff(toys.state, start)


@pytest.mark.parametrize("restarts", [False, True])
def test_recover_keeps_what_was_verified_only_if_the_lab_still_is_so(lab: Lab, *, restarts: bool) -> None:
    """The apply died after the last reading, before its end was in the journal."""
    start = factory_state(lab)
    toys = ToyLab(lab, start)
    run_apply(toys, MultiTree())
    aim, path = toys.state, StateFolder(lab.name).journal
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    if restarts:
        toys.reboot("sw2")
        toys.away.clear()
    run_recover(toys)
    assert not diff(toys.state, start if restarts else aim)


def test_nothing_is_saved_unless_asked_and_verified(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    run_apply(toys, MultiTree())
    assert toys.startup == factory_state(lab)
    toys = ToyLab(lab, factory_state(lab))
    run_apply(toys, MultiTree(), options=Options("apply", save=True))
    assert toys.startup == toys.state
    assert record_of(lab).saved
    toys = ToyLab(lab, factory_state(lab), troubles={30: "refuse"})
    run_apply(toys, MultiTree(), options=Options("apply", save=True))
    assert toys.startup == factory_state(lab)


def test_two_at_once(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    with (
        at_work(lab, toys.backend(), "link off 3", Quiet(), toys.stop),
        pytest.raises(LabError, match=r"held by .*link off 3"),
    ):
        run_apply(toys, MultiTree())
    assert toys.orders == 0


def test_a_changed_inventory_does_not_recover(tmp_path: Path) -> None:
    own = small_lab(tmp_path / "toys")
    toys = ToyLab(own, factory_state(own), troubles={20: "Ctrl-C twice"})
    run_apply(toys, MultiTree())
    cables = tmp_path / "toys" / "cables.csv"
    cables.write_text(cables.read_text(encoding="utf-8").replace(",yes", ",no", 1), encoding="utf-8")
    with pytest.raises(LabError, match="inventory of lab toys has changed"):
        run_recover(replace(toys, lab=load_lab(tmp_path / "toys")))


def test_a_plan_of_another_state_or_for_other_switches_is_refused(lab: Lab) -> None:
    state, can = trees_state(lab), ToyLab(lab, trees_state(lab)).abilities
    plan = plan_for(Site(lab, abilities=can), state, LinkOff(next(lab.trunks()).name))
    require_start(plan, state, can)
    for found, abilities in ((factory_state(lab), can), (state, {})):
        with pytest.raises(PlanError, match="proved for another state"):
            require_start(plan, found, abilities)


def test_a_lab_that_is_not_as_expected_is_left_alone(lab: Lab) -> None:
    toys = ToyLab(lab, factory_state(lab))
    with pytest.raises(Drift):
        run_apply(toys, MultiTree(), options=Options("apply", expected=trees_state(lab)))
    assert toys.orders == 0
    assert read_journal(StateFolder(lab.name).journal) is None
    assert run_apply(toys, MultiTree(), options=Options("apply", expected=factory_state(lab))).ending == "applied"


@pytest.mark.parametrize("scene", _SCENES)
def test_the_journal_keeps_what_was_wished_for(lab: Lab, scene: str) -> None:
    start, wish = scene_of(lab, scene)
    toys = ToyLab(lab, start)
    run_apply(toys, wish)
    begun = record_of(lab).begun
    assert begun.wish == wish
    again = plan_for(Site(lab, begun.management, toys.abilities), begun.before, wish)
    assert again.steps == begun.steps, "it says how the lab came to its state"


def test_only_the_proof_makes_a_proved_plan(lab: Lab) -> None:
    state = trees_state(lab)
    plan = plan_for(Site(lab), state, LinkOff(next(lab.trunks()).name))
    assert (plan.start, plan.end) == (state, replay(plan.changes, state))
    with pytest.raises((TypeError, ValueError)):
        replace(plan, steps=())
    with pytest.raises(AssertionError, match=r"controller\.planning\.proof"):
        ProvedPlan(plan.steps, state, plan.end, None, {}, seal=object())
    with pytest.raises(AssertionError, match="one ends"):
        join_proved((plan, plan))
