"""Networks, traffic and trees for tests of regulation: random ones, and Koibuchi's complete graph."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from hypothesis import strategies as st

from eee_testbed.regulation.levels import Knob, Levels, assumed_watts, levels_of
from eee_testbed.regulation.network import Network, Stream, Trunk, Ways, tree_ways


def complete(switches: int, width: int = 1, parallel: int = 1) -> Network:
    """A complete graph: `parallel` trunks of `width` cables between every two switches."""
    names = tuple(f"s{n}" for n in range(switches))
    pairs = [pair for pair in combinations(names, 2) for _ in range(parallel)]
    trunks = {n: Trunk(n, a, b, 1000, width) for n, (a, b) in enumerate(pairs, start=1)}
    return Network(names, names, trunks)


def streams_for(network: Network, byte_by_pair: Mapping[tuple[str, str], int]) -> tuple[Stream, ...]:
    """A stream for each switch with hosts."""
    return tuple(
        Stream(root, (f"host of {root}",), {b: size for (a, b), size in byte_by_pair.items() if a == root and size})
        for root in network.homes
    )


def shortest(network: Network, streams: Sequence[Stream]) -> tuple[Ways, ...]:
    """Shortest-path trees over all trunks."""
    return tuple(tree_ways(network, stream.root, network.trunks) for stream in streams)


def levels_for(network: Network, peak_byte: float, knob: Knob = "off", *, members: bool = False) -> Levels:
    """Levels with one peak for all trunks."""
    return levels_of(network, knob, dict.fromkeys(network.trunks, peak_byte), assumed_watts, members=members)


@st.composite
def networks(draw: st.DrawFn, most: int = 6) -> Network:
    """Connected networks of a few switches, some without hosts, with parallel trunks and aggregates."""
    count = draw(st.integers(2, most))
    names = tuple(f"s{n}" for n in range(count))
    homes = tuple(name for name in names if name in {names[0], names[-1]} or draw(st.booleans()))
    pairs = [(names[draw(st.integers(0, n - 1))], names[n]) for n in range(1, count)]
    pairs += draw(st.lists(st.sampled_from(list(combinations(names, 2))), max_size=2 * count))
    trunks = {
        number: Trunk(number, a, b, draw(st.sampled_from((1000, 10_000))), draw(st.integers(1, 3)), draw(_MOSTLY))
        for number, (a, b) in enumerate(pairs, start=1)
    }
    return Network(names, homes, trunks)


_MOSTLY = st.sampled_from((True, True, True, False))


@st.composite
def cases(draw: st.DrawFn, most: int = 6) -> tuple[Network, tuple[Stream, ...], tuple[Ways, ...]]:
    """A network, what is sent, and shortest trees."""
    network = draw(networks(most))
    sizes = {(a, b): draw(st.integers(0, 1000)) for a in network.homes for b in network.homes if a != b}
    streams = streams_for(network, sizes)
    return network, streams, shortest(network, streams)
