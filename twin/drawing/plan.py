"""What a drawn lab is made of: its switches, hosts and strips, and which switches are joined."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Literal, get_args

from eee_testbed.twin.drawing.models import Model, StripModel

Shape = Literal["complete", "ring", "line", "star"]
SHAPES: Final[tuple[Shape, ...]] = get_args(Shape)
"""Which switches are joined: each with each other; each with the next; the same without the last; each with sw1."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A lab. `subnet`: third byte of its management addresses; `loopback`: second byte of its devices' addresses."""

    name: str
    title: str
    subnet: int
    loopback: int
    switches: tuple[Model, ...]
    strips: tuple[StripModel, ...]
    hosts: int
    first_trunk: int  # first copper port of a switch for links to other switches
    links_per_pair: int
    shape: Shape = "complete"

    def switch_name(self, index: int) -> str:
        """Name of a switch, by its index from 0."""
        return f"sw{index + 1}"

    def host_name(self, index: int) -> str:
        """Name of a host, by its index from 0."""
        return f"n{index + 1:02d}"

    def hosts_of(self, switch: int) -> range:
        """Indices of the hosts at a switch: hosts are distributed evenly, in order; the first switches have more."""
        share, more = divmod(self.hosts, len(self.switches))
        first = switch * share + min(switch, more)
        return range(first, first + share + (switch < more))

    def pairs(self) -> list[tuple[int, int]]:
        """Indices of switches that are joined, the lower one first."""
        return joined(len(self.switches), self.shape)

    def trunks(self) -> Iterator[tuple[tuple[int, str], tuple[int, str]]]:
        """Switch and port at both ends of each link between switches."""
        for a, b in self.pairs():
            for lane in range(self.links_per_pair):
                yield (a, self._trunk_port(a, b, lane)), (b, self._trunk_port(b, a, lane))

    def shut_ports(self, switch: int) -> list[str]:
        """Ports of a switch that are shut in a new lab: all trunks but a tree of them, so that no frame loops."""
        tree = self._tree()
        return [
            self._trunk_port(switch, peer, lane)
            for peer in self._peers(switch)
            for lane in range(self.links_per_pair)
            if lane or frozenset((switch, peer)) not in tree
        ]

    def _peers(self, switch: int) -> list[int]:
        return sorted(sum(pair) - switch for pair in self.pairs() if switch in pair)

    def _trunk_port(self, switch: int, peer: int, lane: int) -> str:
        """Port of a switch that holds the lane-th link to a peer."""
        slot = self._peers(switch).index(peer)
        return self.switches[switch].port(self.first_trunk + slot * self.links_per_pair + lane)

    def _tree(self) -> set[frozenset[int]]:
        """Pairs of switches that make up a tree with shortest ways from the first switch."""
        reached, tree = [0], set[frozenset[int]]()
        for switch in reached:
            for peer in self._peers(switch):
                if peer not in reached:
                    reached.append(peer)
                    tree.add(frozenset((switch, peer)))
        return tree


def joined(switches: int, shape: Shape) -> list[tuple[int, int]]:
    """Indices of switches that a shape joins, the lower one first; a ring of two is a line."""
    line = list(pairwise(range(switches)))
    match shape:
        case "complete":
            return list(combinations(range(switches), 2))
        case "ring":
            return [*line, (0, switches - 1)] if switches > 2 else line
        case "line":
            return line
        case "star":
            return [(0, peer) for peer in range(1, switches)]
