"""Where frames can go: which VLANs each cable carries between its two ends, and whether that closes a loop. Pure.

Two views of a cable, each of which errs on the safe side only.

* `passes`: everything that may get through in either direction, for finding loops. A frame that leaves untagged is
  in the PVID's VLAN at the other end, so a cable can join two VLANs. A port without ingress filtering takes tagged
  frames of any VLAN. A VLAN that a switch lacks counts as if it were there, and ends at different speeds count as up.
* `carries`: VLANs that surely pass in both directions under the same number, for finding cuts.

A LAG counts as one cable, which is up if one of its cables is: up at both ends, and a member of the LAG at both. A
cable that is a member at one end only has to be shut (`half_members`): it would swallow what that end sends on it. One
that is a member at neither end is a link of its own (`with_loose_cables`).

A spanning-tree protocol runs on a cable if both ends and both switches have it on. It breaks every physical loop of
such cables at an unknown place.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eee_testbed.controller.model.state import Draft, PortState
from eee_testbed.lab.model import Host, Link
from eee_testbed.lab.topology import Topology

Pair = tuple[int, int]
"""A VLAN at the `a` end of a cable, and the VLAN that its frames are in at the `b` end (or came from there)."""


def ends_of(topology: Topology, draft: Draft, number: int, *, surely: bool = False) -> tuple[PortState, PortState]:
    """The settings of a trunk's two ends; those of a LAG are down unless one of its members is up at both ends.

    `surely`: nor is one that joins ports set to different speeds.
    """
    link = topology.trunks[number]
    a, b = (draft.ports[end.device][end.port] for end in (link.a, link.b))
    is_part = number < 0 and not a.lag is b.lag is None
    if is_part or (number in topology.lags and not working_members(topology, draft, number, surely=surely)):
        a, b = replace(a, admin_up=False), replace(b, admin_up=False)
    return a, b


def with_loose_cables(topology: Topology) -> Topology:
    """With each cable of a LAG as a trunk of its own, too, by its negative number: up where no end is in a LAG."""
    cables = [cable for number in topology.lags for cable in topology.cables[number]]
    own = {-cable.number: replace(cable, number=-cable.number) for cable in cables}
    return replace(
        topology,
        trunks={**topology.trunks, **own},
        cables={**topology.cables, **{number: (cable,) for number, cable in own.items()}},
    )


def working_members(topology: Topology, draft: Draft, number: int, *, surely: bool = False) -> tuple[Link, ...]:
    """The cables over which a trunk that is a LAG sends: members at both ends, and up."""
    return tuple(
        cable
        for cable in topology.cables[number]
        if is_member(topology, draft, number, cable) and _is_up(draft, cable, surely=surely)
    )


def is_member(topology: Topology, draft: Draft, number: int, cable: Link) -> bool:
    """Whether a cable is a member of its LAG at both ends; one that is a trunk by itself always is."""
    lag = topology.lags.get(number)
    return all(draft.ports[end.device][end.port].lag == lag for end in (cable.a, cable.b))


def loose_cables(topology: Topology, draft: Draft, number: int) -> tuple[Link, ...]:
    """Cables of a trunk that is a LAG which are up, and not members of it at both ends."""
    return tuple(
        cable
        for cable in topology.cables[number]
        if number in topology.lags
        and _is_up(draft, cable, surely=False)
        and not is_member(topology, draft, number, cable)
    )


def half_members(topology: Topology, draft: Draft, number: int) -> tuple[Link, ...]:
    """Cables of a trunk that is a LAG which are up, and members of a LAG at one end only or of different ones."""
    return tuple(
        cable
        for cable in loose_cables(topology, draft, number)
        if any(draft.ports[end.device][end.port].lag is not None for end in (cable.a, cable.b))
    )


def is_up(topology: Topology, draft: Draft, number: int) -> bool:
    """Whether a trunk's two ends are up."""
    return all(end.admin_up for end in ends_of(topology, draft, number))


def _is_up(draft: Draft, cable: Link, *, surely: bool) -> bool:
    a, b = (draft.ports[end.device][end.port] for end in (cable.a, cable.b))
    return a.admin_up and b.admin_up and not (surely and _disagree(a, b))


def _disagree(a: PortState, b: PortState) -> bool:
    return len({a.speed_mbps, b.speed_mbps} - {None}) > 1


def _into(sender: PortState, receiver: PortState) -> set[Pair]:
    """(VLAN at the sender, VLAN at the receiver) for all frames that get through, were both ports up."""
    members = receiver.vids
    vids = {(vid, vid) for vid in sender.tagged_vids if vid in members or not receiver.ingress_filtering}
    if receiver.acceptance == "all" and (receiver.pvid in members or not receiver.ingress_filtering):
        vids |= {(vid, receiver.pvid) for vid in sender.untagged_vids}
    return vids


def passes(a: PortState, b: PortState) -> frozenset[Pair]:
    """Everything that may get from one end to the other, in either direction."""
    return frozenset().union(*passes_each_way(a, b))


def passes_each_way(a: PortState, b: PortState) -> tuple[frozenset[Pair], frozenset[Pair]]:
    """Everything that may get from `a` to `b`, and from `b` to `a`, either as (VLAN at `a`, VLAN at `b`)."""
    if not (a.admin_up and b.admin_up):
        return frozenset(), frozenset()
    return frozenset(_into(a, b)), frozenset((here, there) for there, here in _into(b, a))


def carries(a: PortState, b: PortState) -> frozenset[int]:
    """VLANs that surely pass in both directions; none if the ends are set to different speeds."""
    if not (a.admin_up and b.admin_up) or _disagree(a, b):
        return frozenset()
    plain = a.untagged_vids & b.untagged_vids & {a.pvid} & {b.pvid}
    if not a.acceptance == b.acceptance == "all":
        plain = frozenset()
    return (a.tagged_vids & b.tagged_vids) | plain


def heard(host: Host, port: PortState) -> frozenset[int]:
    """VLANs that a host receives: those that its port untags and, if the host pops tags, the others too."""
    return port.vids if host.pops_tags else port.untagged_vids


class _Sets:
    """Disjoint sets."""

    def __init__(self) -> None:
        self._up: dict[Hashable, Hashable] = {}

    def find(self, item: Hashable) -> Hashable:
        up = self._up.setdefault(item, item)
        while up != item:
            self._up[item] = self._up[up]
            item, up = up, self._up[up]
        return item

    def join(self, one: Hashable, other: Hashable) -> bool:
        """Merge two sets; False if they were one already."""
        one, other = self.find(one), self.find(other)
        self._up[one] = other
        return one != other


Edge = tuple[Hashable, Hashable, Link]


def find_loop(safe: Iterable[Edge], bare: Sequence[Edge]) -> tuple[str, ...] | None:
    """A loop with at least one cable that no spanning tree runs over, as the names of its cables, or None.

    `safe` edges are those that a spanning-tree protocol runs over. Edges join places, such as a VLAN at a switch.
    """
    sets = _Sets()
    passed: list[Edge] = []
    for one, other, link in safe:
        sets.join(one, other)
        passed.append((one, other, link))
    for one, other, link in bare:
        if not sets.join(one, other):
            return (*_path(passed, one, other), link.name)
        passed.append((one, other, link))
    return None


def without_loops(safe: Iterable[Edge], bare: Iterable[Edge]) -> list[Edge]:
    """The `bare` edges but those that close a loop with `safe` ones and those before them."""
    sets = _Sets()
    for one, other, _ in safe:
        sets.join(one, other)
    return [edge for edge in bare if sets.join(edge[0], edge[1])]


def _path(edges: Iterable[Edge], start: Hashable, end: Hashable) -> Sequence[str]:
    near: defaultdict[Hashable, list[tuple[Hashable, Link]]] = defaultdict(list)
    for one, other, link in edges:
        near[one].append((other, link))
        near[other].append((one, link))
    names: dict[Hashable, tuple[str, ...]] = {start: ()}
    queue = [start]
    for here in queue:
        for there, link in near[here]:
            if there not in names:
                names[there] = (*names[here], link.name)
                queue.append(there)
    return names[end]


@dataclass(frozen=True, slots=True)
class SpanningTree:
    """How a spanning-tree protocol affects the cables that are up, by their numbers.

    `guarded` cables have it at both ends and break loops; `blockable` ones have it at one end at least and may be
    blocked if they are part of a physical loop. `blocks` are groups of cables that share physical loops.
    """

    guarded: frozenset[int]
    blockable: frozenset[int]
    blocks: tuple[tuple[Link, ...], ...]

    @classmethod
    def of(cls, draft: Draft, up: Sequence[Link]) -> "SpanningTree":
        """From a state; `up` are the cables with both ends up."""
        runs = {
            link.number: [draft.stp[end.device] and draft.ports[end.device][end.port].stp for end in (link.a, link.b)]
            for link in up
        }
        blockable = frozenset(number for number, ends in runs.items() if any(ends))
        blocks = _loops(up) if blockable else ()
        return cls(frozenset(number for number, ends in runs.items() if all(ends)), blockable, blocks)

    def certain(self, links: Sequence[Link]) -> list[Link]:
        """Those of one VLAN's cables that surely connect their switches, directly or around a loop.

        A cable in no physical loop is never blocked. A loop of guarded cables only keeps a path
        around it; that path is known to be in the VLAN only if all of the loop's cables are.
        """
        inside = {link.number for link in links}
        doubtful: set[int] = set()
        for block in self.blocks:
            numbers = {link.number for link in block}
            if len(numbers) > 1 and not numbers <= (inside & self.guarded):
                doubtful |= numbers & self.blockable
        return [link for link in links if link.number not in doubtful]

    @property
    def unsettled(self) -> frozenset[int]:
        """Cables that may or may not be blocked."""
        numbers = (link.number for block in self.blocks if len(block) > 1 for link in block)
        return self.blockable.intersection(numbers)


def _loops(links: Sequence[Link]) -> tuple[tuple[Link, ...], ...]:
    # Imported here, as it takes a tenth of a second and is needed for labs with spanning tree only.
    import networkx as nx  # noqa: PLC0415

    plain = nx.Graph((link.a.device, link.b.device) for link in links if link.a.device != link.b.device)
    parallel: defaultdict[frozenset[str], list[Link]] = defaultdict(list)
    for link in links:
        parallel[frozenset((link.a.device, link.b.device))].append(link)
    return tuple(
        tuple(link for one, other in block for link in parallel[frozenset((one, other))])
        for block in nx.biconnected_component_edges(plain)
    )


def reach(start: str, joints: Mapping[str, Iterable[str]]) -> set[str]:
    """Every switch that can be reached from `start`, including `start`."""
    reached = {start}
    queue = [start]
    for here in queue:
        for there in joints.get(here, ()):
            if there not in reached:
                reached.add(there)
                queue.append(there)
    return reached
