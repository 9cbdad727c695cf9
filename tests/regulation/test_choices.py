"""Koibuchi's selection and the least power under the same bound."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.lab.errors import PlanError
from eee_testbed.regulation.choice import Choice, choice_of, require_kept
from eee_testbed.regulation.koibuchi import koibuchi
from eee_testbed.regulation.least_power import least_power, lower_bound
from eee_testbed.regulation.levels import Levels
from eee_testbed.regulation.network import Network, Stream, Ways, channel_loads, links_of
from tests.support.laws import law
from tests.support.regulation.networks import cases, complete, levels_for, shortest, streams_for

Bounded = tuple[Network, tuple[Stream, ...], tuple[Ways, ...], Levels]
KNOBS = st.sampled_from(("off", "speed", "eee"))


def _holds(network: Network, streams: tuple[Stream, ...], levels: Levels, choice: Choice) -> None:
    """Every channel below peak, hosts joined over what is on, no more power than the baseline; counted anew."""
    for (number, _), load in channel_loads(streams, choice.trees).items():
        assert load < choice.levels[number].capacity_byte
    on = [number for number, level in choice.levels.items() if level.cables]
    assert network.connects(on)
    for stream, ways in zip(streams, choice.trees, strict=True):
        assert links_of(ways) <= set(on)
        assert {*network.homes} <= {stream.root, *ways}
    assert choice.watt <= sum(own[0].watt for own in levels.values()) + 1e-9
    for number, level in choice.levels.items():
        assert level in levels[number]


@st.composite
def bounded(draw: st.DrawFn, most_percent: int, most: int = 6) -> Bounded:
    """A network with streams on trees, and levels whose peak is up to so many percent above the busiest channel."""
    network, streams, trees = draw(cases(most))
    busiest = max(channel_loads(streams, trees).values(), default=0)
    peak = busiest * (1 + draw(st.integers(0, most_percent)) / 100) + 1
    return network, streams, trees, levels_for(network, peak, draw(KNOBS), members=draw(st.booleans()))


@law(60)
@given(bounded(200))
def test_koibuchi_keeps_the_bound(case: Bounded) -> None:
    network, streams, trees, levels = case
    _holds(network, streams, levels, koibuchi(network, streams, trees, levels))


@law(25)
@given(bounded(100, most=4))
def test_least_power_keeps_the_bound_and_is_never_above_koibuchi(
    case: Bounded,
) -> None:
    network, streams, trees, levels = case
    best = least_power(network, streams, trees, levels, time_limit_s=20)
    _holds(network, streams, levels, best)
    assert best.watt <= koibuchi(network, streams, trees, levels).watt + 1e-9
    assert lower_bound(network, streams, levels) <= best.watt + 1e-9
    assert best.gap < 1e-6


def test_each_bundle_of_a_complete_graph_keeps_the_cables_that_its_traffic_needs() -> None:
    """Five cables a pair, as in the paper: 250 bytes of 100 a cable take three, 90 take one."""
    network = complete(3, width=5)
    sizes = {("s0", "s1"): 250, ("s1", "s0"): 10, ("s0", "s2"): 90, ("s1", "s2"): 90, ("s2", "s0"): 90}
    streams = streams_for(network, sizes)
    levels = levels_for(network, 100, members=True)
    # The pairs of s2 stay where they are: one cable each carries 90, and 180 on one trunk would need two.
    choice = koibuchi(network, streams, shortest(network, streams), levels)
    assert [choice.levels[number].cables for number in (1, 2, 3)] == [3, 1, 1]
    assert [choice.levels[number].name for number in (1, 2, 3)] == ["3 of 5", "1 of 5", "1 of 5"]


def test_trees_have_to_reach_every_host_over_links_that_are_on() -> None:
    network = complete(3)
    streams = streams_for(network, {})
    trees = shortest(network, streams)
    levels = levels_for(network, 100)
    on = {number: some[0] for number, some in levels.items()}
    require_kept(network, streams, choice_of("toy", streams, trees, on))
    used = min(links_of(trees[0]))
    off = next(level for level in levels[used] if level.is_off)
    over = choice_of("toy", streams, trees, {**on, used: off})
    with pytest.raises(PlanError, match="at level 'off' it may carry less than 0"):
        require_kept(network, streams, over)
    with pytest.raises(PlanError, match="the tree of s0 would not reach every host"):
        require_kept(network, streams, replace(over, load_byte={}))
    short = ({name: way for name, way in trees[0].items() if name != "s2"}, *trees[1:])
    with pytest.raises(PlanError, match="the tree of s0 would not reach every host"):
        require_kept(network, streams, choice_of("toy", streams, short, on))


def test_less_than_peak_means_less() -> None:
    """A channel that carries exactly peak is not below it."""
    network = complete(2, parallel=2)
    streams = streams_for(network, {("s0", "s1"): 100})
    trees = shortest(network, streams)
    with pytest.raises(PlanError, match=r"not below peak with all links on .the busiest carries 100 bytes"):
        koibuchi(network, streams, trees, levels_for(network, 100))
    assert len(koibuchi(network, streams, trees, levels_for(network, 100.5)).off) == 1


def test_paths_of_a_trunk_that_goes_off_go_around() -> None:
    """Without traffic between s1 and s2, their trunk goes off, and what they might send goes over s0."""
    network = complete(3)
    sizes = {("s0", "s1"): 50, ("s1", "s0"): 50, ("s0", "s2"): 50, ("s2", "s0"): 50}
    streams = streams_for(network, sizes)
    choice = koibuchi(network, streams, shortest(network, streams), levels_for(network, 60))
    (off,) = choice.off
    assert {network.trunks[off].a, network.trunks[off].b} == {"s1", "s2"}
    assert choice.trees[1]["s2"][0] == "s0"


def test_trees_and_widths_together_need_less_than_koibuchi() -> None:
    """The least loaded trunk first is the wrong order here; the program finds the tree that carries everything."""
    network = complete(4)
    sizes = {("s0", "s1"): 30, ("s1", "s2"): 20, ("s2", "s3"): 20, ("s3", "s0"): 20, ("s0", "s2"): 10}
    streams = streams_for(network, sizes)
    trees = shortest(network, streams)
    for peak in range(31, 80, 4):
        levels = levels_for(network, peak)
        best, first = least_power(network, streams, trees, levels), koibuchi(network, streams, trees, levels)
        assert best.watt <= first.watt
        assert best.gap < 1e-6


def test_a_slower_link_may_carry_peak_in_proportion() -> None:
    network = complete(2)
    streams = streams_for(network, {("s0", "s1"): 9})
    choice = koibuchi(network, streams, shortest(network, streams), levels_for(network, 100, "speed"))
    assert choice.levels[1].name == "100 Mb/s"
    streams = streams_for(network, {("s0", "s1"): 10})
    choice = koibuchi(network, streams, shortest(network, streams), levels_for(network, 100, "speed"))
    assert choice.levels[1].name == "on"


def test_links_that_may_not_be_switched_stay() -> None:
    network = complete(3)
    kept = {n: type(trunk)(n, trunk.a, trunk.b, 1000, 1, switchable=False) for n, trunk in network.trunks.items()}
    fixed = Network(network.switches, network.homes, kept)
    streams = streams_for(fixed, {})
    assert not koibuchi(fixed, streams, shortest(fixed, streams), levels_for(fixed, 100)).off


def test_the_bound_knows_what_a_switch_has_to_carry() -> None:
    """Five cables between two switches, and traffic for three: 2.5 cables at least, as the bound may split them."""
    network = complete(2, parallel=5)
    streams = streams_for(network, {("s0", "s1"): 25})
    levels = levels_for(network, 10)
    assert lower_bound(network, streams, levels) == pytest.approx(2.5)


@pytest.mark.slow
def test_a_large_network_has_a_gap() -> None:
    """More than 50 switches: the heuristic, with what is not proved."""
    network = complete(51)
    streams = streams_for(network, {(a, b): 1 for a in network.homes for b in network.homes if a != b})
    levels = levels_for(network, 20)
    choice = least_power(network, streams, shortest(network, streams), levels)
    _holds(network, streams, levels, choice)
    assert choice.how == "heuristic"
    assert 0 < choice.gap < 1
    assert choice.watt * (1 - choice.gap) == pytest.approx(lower_bound(network, streams, levels))
