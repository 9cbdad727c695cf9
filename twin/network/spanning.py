"""Spanning tree of the twin's switches: computed over all of them at once, without BPDUs.

The result is the tree that RSTP (IEEE 802.1D-2004, clause 17) converges to with default priorities. The root is the
bridge with the lowest address, and every other bridge keeps the port with the lowest cost to it. Of other links, the
end that is farther from the root (by cost, bridge, port) discards.

Simplifications: no BPDU is sent, so a capture shows none. The tree changes within a second of a link or configuration
change, where RSTP takes milliseconds to seconds and classic STP 30 s. Configured priorities and costs are ignored. A
switch without spanning tree is invisible, although a real one forwards BPDUs, so that its neighbours detect a loop
through it. Ports without link discard, so that a link that comes up cannot close a loop before the tree is
computed.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

BridgePort = tuple[str, int]
"""Name of a switch and number of its bridge port."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A link that is up between two bridge ports (LAGs count as one), both with spanning tree."""

    a: BridgePort
    b: BridgePort
    rate_mbps: int


def path_cost(rate_mbps: int) -> int:
    """Cost of a port by its speed (IEEE 802.1D-2004, table 17-3)."""
    return max(1, 20_000_000 // max(rate_mbps, 1))


def blocked_ports(bridges: Mapping[str, bytes], segments: Sequence[Segment]) -> frozenset[BridgePort]:
    """Return the bridge ports that discard; `bridges` maps a switch to its address. Each connected part has a root."""
    cables: dict[str, list[tuple[BridgePort, BridgePort, int]]] = {name: [] for name in bridges}
    for segment in segments:
        cost = path_cost(segment.rate_mbps)
        cables[segment.a[0]].append((segment.a, segment.b, cost))
        cables[segment.b[0]].append((segment.b, segment.a, cost))
    distance: dict[str, int] = {}
    root_port: dict[str, BridgePort] = {}
    for root in sorted(bridges, key=lambda name: bridges[name]):
        if root in distance:
            continue
        # a candidate: cost to the root, the neighbour's address, the neighbour's port, own port
        candidates: list[tuple[int, bytes, int, int, str]] = [(0, b"", 0, 0, root)]
        while candidates:
            cost, _, _, own, name = heapq.heappop(candidates)
            if name in distance:
                continue
            distance[name] = cost
            if name != root:
                root_port[name] = (name, own)
            for near, far, step in cables[name]:
                if far[0] not in distance:
                    heapq.heappush(candidates, (cost + step, bridges[name], near[1], far[1], far[0]))
    return frozenset(_discarding(segments, bridges, distance, root_port))


def _discarding(
    segments: Iterable[Segment],
    bridges: Mapping[str, bytes],
    distance: Mapping[str, int],
    root_port: Mapping[str, BridgePort],
) -> Iterable[BridgePort]:
    for segment in segments:
        _, other = sorted((segment.a, segment.b), key=lambda end: (distance[end[0]], bridges[end[0]], end[1]))
        if root_port.get(other[0]) != other:
            yield other
