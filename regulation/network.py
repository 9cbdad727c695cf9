"""A network of switches and trunks, what is sent over trees in it, and the load of its uni-directional channels. Pure.

A trunk has two channels, one in each direction (Koibuchi 2011, V.B.3). Amounts are in bytes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.topology import Topology

Channel = tuple[int, str]
"""A direction of a trunk: its number, and the switch that sends into it."""

Ways = Mapping[str, tuple[str, int]]
"""A tree as seen from its root: of each other switch where frames come from, and over which trunk."""


@dataclass(frozen=True, slots=True)
class Trunk:
    """A trunk between the switches `a` and `b`, of `width` cables with `rate_mbps` each that share its load.

    Simplification: the load is shared evenly by the cables of an aggregate. Real switches share by a hash of addresses,
    so a single cable may carry all that one pair of hosts sends; the cables' own counters show it.
    """

    number: int
    a: str
    b: str
    rate_mbps: int
    width: int = 1
    switchable: bool = True

    def other(self, switch: str) -> str:
        """The switch at the other end."""
        return self.b if switch == self.a else self.a


@dataclass(frozen=True, slots=True)
class Network:
    """`homes` are the switches that have hosts, in the order of `switches`, which breaks ties."""

    switches: tuple[str, ...]
    homes: tuple[str, ...]
    trunks: Mapping[int, Trunk]

    @classmethod
    def of(cls, topology: Topology, off: Collection[int] = ()) -> Self:
        """Of a lab, without the trunks in `off`. A cable from a switch to itself is left out."""
        trunks = {
            number: Trunk(
                number,
                link.a.device,
                link.b.device,
                topology.cables[number][0].rate_mbps,
                len(topology.cables[number]),
                link.switchable,
            )
            for number, link in topology.trunks.items()
            if number not in off and link.a.device != link.b.device
        }
        homes = tuple(name for name in topology.switches if topology.residents[name])
        return cls(topology.switches, homes, trunks)

    def ways(self, root: str, links: Iterable[int]) -> dict[str, tuple[str, int]]:
        """Breadth-first from `root` over some trunks, by number."""
        near: defaultdict[str, list[int]] = defaultdict(list)
        for number in sorted(links):
            near[self.trunks[number].a].append(number)
            near[self.trunks[number].b].append(number)
        found: dict[str, tuple[str, int]] = {}
        queue = [root]
        for here in queue:
            for number in near[here]:
                there = self.trunks[number].other(here)
                if there != root and there not in found:
                    found[there] = here, number
                    queue.append(there)
        return found

    def connects(self, links: Collection[int]) -> bool:
        """Whether some trunks join all switches that have hosts."""
        return not self.homes or {*self.homes[1:]} <= self.ways(self.homes[0], links).keys()


@dataclass(frozen=True, slots=True)
class Stream:
    """What the hosts of one switch, the root of their tree, send over that tree, in bytes by switch of the receivers.

    Traffic between hosts of one switch passes no trunk and is left out. Whole bytes: sums of them are exact.
    """

    root: str
    hosts: tuple[str, ...]
    byte_to: Mapping[str, int]


def pruned(root: str, ways: Ways, homes: Collection[str]) -> dict[str, tuple[str, int]]:
    """A tree without branches that reach no switch with hosts."""
    needed: set[str] = set()
    for home in homes:
        at = home
        while at != root and at in ways and at not in needed:
            needed.add(at)
            at = ways[at][0]
    return {name: way for name, way in ways.items() if name in needed}


def links_of(ways: Ways) -> frozenset[int]:
    """The trunks of a tree."""
    return frozenset(number for _, number in ways.values())


def tree_ways(network: Network, root: str, links: Collection[int]) -> dict[str, tuple[str, int]]:
    """How frames from `root` run over a tree; PlanError if the tree does not reach every switch with hosts."""
    unknown = sorted(set(links) - network.trunks.keys())
    if unknown:
        raise PlanError(f"trunks {unknown} of a tree are not up: apply routing to the lab first.")
    ways = pruned(root, network.ways(root, links), network.homes)
    missing = [name for name in network.homes if name != root and name not in ways]
    if missing:
        raise PlanError(f"the tree of {root} does not reach {', '.join(missing)}: apply routing to the lab first.")
    return ways


def path_of(ways: Ways, root: str, target: str) -> list[Channel]:
    """The channels from the root of a tree to a switch, the last one first."""
    path = []
    at = target
    while at != root:
        at, number = ways[at]
        path.append((number, at))
    return path


def channel_loads(streams: Sequence[Stream], trees: Sequence[Ways]) -> dict[Channel, int]:
    """Bytes on each channel that a tree uses: Koibuchi 2011, V.B.3, step 2.

    A counter for each channel begins at zero; of each source and destination the counters of all channels of their path
    grow by the amount that is sent. Channels of a tree that carry nothing are in it with 0.
    """
    counters: dict[Channel, int] = {}
    for stream, ways in zip(streams, trees, strict=True):
        for here, number in ways.values():
            counters.setdefault((number, here), 0)
        for target, amount_byte in stream.byte_to.items():
            for channel in path_of(ways, stream.root, target):
                counters[channel] += amount_byte
    return counters
