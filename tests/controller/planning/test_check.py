"""The proof of plans: it lets nothing through that frames, walked one by one, show to be wrong."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.state import (
    Change,
    Draft,
    PortChange,
    PortState,
    State,
    StaticsChange,
    StpChange,
    VlanChange,
    factory_state,
    replay,
)
from eee_testbed.controller.planning.check import LOOP, NO_MANAGEMENT, Fault, Management, Watch, check
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.controller.planning.wishes import LinkOff
from eee_testbed.lab.errors import PlanError, UnsafePlan
from eee_testbed.lab.model import Lab
from tests.support.graph_lab import graph_lab
from tests.support.labs.frame_walk import harms
from tests.support.laws import law
from tests.support.plain_check import check_plainly, faults_of

LAB = graph_lab(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (0, 1)], [1, 2, 1, 1])
START = factory_state(LAB)
GOOD = multi_tree(LAB, START, shortest_routes)[1]
CHANGES = make_plan(LAB, START, GOOD).changes


def _twist(state: State, random: Random) -> Change:
    """Any change of one thing, right or wrong."""
    name = random.choice(sorted(state.switches))
    switch = state.switches[name]
    port = random.choice(sorted(switch.ports))
    vid = random.choice([1, *sorted(switch.vids), 20])
    was = switch.ports[port]
    kind = random.randrange(11)
    if kind == 0:
        return VlanChange(name, vid, vid in switch.vids, vid not in switch.vids)
    if kind == 1:
        return StpChange(name, switch.stp, not switch.stp)
    if kind == 2:
        table = dict(switch.statics.get(vid, {}))
        table[random.choice(LAB.hosts).mac] = port
        return StaticsChange(name, vid, switch.statics.get(vid, {}), table)
    now = {
        3: replace(was, admin_up=not was.admin_up),
        4: replace(was, tagged_vids=was.tagged_vids ^ {vid}, untagged_vids=was.untagged_vids - {vid}),
        5: replace(was, untagged_vids=was.untagged_vids ^ {vid}, tagged_vids=was.tagged_vids - {vid}),
        6: replace(was, pvid=vid),
        7: replace(was, acceptance="all" if was.acceptance == "tagged" else "tagged"),
        8: replace(was, ingress_filtering=not was.ingress_filtering),
        9: replace(was, speed_mbps=100 if was.speed_mbps is None else None),
        10: replace(was, stp=not was.stp),
    }[kind]
    return PortChange(name, port, was, now)


def _twists(state: State, random: Random, count: int) -> list[Change]:
    found: list[Change] = []
    for _ in range(count):
        change = _twist(state, random)
        state = replay([change], state)
        found.append(change)
    return found


def _verdict(prove: object, lab: Lab, state: State, changes: list[Change]) -> tuple[int, str, tuple[str, ...]] | None:
    try:
        prove(lab, state, changes)  # type: ignore[operator]
    except UnsafePlan as error:
        return error.step, error.harm, error.path
    return None


def _same(one: tuple[int, str, tuple[str, ...]] | None, other: tuple[int, str, tuple[str, ...]] | None) -> bool:
    """The same step and kind of fault; which of several cuts is shown may differ."""
    return (one and one[0]) == (other and other[0])


def _running_stp(state: State) -> bool:
    return any(switch.stp for switch in state.switches.values())


@law(400)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_a_plan_that_passes_the_check_neither_loops_nor_cuts(random: Random, count: int) -> None:
    state = replay(_twists(GOOD, random, count), GOOD)
    if _running_stp(state):
        return
    faults = faults_of(LAB, state, [host.name for host in LAB.hosts])
    found = harms(LAB, state)
    assert faults or not found
    assert "loop" not in found or any("loop" in fault.harm for fault in faults)


@law(150)
@given(st.randoms(use_true_random=False), st.booleans())
def test_the_quick_check_and_the_plain_one_agree(random: Random, factory: bool) -> None:  # noqa: FBT001
    start = START if factory else GOOD
    twists = _twists(start, random, 6)
    assert _same(_verdict(check, LAB, start, twists), _verdict(check_plainly, LAB, start, twists))


@law(150)
@given(st.randoms(use_true_random=False), st.booleans())
def test_a_check_that_is_kept_up_equals_a_new_one_after_every_change(random: Random, factory: bool) -> None:  # noqa: FBT001
    """Beyond the first fault, too: a rollback goes on from states that have some."""
    state = START if factory else GOOD
    hosts = [host.name for host in LAB.hosts]
    watch = Watch(LAB, state, hosts)
    for change in _twists(state, random, 8):
        watch.apply(change)
        state = replay([change], state)
        assert {fault.harm for fault in watch.faults} == {fault.harm for fault in faults_of(LAB, state, hosts)}


PAIR = graph_lab(2, [(0, 1), (0, 1)], [1, 1])


@law(300)
@given(st.randoms(use_true_random=False), st.integers(0, 15))
def test_a_check_that_is_kept_up_equals_a_new_one_where_what_joins_vlans_comes_and_goes(
    random: Random, spanning: int
) -> None:
    """Two cables side by side: few settings, so that they are changed there and back. Spanning tree on some of them."""
    state, hosts = factory_state(PAIR), [host.name for host in PAIR.hosts]
    trunks = [(end.device, end.port) for link in PAIR.trunks() for end in (link.a, link.b)]
    off = [place for number, place in enumerate(trunks) if not spanning >> number & 1]
    state = replay([_port(state, *place, stp=False) for place in off], state)
    watch = Watch(PAIR, state, hosts)
    for _ in range(12):
        place = random.choice(trunks)
        was = state.port(*place)
        settings_ = random.choice(
            [
                {"pvid": 3 - was.pvid},
                {"untagged_vids": was.untagged_vids ^ {random.choice((1, 2))}},
                {"stp": not was.stp},
                {"admin_up": not was.admin_up},
            ]
        )
        change = _port(state, *place, **settings_)
        watch.apply(change)
        state = replay([change], state)
        assert {fault.harm for fault in watch.faults} == {fault.harm for fault in faults_of(PAIR, state, hosts)}


LAGGED = graph_lab(2, [(0, 1), (0, 1), (0, 1)], [2, 1], lag_cables={0: 2})
VIDS = (1, 2, 3)


def _all_of(watch: Watch) -> tuple[object, ...]:
    """Everything that a watch tells; of several cuts of one kind it may show any."""
    ports = [(name, port) for name, ports in watch.draft.ports.items() for port in ports]
    return (
        {fault.harm for fault in watch.faults},
        watch.has_loop,
        watch.half_members,
        watch.crossings,
        watch.speaking,
        watch.managed,
        [watch.receivers(host) for host in watch.hosts],
        [watch.is_trunk_up(*place) for place in ports],
    )


def _step(state: State, random: Random) -> Change:
    """One of few settings of a port or a switch, so that they are changed there and back."""
    name = random.choice(sorted(state.switches))
    port = random.choice(sorted(state.switches[name].ports))
    was, vid = state.port(name, port), random.choice(VIDS)
    settings_: list[dict[str, object]] = [
        {"pvid": vid},
        {"untagged_vids": was.untagged_vids ^ {vid}, "tagged_vids": was.tagged_vids - {vid}},
        {"tagged_vids": was.tagged_vids ^ {vid}, "untagged_vids": was.untagged_vids - {vid}},
        {"stp": not was.stp},
        {"admin_up": not was.admin_up},
    ]
    if port in ("t1", "t2"):
        settings_ += 3 * [{"lag": 1 if was.lag is None else None}]
    return _port(state, name, port, **random.choice(settings_))


@law(60)
@given(st.randoms(use_true_random=False), st.booleans())
def test_a_check_that_is_kept_up_tells_all_that_a_new_one_does(random: Random, spanning: bool) -> None:  # noqa: FBT001
    """Of switches that are managed in VLAN 1, over a LAG whose cables leave and join it, and two cables beside it."""
    state, management = factory_state(LAGGED), Management("sw1", 1)
    set_up: list[Change] = [
        VlanChange(name, vid, before=False, after=True) for name in state.switches for vid in (2, 3)
    ]
    if not spanning:
        set_up += [StpChange(name, before=True, after=False) for name in state.switches]
    state, hosts = replay(set_up, state), [host.name for host in LAGGED.hosts]
    watch = Watch(LAGGED, state, hosts, management)
    for _ in range(25):
        change = _step(state, random)
        watch.apply(change)
        state = replay([change], state)
        assert _all_of(watch) == _all_of(Watch(LAGGED, state, hosts, management))


def test_a_check_that_is_kept_up_still_knows_a_loop_when_a_cable_beside_it_joins_vlans_no_longer() -> None:
    """While VLANs are joined all loops are one fault; after that each VLAN has its own again."""
    lab = graph_lab(2, [(0, 1), (0, 1), (0, 1)], [1, 1])
    state = replay([StpChange(name, before=True, after=False) for name in ("sw1", "sw2")], factory_state(lab))
    ring = {"untagged_vids": frozenset(), "tagged_vids": frozenset({3})}
    state = replay([_port(state, name, port, **ring) for name in ("sw1", "sw2") for port in ("t2", "t3")], state)
    watch = Watch(lab, state, [])
    joining = _port(state, "sw1", "t1", untagged_vids=frozenset({1, 2}), pvid=2)
    for change in (joining, replace(joining, before=joining.after, after=joining.before)):
        watch.apply(change)
        assert watch.faults == faults_of(lab, watch.draft.freeze(), [])
        assert watch.has_loop


@law(60)
@given(st.randoms(use_true_random=False), st.integers(0, len(CHANGES)), st.integers(0, 2))
def test_both_checks_agree_on_a_mutated_plan_and_reject_it_if_frames_loop(
    random: Random, place: int, kind: int
) -> None:
    """A step left out, two steps swapped, or a foreign step put in."""
    changes = list(CHANGES)
    if kind == 0:
        del changes[min(place, len(changes) - 1)]
    elif kind == 1:
        other = random.randrange(len(changes))
        here = min(place, len(changes) - 1)
        changes[here], changes[other] = changes[other], changes[here]
    else:
        changes.insert(place, _twist(replay(changes[:place], START), random))
    try:
        replay(changes, START)
    except PlanError:
        return
    verdict = _verdict(check, LAB, START, changes)
    assert _same(verdict, _verdict(check_plainly, LAB, START, changes))
    if verdict is None:
        draft = Draft(START)
        for change in changes:
            draft.apply(change)
            state = draft.freeze()
            if not _running_stp(state):
                assert not harms(LAB, state)


def _refused(lab: Lab, state: State, *changes: Change) -> UnsafePlan:
    with pytest.raises(UnsafePlan) as caught:
        check(lab, state, changes)
    return caught.value


TRIANGLE = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1])
ONE = multi_tree(TRIANGLE, factory_state(TRIANGLE), one_tree)[1]  # trunks 4 and 6; trunk 5 (sw2:t2, sw3:t1) is spare
TREE_VID = 11


def _port(state: State, switch: str, port: str, **settings: object) -> PortChange:
    was = state.port(switch, port)
    return PortChange(switch, port, was, replace(was, **settings))  # type: ignore[arg-type]


def test_rollbacks_are_patient_with_hosts_apart_and_with_nothing_else() -> None:
    """A rollback of a lab with a fault that parts hosts may part others until its end."""
    harms_of = {f"{LOOP} in VLAN 3": False, f"{NO_MANAGEMENT} in VLAN 3": False, "cut hosts apart in VLAN 3": True}
    assert {harm: Fault(harm, ("sw1", "sw2")).parts_hosts for harm in harms_of} == harms_of


def test_a_loop_is_refused_with_its_step_and_its_cables() -> None:
    first = _port(ONE, "sw2", "t2", tagged_vids=frozenset({TREE_VID}))
    second = _port(ONE, "sw3", "t1", tagged_vids=frozenset({TREE_VID}))
    check(TRIANGLE, ONE, [first])
    error = _refused(TRIANGLE, ONE, first, second)
    assert error.step == 2
    assert "loop in VLAN 11" in error.harm
    assert set(error.path) == {"sw1:t1--sw2:t1", "sw2:t2--sw3:t1", "sw3:t2--sw1:t2"}


def test_a_loop_in_a_vlan_that_no_host_uses_is_refused_too() -> None:
    changes: list[Change] = []
    for switch, ports in {"sw1": ("t1", "t2"), "sw2": ("t1", "t2"), "sw3": ("t1", "t2")}.items():
        for port in ports:
            was = ONE.port(switch, port)
            changes.append(PortChange(switch, port, was, replace(was, tagged_vids=was.tagged_vids | {77})))
    error = _refused(TRIANGLE, ONE, *changes)
    assert (error.step, "VLAN 77" in error.harm) == (6, True)


def test_a_loop_through_two_vlans_is_refused() -> None:
    """The spare cable joins VLAN 11 to itself through untagged VLAN 30 at its one end and PVID 11 at its other."""
    leak = [
        _port(ONE, "sw2", "t2", untagged_vids=frozenset({TREE_VID}), pvid=TREE_VID, acceptance="all"),
        _port(ONE, "sw3", "t1", untagged_vids=frozenset({TREE_VID}), pvid=TREE_VID, acceptance="all"),
    ]
    assert "loop" in _refused(TRIANGLE, ONE, *leak).harm
    unfiltered = [
        _port(ONE, "sw2", "t2", tagged_vids=frozenset({TREE_VID})),
        _port(ONE, "sw3", "t1", ingress_filtering=False),
    ]
    assert "loop" in _refused(TRIANGLE, ONE, *unfiltered).harm


def test_a_loop_that_frames_go_round_one_way_only_is_refused() -> None:
    """The spare cable lets VLAN 11 through in one direction, tagged or untagged, as one end does not filter."""
    ends = ("sw2", "t2"), ("sw3", "t1")
    for sender, receiver in (ends, ends[::-1]):
        tagged = _port(ONE, *sender, tagged_vids=frozenset({TREE_VID}))
        untagged = _port(ONE, *sender, untagged_vids=frozenset({TREE_VID}))
        open_to_tags = _port(ONE, *receiver, ingress_filtering=False)
        open_to_all = _port(ONE, *receiver, ingress_filtering=False, acceptance="all", pvid=TREE_VID)
        for changes in ((tagged, open_to_tags), (untagged, open_to_all)):
            assert harms(TRIANGLE, replay(changes, ONE)) == {"loop"}
            assert "loop" in _refused(TRIANGLE, ONE, *changes).harm
        check(TRIANGLE, ONE, [untagged, open_to_tags])


def test_a_loop_that_changes_vlan_on_every_cable_is_refused() -> None:
    """No VLAN has more than two of the three cables, and together they are a ring: 31, 32, 33, 31."""
    outer = {"sw1": 31, "sw2": 32, "sw3": 33}
    changes = []
    for switch, vid in outer.items():
        for port in ("t1", "t2"):
            vids = ONE.port(switch, port).tagged_vids
            changes.append(
                _port(ONE, switch, port, untagged_vids=frozenset({vid}), pvid=vid, acceptance="all", tagged_vids=vids)
            )
    ring = replay([*changes, _port(ONE, "sw1", "h1", pvid=31, untagged_vids=frozenset({11, 31}))], ONE)
    assert "loop" in harms(TRIANGLE, ring)
    error = _refused(TRIANGLE, ONE, *changes)
    assert (error.step, error.harm) == (6, "close a loop over cables that join VLANs")
    assert len(error.path) == 3


def test_a_static_entry_over_a_cable_that_spanning_tree_may_block_is_refused() -> None:
    start = factory_state(TRIANGLE)
    entry = StaticsChange("sw1", 1, {}, {TRIANGLE.host("n02").mac: "t1"})
    assert "wrong direction" in _refused(TRIANGLE, start, entry).harm
    check(TRIANGLE, replay([_port(start, "sw2", "t2", admin_up=False)], start), [entry])


def test_disabling_spanning_tree_on_a_loop_is_refused_at_the_first_switch() -> None:
    start = factory_state(TRIANGLE)
    error = _refused(TRIANGLE, start, StpChange("sw2", before=True, after=False))
    assert (error.step, "loop" in error.harm) == (1, True)
    assert "loop" in _refused(TRIANGLE, start, _port(start, "sw2", "t1", stp=False)).harm


def test_a_vlan_on_part_of_a_loop_that_spanning_tree_breaks_is_not_relied_upon() -> None:
    start = factory_state(TRIANGLE)
    error = _refused(TRIANGLE, start, _port(start, "sw2", "t2", untagged_vids=frozenset()))
    assert "cut hosts apart in VLAN 1" in error.harm


def test_a_cut_is_refused_and_names_hosts_and_ports() -> None:
    error = _refused(TRIANGLE, ONE, _port(ONE, "sw2", "t1", admin_up=False))
    assert error.step == 1
    assert "cut hosts apart in VLAN 11" in error.harm
    assert set(error.path) & {"n01", "n02", "n03"}
    assert any(":h1" in place for place in error.path)


@pytest.mark.parametrize(
    "settings_",
    [
        {"untagged_vids": frozenset({1})},
        {"untagged_vids": frozenset(), "tagged_vids": frozenset({TREE_VID})},
        {"pvid": 1},
        {"acceptance": "tagged"},
    ],
)
def test_a_host_that_cannot_send_or_hear_is_a_cut(settings_: dict[str, object]) -> None:
    assert _refused(TRIANGLE, ONE, _port(ONE, "sw2", "h1", **settings_)).step == 1


def test_different_speeds_and_a_missing_vlan_are_cuts() -> None:
    slow = _port(ONE, "sw1", "t1", speed_mbps=100), _port(ONE, "sw2", "t1", speed_mbps=1000)
    assert _refused(TRIANGLE, ONE, *slow).step == 2
    assert _refused(TRIANGLE, ONE, VlanChange("sw2", TREE_VID, before=True, after=False)).step == 1


@pytest.mark.parametrize("switch", ["sw1", "sw2"])
def test_a_pvid_at_one_end_that_the_other_does_not_have_is_a_cut(switch: str) -> None:
    lab = graph_lab(2, [(0, 1)], [1, 1])
    state = replay([StpChange(name, before=True, after=False) for name in ("sw1", "sw2")], factory_state(lab))
    assert "cut hosts apart" in _refused(lab, state, _port(state, switch, "t1", pvid=2)).harm


def test_a_static_entry_on_a_wrong_port_is_refused() -> None:
    mac = TRIANGLE.host("n02").mac
    check(TRIANGLE, ONE, [StaticsChange("sw1", TREE_VID, {}, {mac: "t1"})])
    error = _refused(TRIANGLE, ONE, StaticsChange("sw1", TREE_VID, {}, {mac: "t2"}))
    assert "wrong direction" in error.harm
    assert error.path == ("sw1:t2", "sw2:h1", "n02")


def test_a_lab_that_is_broken_already_is_refused_at_step_0() -> None:
    broken = replay([_port(ONE, "sw2", "t1", admin_up=False)], ONE)
    with pytest.raises(UnsafePlan, match="step 0"):
        check(TRIANGLE, replay([_port(ONE, "sw2", "h1", pvid=1)], ONE), [])
    assert _refused(TRIANGLE, broken).step == 0


def test_in_band_management_must_not_be_interrupted() -> None:
    management = Management("sw1", 1)
    lab = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1])
    start = replay(
        [
            _port(factory_state(lab), "sw2", "t2", admin_up=False),
            *(StpChange(f"sw{n}", True, False) for n in (1, 2, 3)),
        ],
        factory_state(lab),
    )
    with pytest.raises(UnsafePlan) as caught:
        make_plan(lab, start, multi_tree(lab, start, one_tree)[1], management)
    assert "management" in caught.value.harm
    after = multi_tree(lab, start, shortest_routes, keep={1})[1]
    assert make_plan(lab, start, after, management).steps
    assert all(after.port(link.a.device, link.a.port).admin_up for link in lab.trunks())
    with pytest.raises(UnsafePlan, match="management"):
        plan_for(Site(lab, management), after, LinkOff(lab.find_link("sw1:t1").name))
    assert plan_for(Site(lab, management), after, LinkOff(lab.find_link("sw2:t2").name)).steps


def test_management_needs_its_vlan_where_the_controller_is_plugged_in_and_on_the_cables() -> None:
    with pytest.raises(UnsafePlan, match="management"):
        check(TRIANGLE, ONE, [], Management("sw1", 99))
    alone = graph_lab(1, [], [1])
    host = _port(factory_state(alone), "sw1", "h1", pvid=11, untagged_vids=frozenset({11}))
    state = replay([VlanChange("sw1", 11, before=False, after=True), host], factory_state(alone))
    gone = VlanChange("sw1", 1, before=True, after=False)
    check(alone, state, [gone])
    with pytest.raises(UnsafePlan, match="management"):
        check(alone, state, [gone], Management("sw1", 1))


def test_a_port_state_of_a_factory_switch_is_what_the_check_expects() -> None:
    assert PortState().vids == {1}
    assert faults_of(TRIANGLE, factory_state(TRIANGLE)) == ()
