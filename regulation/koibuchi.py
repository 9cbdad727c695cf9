"""Koibuchi's power-aware link regulation (2011, V.B.3): links go off, or down, while every channel stays below peak.

The three steps of the paper:

1. "Set the acceptable maximum amount of traffic on a single channel as peak": the capacities of `Levels`.
2. "Estimate the amount of the traffic in each channel by the pre-execution of the target parallel application when all
   the links are activated": `network.channel_loads` over the trees that are installed.
3. "Reduce the number of links between switches under the condition that the amount of the application traffic on every
   channel is less than peak."

The paper leaves open in which order links are reduced, and what becomes of paths over a trunk that loses its last
cable. Here a trunk is tried once, the least loaded first. Its paths move to shortest paths over the trunks that are on
(the paper's IV.B), of equal ones the least loaded. The trunk stays off if every channel is then below peak, and the
cables that the moved paths need elsewhere draw less than it did. After that each trunk that is still on gets the level
that draws least among those that its own load allows.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from eee_testbed.lab.errors import PlanError
from eee_testbed.regulation.choice import Choice, choice_of, require_kept
from eee_testbed.regulation.levels import Level, Levels
from eee_testbed.regulation.network import Channel, Network, Stream, Ways, channel_loads, links_of, path_of, pruned

Order = Callable[[int, int], tuple[float, ...]]
"""The key by which trunks are tried, from a trunk's number and the bytes of its busier channel."""


def least_loaded_first(number: int, load_byte: int) -> tuple[float, ...]:
    """The order of `koibuchi`."""
    return load_byte, number


def koibuchi(
    network: Network,
    streams: Sequence[Stream],
    trees: Sequence[Ways],
    levels: Levels,
    order: Order = least_loaded_first,
) -> Choice:
    """The links to reduce. PlanError if a channel is not below peak with all links on."""
    network_levels = {number: own[0] for number, own in levels.items()}
    start = choice_of("baseline", streams, trees, network_levels)
    try:
        require_kept(network, streams, start)
    except PlanError as error:
        most = max(start.load_byte.values(), default=0.0)
        raise PlanError(
            f"nothing can be reduced, as a channel is not below peak with all links on (the busiest carries "
            f"{most:.6g} bytes): {str(error).partition(': ')[2] or 'give a larger peak.'}"
        ) from error
    state = _Paths(network, streams, trees, levels)
    for number in sorted(levels, key=lambda one: order(one, state.busier(one))):
        off = next((level for level in levels[number] if level.is_off), None)
        if off is not None and state.try_off(number, off.watt):
            network_levels[number] = off
    for number in levels:
        if not network_levels[number].is_off:
            network_levels[number] = state.cheapest(number)
    choice = choice_of("Koibuchi 2011, V.B.3", streams, state.trees(), network_levels)
    require_kept(network, streams, choice)
    return choice


class _Paths:
    """The streams' trees and the channels' loads, while trunks go off."""

    def __init__(self, network: Network, streams: Sequence[Stream], trees: Sequence[Ways], levels: Levels) -> None:
        self._network = network
        self._streams = streams
        self._ways = [dict(ways) for ways in trees]
        self._levels = levels
        self._capacity_byte = {number: own[0].capacity_byte for number, own in levels.items()}
        self._load: defaultdict[Channel, int] = defaultdict(int, channel_loads(streams, trees))
        self._near: dict[str, dict[int, str]] = {name: {} for name in network.switches}
        for trunk in network.trunks.values():
            self._near[trunk.a][trunk.number] = trunk.b
            self._near[trunk.b][trunk.number] = trunk.a
        self._users: defaultdict[int, set[int]] = defaultdict(set)
        for index, ways in enumerate(trees):
            for number in links_of(ways):
                self._users[number].add(index)
        self._watt = {number: self.cheapest(number).watt for number in levels}

    def trees(self) -> tuple[Ways, ...]:
        """The trees now."""
        homes = self._network.homes
        return tuple(pruned(stream.root, ways, homes) for stream, ways in zip(self._streams, self._ways, strict=True))

    def busier(self, number: int) -> int:
        """Bytes on the busier channel of a trunk."""
        trunk = self._network.trunks[number]
        return max(self._load.get((number, trunk.a), 0), self._load.get((number, trunk.b), 0))

    def cheapest(self, number: int) -> Level:
        """Of the levels at which a trunk is on and may carry what it carries, the one that draws least."""
        load = self.busier(number)
        return min((level for level in self._levels[number] if load < level.capacity_byte), key=lambda one: one.watt)

    def try_off(self, number: int, off_watt: float) -> bool:
        """Take a trunk off if its paths can move without a channel reaching its capacity, and power is saved."""
        trunk = self._network.trunks[number]
        del self._near[trunk.a][number], self._near[trunk.b][number]
        moved: list[tuple[int, dict[str, tuple[str, int]], Collection[str]]] = []
        touched: set[int] = set()
        for index in sorted(self._users[number]):
            around = self._around(index, number)
            if around is None:
                break
            ways, behind = around
            moved.append((index, self._ways[index], behind))
            raised = self._replace(index, ways, behind)
            touched |= {channel[0] for channel in raised}
            if not all(self._load[channel] < self._capacity_byte[channel[0]] for channel in raised):
                break
        else:
            watts = {other: self.cheapest(other).watt for other in touched}
            if off_watt + sum(watts.values()) < self._watt[number] + sum(self._watt[other] for other in touched):
                self._watt |= watts
                return True
        for index, ways, behind in reversed(moved):
            self._replace(index, ways, behind)
        self._near[trunk.a][number], self._near[trunk.b][number] = trunk.b, trunk.a
        return False

    def _around(self, index: int, number: int) -> tuple[dict[str, tuple[str, int]], Collection[str]] | None:
        """The shortest-path tree of a stream without a trunk of it, and the switches whose paths are others.

        None if a switch with hosts is out of reach.

        Only what lies behind the trunk moves: the other shortest paths are the shortest still.
        """
        ways, root = self._ways[index], self._streams[index].root
        depth = _depths(ways, root, number)
        kept = {name: way for name, way in ways.items() if name in depth}
        # What lies behind the trunk; and switches without hosts, which may be on the way around.
        loose = [name for name in self._network.switches if name not in depth]
        heap = []
        for there in loose:
            ends = [(depth[here], link, here) for link, here in self._near[there].items() if here in depth]
            if ends:
                nearest = min(ends)[0]
                heap.append(
                    min(
                        (steps + 1, self._share(link, here), link, there, here)
                        for steps, link, here in ends
                        if steps == nearest
                    )
                )
        heapq.heapify(heap)
        while heap:
            steps, _, link, there, here = heapq.heappop(heap)
            if there in depth:
                continue
            depth[there] = steps
            kept[there] = here, link
            for onward, beyond in self._near[there].items():
                if beyond not in depth:
                    heapq.heappush(heap, (steps + 1, self._share(onward, there), onward, beyond, there))
        if any(home not in depth for home in self._network.homes):
            return None
        return kept, set(loose)

    def _share(self, number: int, sender: str) -> float:
        return self._load.get((number, sender), 0) / self._capacity_byte[number]

    def _replace(self, index: int, ways: dict[str, tuple[str, int]], behind: Collection[str]) -> set[Channel]:
        """Give a stream another tree, with other paths to the switches in `behind`; returns the channels of these."""
        old, stream = self._ways[index], self._streams[index]
        self._ways[index] = ways
        for name in behind:
            if name in old:
                self._users[old[name][1]].discard(index)
        for name in behind:
            if name in ways:
                self._users[ways[name][1]].add(index)
        raised: set[Channel] = set()
        for target, amount_byte in stream.byte_to.items():
            if target not in behind:
                continue
            for channel in path_of(old, stream.root, target):
                self._load[channel] -= amount_byte
            after = path_of(ways, stream.root, target)
            for channel in after:
                self._load[channel] += amount_byte
            raised.update(after)
        return raised


def _depths(ways: Ways, root: str, without: int) -> dict[str, int]:
    """Trunks from the root to each switch of a tree that is reached without one of its trunks."""
    onward: defaultdict[str, list[str]] = defaultdict(list)
    for there, (here, number) in ways.items():
        if number != without:
            onward[here].append(there)
    depth = {root: 0}
    queue = [root]
    for here in queue:
        for there in onward[here]:
            depth[there] = depth[here] + 1
            queue.append(there)
    return depth
