"""Traffic of hosts and streams, from ranks and from counters."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.regulation.network import channel_loads, tree_ways
from eee_testbed.regulation.traffic import Counted, Senders, between_hosts, from_counters, streams_of
from tests.support.laws import law
from tests.support.regulation.networks import complete


def test_ranks_of_a_host_reach_no_link() -> None:
    sizes = ((0, 5, 7, 0), (1, 0, 0, 2), (0, 0, 0, 9), (0, 3, 0, 0))
    assert between_hosts(sizes, lambda rank: f"n{rank // 2}") == {("n0", "n1"): 9, ("n1", "n0"): 3}


def test_streams_are_by_tree_and_sum_by_switch() -> None:
    senders = (Senders("s0", ("a",), frozenset({1})), Senders("s0", ("b",), frozenset({2})))
    homes = {"a": "s0", "b": "s0", "c": "s1", "d": "s1"}
    first, second = streams_of(senders, homes, {("a", "c"): 3, ("a", "d"): 4, ("b", "a"): 9, ("b", "c"): 1})
    assert (first.byte_to, second.byte_to) == ({"s1": 7}, {"s1": 1})


def _counted(hosts: Mapping[str, str], sizes: Mapping[tuple[str, str], int]) -> tuple[dict[str, float], ...]:
    sent = dict.fromkeys(hosts, 0.0)
    received = dict.fromkeys(hosts, 0.0)
    for (source, target), size in sizes.items():
        sent[source] += size
        received[target] += size
    return sent, received


@law(40)
@given(data=st.data(), count=st.integers(2, 4))
def test_the_estimate_fits_every_counter(data: st.DataObject, count: int) -> None:
    """Hosts' ports and trunks' channels then show what the estimate would cause."""
    network = complete(count)
    hosts = {f"n{n}": f"s{n % count}" for n in range(2 * count)}
    sizes = {(a, b): data.draw(st.integers(1000, 100_000)) for a in hosts for b in hosts if a != b}
    senders = tuple(
        Senders(home, tuple(host for host in hosts if hosts[host] == home), frozenset(network.trunks))
        for home in network.homes
    )
    trees = tuple(tree_ways(network, home, network.trunks) for home in network.homes)
    truth = channel_loads(streams_of(senders, hosts, sizes), trees)
    sent, received = _counted(hosts, sizes)
    counted = Counted(sent, received, {channel: float(load) for channel, load in truth.items()})
    estimate = from_counters(senders, trees, hosts, counted)
    assert estimate.worst_share < 0.01
    found = channel_loads(streams_of(senders, hosts, estimate.byte_by_pair), trees)
    for channel, load in truth.items():
        assert abs(found[channel] - load) <= 0.01 * load + len(sizes)


def test_one_host_a_switch_is_seen_exactly() -> None:
    """In a complete graph each channel is of one pair of switches."""
    network = complete(4)
    hosts = {f"n{n}": f"s{n}" for n in range(4)}
    sizes = {("n0", "n1"): 1000, ("n1", "n2"): 50, ("n3", "n0"): 7}
    senders = tuple(Senders(hosts[host], (host,), frozenset(network.trunks)) for host in hosts)
    trees = tuple(tree_ways(network, home, network.trunks) for home in network.homes)
    truth = channel_loads(streams_of(senders, hosts, sizes), trees)
    sent, received = _counted(hosts, sizes)
    counted = Counted(sent, received, {channel: float(load) for channel, load in truth.items()})
    assert from_counters(senders, trees, hosts, counted).byte_by_pair == sizes


def test_counters_that_contradict_each_other_are_seen() -> None:
    """A host that received far more than anybody sent, as floods from elsewhere do."""
    network = complete(2)
    hosts = {"n0": "s0", "n1": "s1"}
    senders = tuple(Senders(hosts[host], (host,), frozenset(network.trunks)) for host in hosts)
    trees = tuple(tree_ways(network, home, network.trunks) for home in network.homes)
    counted = Counted({"n0": 100.0, "n1": 100.0}, {"n0": 100.0, "n1": 5000.0}, {})
    assert from_counters(senders, trees, hosts, counted).worst_share > 0.5
