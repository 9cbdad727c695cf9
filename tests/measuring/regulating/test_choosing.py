"""Peaks as people write them, and choices under them that are proved."""

from dataclasses import replace
from itertools import combinations

import pytest

from eee_testbed.controller.model.state import State, factory_state
from eee_testbed.controller.planning.limits import UNLIMITED, Abilities
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.controller.planning.wishes import Eee
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.level_wishes import level_of, regulation_at
from eee_testbed.measuring.regulating.choosing import BASELINE, Rules, Traffic, byte_text, choose, peak_named, swept
from eee_testbed.regulation.levels import Knob, assumed_watts
from tests.support.graph_lab import graph_lab
from tests.support.labs.starts import named
from tests.support.labs.toy_lab import ToyDriver

LAB = graph_lab(4, [pair for pair in combinations(range(4), 2) for _ in range(2)], [2] * 4)


def _traffic() -> Traffic:
    start = factory_state(LAB)
    state = make_plan(LAB, start, multi_tree(LAB, start, shortest_routes)[1]).end
    hosts = [host.name for host in LAB.hosts]
    return Traffic.of(LAB, state, {(a, b): 1000 for a in hosts for b in hosts if a != b})


def test_a_peak_is_an_amount_or_a_share() -> None:
    network = _traffic().network
    assert set(peak_named("12MB", network, 1.0).byte_by_trunk.values()) == {12e6}
    assert set(peak_named("0.5 GB", network, 1.0).byte_by_trunk.values()) == {5e8}
    assert set(peak_named("40%", network, 2.0).byte_by_trunk.values()) == {0.4 * 125e6 * 2}


@pytest.mark.parametrize("text", ["", "12", "0MB", "-3MB", "half", "12 mb"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(LabError, match="is not a peak"):
        peak_named(text, _traffic().network, 1.0)


def test_amounts_are_shown_as_they_are_read() -> None:
    for value in (12.0, 1234.0, 5.6e7, 7e9):
        (found,) = set(peak_named(byte_text(value), _traffic().network, 1.0).byte_by_trunk.values())
        assert found == pytest.approx(value, rel=0.01)


def test_a_sweep_begins_where_nothing_more_is_possible_and_ends_where_everything_is() -> None:
    traffic = _traffic()
    peaks = swept(traffic, 4)
    amounts = [min(peak.byte_by_trunk.values()) for peak in peaks]
    assert amounts[0] == pytest.approx(traffic.busiest_byte, rel=0.01)
    assert amounts == sorted(amounts)
    chosen = choose(traffic, peaks, Rules("off", "both", assumed_watts), UNLIMITED)
    offs = [len(option.choice.off) for option in chosen.options]
    assert offs[-2:] == [9, 9]
    assert offs[::2] == sorted(offs[::2])
    assert all(simple <= best for simple, best in zip(offs[::2], offs[1::2], strict=True))
    assert BASELINE in chosen.regulations
    assert chosen.regulations.keys() | chosen.same.keys() == {BASELINE, *(option.name for option in chosen.options)}


@pytest.mark.parametrize("knob", ["speed", "eee"])
def test_other_knobs_leave_every_trunk_on(knob: Knob) -> None:
    traffic = _traffic()
    chosen = choose(traffic, swept(traffic, 3), Rules(knob, "koibuchi", assumed_watts), UNLIMITED)
    assert not any(option.choice.off for option in chosen.options)
    assert any(option.choice.watt < sum(level.watt for level in chosen.baseline.values()) for option in chosen.options)


def _holding(*able: str) -> Abilities:
    """Capabilities of switches that can do everything, of which only some can set a hold time."""
    return {switch.name: replace(ToyDriver.capabilities, hold_settable=switch.name in able) for switch in LAB.switches}


def test_a_hold_time_is_set_where_an_end_can_and_other_links_stay_as_they_are() -> None:
    traffic = _traffic()
    (peak,) = [peak_named("1GB", traffic.network, 1.0)]
    able = LAB.switches[0].name
    chosen = choose(traffic, [peak], Rules("hold", "koibuchi", assumed_watts, hold_us=500), _holding(able))
    (option,) = chosen.options
    sleeping = {number for number, level in option.choice.levels.items() if level.eee}
    trunks = traffic.network.trunks
    assert sleeping == {number for number, trunk in trunks.items() if able in (trunk.a, trunk.b)}
    regulation = chosen.regulations[option.name]
    assert regulation.hold_us == 500
    after = plan_for(Site(LAB, abilities=_holding(able)), traffic.state, regulation).end
    for link in LAB.trunks():
        for end in (link.a, link.b):
            port = after.port(end.device, end.port)
            assert port.eee is (link.number in sleeping)
            assert port.hold_us == (500 if end.device == able else None)
    assert regulation_at(level_of(regulation)) == regulation


def test_a_hold_time_that_no_switch_can_set_is_refused_with_the_families() -> None:
    traffic = _traffic()
    peak = peak_named("1GB", traffic.network, 1.0)
    with pytest.raises(LabError, match=f"no switch of lab {LAB.name} can set a hold time .{LAB.switches[0].family}"):
        choose(traffic, [peak], Rules("hold", "koibuchi", assumed_watts, hold_us=500), _holding())


def test_a_hold_time_is_refused_where_eee_is_on_already() -> None:
    traffic = _traffic()
    link = next(iter(LAB.trunks()))
    on = plan_for(Site(LAB), traffic.state, Eee((link.name,), on=True)).end
    with pytest.raises(LabError, match="EEE is on at"):
        choose(
            replace(traffic, state=on),
            [peak_named("1GB", traffic.network, 1.0)],
            Rules("hold", "koibuchi", assumed_watts, hold_us=500),
            _holding(LAB.switches[0].name),
        )


def test_links_that_have_eee_on_sleep_at_the_baseline_and_keep_it() -> None:
    """So links that go off save what a sleeping link draws, and nothing of EEE is changed."""
    traffic = _traffic()
    every = list(LAB.trunks())
    asleep = replace(traffic, state=plan_for(Site(LAB), traffic.state, Eee(named(every), on=True)).end)
    (peak,) = [peak_named("1GB", traffic.network, 1.0)]
    chosen = choose(asleep, [peak], Rules("off", "koibuchi", assumed_watts), UNLIMITED)
    assert sum(level.watt for level in chosen.baseline.values()) == pytest.approx(0.5 * len(every))
    (option,) = chosen.options
    assert option.choice.watt == pytest.approx(0.5 * (len(every) - len(option.choice.off)))
    after = plan_for(Site(LAB), asleep.state, chosen.regulations[option.name]).end
    assert all(after.port(end.device, end.port).eee for link in every for end in (link.a, link.b))
    with pytest.raises(LabError, match="EEE is on at every link already"):
        choose(asleep, [peak], Rules("eee", "koibuchi", assumed_watts), UNLIMITED)
    some = replace(traffic, state=plan_for(Site(LAB), traffic.state, Eee(named(every[:2]), on=True)).end)
    chosen = choose(some, [peak], Rules("eee", "koibuchi", assumed_watts), UNLIMITED)
    assert {n for n, level in chosen.baseline.items() if level.eee} == {link.number for link in every[:2]}
    assert all(level.eee for level in chosen.options[0].choice.levels.values())


def test_bridges_are_not_slowed_down() -> None:
    """Their traffic has no other path while they restart."""
    lab = graph_lab(3, [(0, 1), (1, 2), (1, 2)], [1] * 3)
    start = factory_state(lab)
    state = make_plan(lab, start, multi_tree(lab, start, shortest_routes)[1]).end
    traffic = Traffic.of(lab, state, {("n01", "n03"): 1})
    (bridge,) = traffic.bridges()
    peak = peak_named("1GB", traffic.network, 1.0)
    chosen = choose(traffic, [peak], Rules("speed", "both", assumed_watts), UNLIMITED)
    for option in chosen.options:
        assert {n for n, level in option.choice.levels.items() if level.name == "on"} == {bridge}


def test_an_aggregate_goes_off_as_a_whole() -> None:
    lab = graph_lab(3, [(0, 1), (0, 2), (1, 2)], [2] * 3, lag_cables={0: 3})
    start = factory_state(lab)
    state = make_plan(lab, start, multi_tree(lab, start, shortest_routes)[1]).end
    hosts = [host.name for host in lab.hosts]
    traffic = Traffic.of(lab, state, {(a, b): 1000 for a in hosts for b in hosts if a != b})
    peak = peak_named("1MB", traffic.network, 1.0)
    chosen = choose(traffic, [peak], Rules("off", "both", assumed_watts), UNLIMITED)
    (lag,) = (number for number, trunk in traffic.network.trunks.items() if trunk.width == 3)
    assert all(option.choice.off == {lag} for option in chosen.options)


def test_trunks_of_in_band_management_stay() -> None:
    """VLAN 2 is tagged on two of three trunks; either may be spared by the traffic, and neither goes off."""
    lab = replace(graph_lab(3, [(0, 1), (0, 2), (1, 2)], [2] * 3), way_in=("sw1", 2))
    start = factory_state(lab)
    state = make_plan(lab, start, multi_tree(lab, start, shortest_routes)[1]).end
    first, second, _ = lab.trunks()
    ends = {(end.device, end.port) for link in (first, second) for end in (link.a, link.b)}
    switches = {
        name: replace(
            switch,
            vids=switch.vids | {2},
            ports={
                port: replace(one, tagged_vids=one.tagged_vids | {2}) if (name, port) in ends else one
                for port, one in switch.ports.items()
            },
        )
        for name, switch in state.switches.items()
    }
    traffic = Traffic.of(lab, State(switches), {})
    fixed = {number for number, trunk in traffic.network.trunks.items() if not trunk.switchable}
    assert fixed == {first.number, second.number}
    chosen = choose(traffic, [peak_named("1MB", traffic.network, 1.0)], Rules("off", "both", assumed_watts), UNLIMITED)
    assert {option.choice.off.isdisjoint(fixed) for option in chosen.options} == {True}
    assert all(option.choice.off for option in chosen.options)
