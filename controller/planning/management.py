"""Whether every switch that answers keeps its path of management, change by change. Pure.

A switch whose settings were read answers: frames of management pass on one of its possible paths, even if a spanning
tree may be blocking each of them and no setting shows which. After a change it still answers

* if its VLAN surely reaches it then (`Watch.managed`), or
* if the change could not touch its path: it takes no cable and no VLAN from any possible one, and no spanning tree can
  answer it by blocking a port that it did not block.

What a spanning tree may do is known in three cases. Without switches that speak it, nothing. If the messages that its
switches send and get stay the same, nothing. And one switch that speaks it alone is the root: it blocks a port only if
another port of its own hears it there, so that taking cables and memberships away opens ports and blocks none. In all
other cases a cable on a loop may be blocked after the change.

A switch that no possible path reaches is managed in a way that the inventory does not show; nothing is watched for it.

Simplifications: the port that the controller is plugged into is not in the inventory, so that no plan is watched there.
Spanning trees of single VLANs count as one for all. Links come up and ports learn in no time, as in `check`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from eee_testbed.controller.model.state import Change, PortChange, PortState, StaticsChange, StpChange, VlanChange
from eee_testbed.controller.planning.broadcast import Pair, ends_of, passes_each_way
from eee_testbed.controller.planning.check import NO_MANAGEMENT, Fault, Watch
from eee_testbed.lab.topology import Topology

Node = tuple[str, int]
"""A VLAN at a switch."""

_Hop = tuple[int, Pair, bool]
"""A trunk, by number, the VLANs at its ends in which frames may pass it, and whether they do so from its `a` end."""

Hops = Mapping[int, frozenset[_Hop]]
"""By trunk."""

_Effect = Literal["none", "fewer", "more"]
"""What becomes of the ways of spanning tree's messages."""


class ManagementPaths:
    """The paths of management that stand, from the state on that a watch has when this is made; none out of band."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._by_trunk: dict[int, frozenset[_Hop]] = {}
        self._starts: frozenset[Node] = frozenset()
        self._ends: dict[str, frozenset[Node]] = {}
        if watch.management is None:
            return
        self._read(watch.topology.trunks)
        entry, vid = watch.management.entry, watch.management.vid
        vids = watch.draft.vids
        self._starts = frozenset((entry, own) for own in vids[entry] if own == vid or vid not in vids[entry])
        hops = frozenset[_Hop]().union(*self._by_trunk.values())
        reached = _reached(watch.topology, hops, self._starts)
        for name in watch.topology.switches:
            own = frozenset(node for node in reached if node[0] == name and node[1] in vids[name])
            self._ends[name] = own & {(name, vid)} or own

    def trunks_to(self, name: str) -> frozenset[int]:
        """Trunks on a possible path to a switch."""
        return frozenset(number for number, _, _ in self._possible(self._by_trunk, name))

    def apply(self, change: Change) -> Fault | None:
        """Apply a change to the watch; the fault of a switch that answered and may not do so any more."""
        management = self._watch.management
        if management is None:
            self._apply(change)
            return None
        before, speaking, was_up = dict(self._by_trunk), self._watch.speaking, self._is_up(change)
        self._apply(change)
        speaking |= self._watch.speaking
        effect = _effect_of(self._watch, change) if was_up or self._is_up(change) else "none"
        is_calm = effect == "none" or not speaking or (effect == "fewer" and len(speaking) == 1)
        gone = self._taken_by(change, before)
        node = (change.switch, change.vid) if isinstance(change, VlanChange) and not change.after else None
        sure = self._watch.managed
        for name, ends in self._ends.items():
            usual = {(management.entry, management.vid), (name, management.vid)}
            if not ends or (name in sure and self._starts | ends == usual):
                continue
            if not is_calm or node in self._starts | ends or (gone and gone & self._possible(before, name)):
                return Fault(f"{NO_MANAGEMENT} in VLAN {management.vid}", (management.entry, name))
        return None

    def rewind(self, changes: Sequence[Change]) -> None:
        """Take the last changes back that were applied, given in their order."""
        for change in reversed(changes):
            self._apply(change.inverse)

    def _apply(self, change: Change) -> None:
        self._watch.apply(change)
        if self._watch.management is not None and isinstance(change, PortChange):
            self._read(self._watch.trunks_at(change.switch, change.port))

    def _read(self, trunks: Iterable[int]) -> None:
        """Read again what may pass some trunks."""
        for number in trunks:
            out, back = passes_each_way(*ends_of(self._watch.topology, self._watch.draft, number))
            self._by_trunk[number] = frozenset(
                [*((number, pair, True) for pair in out), *((number, pair, False) for pair in back)]
            )

    def _is_up(self, change: Change) -> bool:
        """Whether frames may pass where a change is made: at any trunk of a switch, or at that of a port."""
        return not isinstance(change, PortChange) or self._watch.is_trunk_up(change.switch, change.port)

    def _possible(self, hops: Hops, name: str) -> set[_Hop]:
        """Those hops that are on a path to a switch which passes no place twice."""
        every = frozenset[_Hop]().union(*hops.values())
        return {
            hop
            for start in self._starts
            for end in self._ends.get(name, frozenset())
            for hop in _between(self._watch.topology, every, start, end)
        }

    def _taken_by(self, change: Change, before: Hops) -> set[_Hop]:
        """Hops that a change takes, or leaves on paper: of a VLAN that is destroyed, on a link that starts anew."""
        topology = self._watch.topology
        match change:
            case VlanChange(after=False):
                node = change.switch, change.vid
                return {hop for own in before.values() for hop in own if node in _nodes(topology, hop)}
            case PortChange():
                is_new = _line(change.before) != _line(change.after)
                trunks = self._watch.trunks_at(change.switch, change.port)
                return {
                    hop for number in trunks for hop in before[number] if is_new or hop not in self._by_trunk[number]
                }
        return set()


def _line(port: PortState) -> tuple[object, ...]:
    return port.admin_up, port.speed_mbps, port.lag, port.lag_mode


def _effect_of(watch: Watch, change: Change) -> _Effect:
    """What a change that is made makes of the ways of spanning tree's messages, in any switch's hands."""
    draft = watch.draft
    match change:
        case StaticsChange():
            return "none"
        case StpChange():
            return "more" if change.after else "fewer"
        case VlanChange():
            if not change.after:
                return "fewer"
            ports = (port for name, port in draft.ports[change.switch].items() if watch.trunks_at(change.switch, name))
            return "more" if any(change.vid in port.vids | {port.pvid} for port in ports) else "none"
        case PortChange():
            return _effect_of_port(change.before, change.after, is_speaking=draft.stp[change.switch])


def _effect_of_port(before: PortState, after: PortState, *, is_speaking: bool) -> _Effect:
    """`is_speaking`: the switch sends messages of its own, and passes none of others on, whatever its VLANs are."""
    if (before.lag, before.lag_mode) != (after.lag, after.lag_mode):
        return "more"
    growth = [(after.admin_up, before.admin_up), (is_speaking and after.stp, is_speaking and before.stp)]
    if not is_speaking:
        growth += [
            (bool(after.untagged_vids - before.untagged_vids), False),
            (bool(after.tagged_vids - before.tagged_vids), False),
            (after.pvid != before.pvid, False),
            (after.acceptance == "all", before.acceptance == "all"),
            (not after.ingress_filtering, not before.ingress_filtering),
        ]
    if any(now and not was for now, was in growth):
        return "more"
    if is_speaking and _line(before) == _line(after) and before.stp == after.stp:
        return "none"
    return "fewer"


def _nodes(topology: Topology, hop: _Hop) -> tuple[Node, Node]:
    number, (one, other), _ = hop
    link = topology.trunks[number]
    return (link.a.device, one), (link.b.device, other)


def _reached(topology: Topology, hops: Iterable[_Hop], starts: Iterable[Node]) -> set[Node]:
    reached = set(starts)
    left = {hop: _nodes(topology, hop) for hop in hops}
    while near := [hop for hop, ends in left.items() if not reached.isdisjoint(ends)]:
        for hop in near:
            reached.update(left.pop(hop))
    return reached


def _between(topology: Topology, hops: Iterable[_Hop], start: Node, end: Node) -> set[_Hop]:
    """Hops on any path from one place to another that passes no place twice."""
    # Imported here, as it takes a tenth of a second and is needed only where a path is touched.
    import networkx as nx  # noqa: PLC0415

    if start == end:
        return set()
    graph = nx.Graph([(start, end)])
    places = {hop: frozenset(_nodes(topology, hop)) for hop in hops}
    graph.add_edges_from(tuple(ends) for ends in places.values() if len(ends) == 2)
    for block in nx.biconnected_component_edges(graph):
        on_way = {frozenset(edge) for edge in block}
        if frozenset((start, end)) in on_way:
            return {hop for hop, ends in places.items() if ends in on_way}
    return set()
