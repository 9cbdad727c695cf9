"""How a change disrupts the hosts that use the network. Pure.

`hitless`: no frame of a host is lost. `flap`: a link that hosts use goes down and comes back, for the seconds given.
`loss`: a LAG that hosts use goes on, but frames on one of its cables are lost for at most the seconds given.
`interruption`: hosts cannot reach each other for at most the seconds given.

The seconds are set, not measured: Koibuchi (2011, IV.D) says "a few seconds" for a change of speed; a spanning tree
of 802.1D takes twice its forward delay, 15 s from the factory, to let frames through again. Only a
measurement shows how long a lab's own switches take.
"""

from dataclasses import dataclass
from typing import Literal

from eee_testbed.controller.model.state import Change, Draft, PortChange, PortState, StpChange
from eee_testbed.controller.planning.broadcast import ends_of, is_member, working_members
from eee_testbed.lab.model import Link
from eee_testbed.lab.topology import Topology

RENEGOTIATION_S = 3.0
SPANNING_TREE_S = 30.0
MEMBER_S = 0.75
"""What an end of a LAG may send on a cable whose other end has gone, or has not come yet, is lost.

Static LAGs have no message by which an end could ask the other to stop first. A 1000BASE-T port may take as long as its
maxwait_timer to see that its link is gone (802.3, 40.4.5.2) [M]. So long a round that takes a member lasts at least.
"""


@dataclass(frozen=True, slots=True)
class Disruption:
    """Kind and length of the disruption that hosts notice."""

    kind: Literal["hitless", "flap", "loss", "interruption"]
    length_s: float = 0.0

    def __str__(self) -> str:
        return self.kind if not self.length_s else f"{self.kind} ≤ {self.length_s:g} s"


HITLESS = Disruption("hitless")


def disruption_of(topology: Topology, draft: Draft, change: Change) -> Disruption:
    """What the change costs in the state that `draft` is in, before it is made."""
    cost = HITLESS
    if isinstance(change, StpChange) and change.after:
        cost = Disruption("interruption", SPANNING_TREE_S)
    elif isinstance(change, PortChange) and change.before.admin_up:
        cost = _restart(change, guarded=change.before.stp and draft.stp[change.switch])
        if cost != HITLESS and not _in_use(topology, draft, change):
            cost = HITLESS
        elif not change.after.admin_up and _can_be_spared(topology, draft, change):
            cost = Disruption("loss", MEMBER_S)
    elif isinstance(change, PortChange) and change.after.admin_up and _can_be_spared(topology, draft, change):
        cost = Disruption("loss", MEMBER_S) if _in_use(topology, draft, change) else HITLESS
    return cost


def _can_be_spared(topology: Topology, draft: Draft, change: PortChange) -> bool:
    """Whether the port's cable is one of a LAG that works without it."""
    for number in topology.lags:
        for cable in topology.cables[number]:
            if (change.switch, change.port) in {(end.device, end.port) for end in (cable.a, cable.b)}:
                others = (other for other in working_members(topology, draft, number) if other != cable)
                return is_member(topology, draft, number, cable) and any(others)
    return False


def _restart(change: PortChange, *, guarded: bool) -> Disruption:
    """What a change of a port that is up costs those who use it; `guarded`: a spanning tree finds another path."""
    before, after = change.before, change.after
    if not after.admin_up:
        return Disruption("interruption", SPANNING_TREE_S if guarded else float("inf"))
    if before.speed_mbps != after.speed_mbps:
        return Disruption("interruption", RENEGOTIATION_S)
    if (before.eee, before.hold_us, before.flow_control) != (after.eee, after.hold_us, after.flow_control):
        return Disruption("flap", RENEGOTIATION_S)
    if after.stp and not before.stp:
        return Disruption("interruption", SPANNING_TREE_S)
    return HITLESS


def _in_use(topology: Topology, draft: Draft, change: PortChange) -> bool:
    """Whether frames of hosts may be on the port's cable: a host's own, or a trunk in a VLAN that hosts send into.

    Each cable of a LAG counts as the whole LAG: the others may not take over in time.
    """
    pvids = set()
    for end in topology.homes.values():
        if (end.device, end.port) == (change.switch, change.port):
            return True
        port = draft.ports[end.device][end.port]
        if port.admin_up:
            pvids.add(port.pvid)
    for number, link in topology.trunks.items():
        for cable in (link, *topology.cables[number]):
            if (change.switch, change.port) in {(end.device, end.port) for end in (cable.a, cable.b)}:
                one, other = _ends(topology, draft, number, cable)
                return one.admin_up and other.admin_up and bool(one.vids & other.vids & pvids)
    return False


def _ends(topology: Topology, draft: Draft, number: int, cable: Link) -> tuple[PortState, PortState]:
    """The ends of a trunk, or of a LAG's cable that is a member at neither end and so a link of its own."""
    one, other = (draft.ports[end.device][end.port] for end in (cable.a, cable.b))
    is_part = number in topology.lags and cable != topology.trunks[number]
    return (one, other) if is_part and one.lag is other.lag is None else ends_of(topology, draft, number)
