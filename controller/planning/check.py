"""Check that a plan is safe: replay it, and check the state after every prefix. Pure.

After every prefix: no frame can circle in any VLAN; each host reaches every other host in the VLAN of its frames; the
path to every switch's management stands, where it leads through the switches themselves. A host counts if its port is
up at the start: a plan that shuts it cuts the host off.

A change that adds or removes several memberships or entries is judged by its two ends. The states in between have no
more paths for frames than the larger end and connect no less than the smaller, because the planner never mixes adding
and removing in one change; plans written by hand have to do the same.

Simplifications: links come up and ports learn in no time; every switch is assumed to use static entries in any VLAN
that hosts send into, so an entry that points away from its host counts as a cut even at a switch that no frame to it
passes. Neither makes an unsafe plan look safe; a step's disruption says how long real links take.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from eee_testbed.controller.model.state import (
    Change,
    Draft,
    PortChange,
    PortState,
    State,
    StaticsChange,
    StpChange,
    VlanChange,
)
from eee_testbed.controller.planning.broadcast import (
    Edge,
    Pair,
    SpanningTree,
    carries,
    ends_of,
    find_loop,
    half_members,
    heard,
    is_up,
    passes,
    reach,
    with_loose_cables,
)
from eee_testbed.lab.errors import PlanError, UnsafePlan
from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.topology import Topology


@dataclass(frozen=True, slots=True)
class Management:
    """In-band management: the switch where the controller is plugged in, and the VLAN of its frames."""

    entry: str
    vid: int


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a state: the cables of a loop, or the two ends that are no longer connected."""

    harm: str
    path: tuple[str, ...]

    @property
    def parts_hosts(self) -> bool:
        """Whether the fault only cuts hosts apart."""
        return not self.harm.startswith((LOOP, NO_MANAGEMENT))


@dataclass(frozen=True, slots=True)
class Crossing:
    """Frames of a VLAN at one end of a trunk that may get through to a VLAN at the other.

    `guards`: at how many of its ends a spanning tree runs.
    """

    number: int
    pair: Pair
    guards: int

    @property
    def is_guarded(self) -> bool:
        """Whether spanning tree breaks each loop of such cables."""
        return self.guards == 2


LOOP = "close a loop"
NO_MANAGEMENT = "cut off management"


def required_hosts(topology: Topology, state: State) -> frozenset[str]:
    """Hosts with a port that is up."""
    return frozenset(host for host, end in topology.homes.items() if state.port(end.device, end.port).admin_up)


class Watch:
    """A state to which changes are applied: keeps `faults` up to date, judging again only what a change touches."""

    def __init__(
        self, lab: Lab, state: State, hosts: Iterable[str] | None = None, management: Management | None = None
    ) -> None:
        self.topology = with_loose_cables(Topology.of(lab))
        self.management = management
        self.hosts = sorted(required_hosts(self.topology, state) if hosts is None else hosts)
        self._at: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for number, link in self.topology.trunks.items():
            for end in (end for cable in (link, *self.topology.cables[number]) for end in (cable.a, cable.b)):
                self._at[end.device, end.port].add(number)
        self._host_at = {
            (self.topology.homes[host].device, self.topology.homes[host].port): host for host in self.hosts
        }
        self.draft = Draft(state)
        self._passes: dict[int, frozenset[Pair]] = {}
        self._carries: dict[int, frozenset[int]] = {}
        self._passing: defaultdict[int, set[int]] = defaultdict(set)  # VID -> trunks
        self._carrying: defaultdict[int, set[int]] = defaultdict(set)
        self._mixing: set[int] = set()  # trunks that join two VLANs
        self._spanning = SpanningTree(frozenset(), frozenset(), ())
        self._senders: defaultdict[int, set[str]] = defaultdict(set)
        self._mute: set[str] = set()
        self._loops: dict[int, Fault] = {}
        self._half: dict[int, Fault] = {}  # by trunk: cables that are up, and in its LAG at one end
        self._cuts: dict[int, tuple[Fault, ...]] = {}  # of management, and between hosts
        self._reached: dict[int, set[str]] = {}
        self._receivers: dict[int, dict[str, frozenset[str]]] = {}  # VID, sender's switch -> hosts
        self._up: dict[int, Link] = {}
        for number in self.topology.trunks:
            self._refresh_trunk(number)
        self._refresh_spanning()
        for host in self.hosts:
            self._refresh_sender(host)
        self._judge_all()

    def apply(self, change: Change) -> None:
        """Apply a change and judge again what it touches; PlanError for a LAG that is not the inventory's."""
        if isinstance(change, PortChange) and change.before.lag != change.after.lag and not self._is_own(change):
            raise PlanError(
                f"{change.switch}:{change.port} would have to join or leave a LAG: set the LAG up as in cables.csv "
                "first."
            )
        self.draft.apply(change)
        match change:
            case PortChange():
                self._port_changed(change)
            case VlanChange():
                self._judge_joined({change.vid})
            case StaticsChange():
                self._judge_joined({change.vid})
            case StpChange():
                self._refresh_spanning()
                self._judge_all()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All faults of the present state, the first of each kind for each VLAN; loops first."""
        mute = tuple(Fault("leave a host without a VLAN to send into", (host,)) for host in sorted(self._mute))
        loops = tuple(self._loops[vid] for vid in sorted(self._loops))
        loops += self.half_members
        return loops + mute + tuple(fault for vid in sorted(self._cuts) for fault in self._cuts[vid])

    @property
    def has_loop(self) -> bool:
        """Whether frames may circle over cables, at least one of them without spanning tree."""
        return bool(self._loops)

    @property
    def half_members(self) -> tuple[Fault, ...]:
        """Cables that are up and a member of their LAG at one end only."""
        return tuple(self._half[number] for number in sorted(self._half))

    def trunks_at(self, switch: str, port: str) -> frozenset[int]:
        """Trunks that end at a port, by number; none at a port for hosts."""
        return frozenset(self._at.get((switch, port), ()))

    def is_trunk_up(self, switch: str, port: str) -> bool:
        """Whether a trunk that ends at a port is up at both ends."""
        return not self._up.keys().isdisjoint(self.trunks_at(switch, port))

    @property
    def crossings(self) -> frozenset[Crossing]:
        """All that may pass now, cable by cable."""
        sides = self._spanning.blockable, self._spanning.guarded
        guards = {number: sum(number in side for side in sides) for number in self._passes}
        return frozenset(Crossing(number, pair, guards[number]) for number, own in self._passes.items() for pair in own)

    @property
    def speaking(self) -> frozenset[str]:
        """Switches that speak spanning tree on a trunk that is up."""
        return frozenset(
            end.device
            for link in self._up.values()
            for end in (link.a, link.b)
            if self.draft.stp[end.device] and self.draft.ports[end.device][end.port].stp
        )

    @property
    def managed(self) -> set[str]:
        """Switches that management surely reaches in its VLAN; none without in-band management."""
        if self.management is None or self.management.vid not in self.draft.vids[self.management.entry]:
            return set()
        return reach(self.management.entry, self._joints(self.management.vid))

    def receivers(self, sender: str) -> frozenset[str]:
        """Hosts that a host's frames surely reach, in the VLAN that it sends into, itself included."""
        end = self.topology.homes[sender]
        vid = self.draft.ports[end.device][end.port].pvid
        if sender in self._mute or vid not in self.draft.vids[end.device]:
            return frozenset()
        if vid not in self._receivers:
            self._receivers[vid] = {}
        parts = self._receivers[vid]
        if end.device not in parts:
            reached = reach(end.device, self._joints(vid))
            there = frozenset(host for host in self.hosts if self._is_reached(host, vid, reached))
            parts.update(dict.fromkeys(reached, there))
        return parts[end.device]

    def _is_reached(self, host: str, vid: int, reached: Collection[str]) -> bool:
        end = self.topology.homes[host]
        port = self.draft.ports[end.device][end.port]
        return end.device in reached and port.admin_up and vid in self._heard(host, port)

    def _port_changed(self, change: PortChange) -> None:
        key = change.switch, change.port
        if key in self._at:
            entangled = bool(self._spanning.blockable or self._mixing)
            touched = {vid for number in self._at[key] for vid in self._refresh_trunk(number)}
            if any(getattr(change.before, key) != getattr(change.after, key) for key in ("admin_up", "stp", "lag")):
                self._refresh_spanning()
            if entangled or self._spanning.blockable or self._mixing:
                self._judge_all()
            else:
                self._judge_loops(touched)
                self._judge_joined(touched)
        if key in self._host_at:
            host = self._host_at[key]
            touched = set(self._heard(host, change.before) ^ self._heard(host, change.after))
            if change.before.admin_up != change.after.admin_up:
                touched |= change.before.vids | change.after.vids
            fresh = self._refresh_sender(host)
            self._judge_joined(touched | fresh)

    def _refresh_spanning(self) -> None:
        trunks = self.topology.trunks.items()
        self._up = {number: link for number, link in trunks if is_up(self.topology, self.draft, number)}
        self._spanning = SpanningTree.of(self.draft, list(self._up.values()))

    def _is_own(self, change: PortChange) -> bool:
        """Whether a port leaves or joins the LAG that the inventory has it in."""
        lags = {self.topology.lags.get(number) for number in self._at.get((change.switch, change.port), ())} - {None}
        return bool(lags) and {change.before.lag, change.after.lag} == {None, *lags}

    def _refresh_trunk(self, number: int) -> set[int]:
        """Read a trunk again; return the VLANs for which it has changed."""
        self._half.pop(number, None)
        if half := half_members(self.topology, self.draft, number):
            self._half[number] = Fault(f"{LOOP} beside LAG {self.topology.lags[number]}", (half[0].name,))
        pairs = passes(*ends_of(self.topology, self.draft, number))
        vids = carries(*ends_of(self.topology, self.draft, number, surely=True))
        (self._mixing.add if any(one != other for one, other in pairs) else self._mixing.discard)(number)
        removed = self._passes.get(number, frozenset()) - pairs
        new = pairs - self._passes.get(number, frozenset())
        for one, other in removed:
            self._passing[one].discard(number)
            self._passing[other].discard(number)
        for one, other in pairs:
            self._passing[one].add(number)
            self._passing[other].add(number)
        lost = self._carries.get(number, frozenset()) - vids
        won = vids - self._carries.get(number, frozenset())
        for vid in lost:
            self._carrying[vid].discard(number)
        for vid in won:
            self._carrying[vid].add(number)
        self._passes[number], self._carries[number] = pairs, vids
        return {vid for pair in removed | new for vid in pair} | lost | won

    def _refresh_sender(self, host: str) -> set[int]:
        """Read again which VLAN a host sends into; return the VLANs to judge again."""
        end = self.topology.homes[host]
        port = self.draft.ports[end.device][end.port]
        touched = {vid for vid, senders in self._senders.items() if host in senders and vid != port.pvid}
        for vid in touched:
            self._senders[vid].discard(host)
        heard = port.acceptance == "all" and (port.pvid in port.vids or not port.ingress_filtering)
        if port.admin_up and heard:
            self._mute.discard(host)
            known = self._senders[port.pvid]
            sound = port.pvid in self._reached and port.pvid not in self._cuts
            if host not in known and not (sound and end.device in self._reached[port.pvid]):
                touched.add(port.pvid)
            known.add(host)
        else:
            self._mute.add(host)
            self._senders[port.pvid].discard(host)
            touched.add(port.pvid)
        # A sound VLAN that loses a sender stays sound.
        return {vid for vid in touched if not self._senders[vid] or vid in self._cuts or vid not in self._reached} | (
            {port.pvid} & touched
        )

    def _judge_all(self) -> None:
        vids = {vid for pairs in self._passes.values() for pair in pairs for vid in pair}
        vids |= self._loops.keys() | self._cuts.keys() | self._senders.keys()
        self._judge_loops(vids)
        self._judge_joined(vids | ({self.management.vid} if self.management else set()))

    def _judge_loops(self, vids: set[int]) -> None:
        if self._mixing:
            self._loops = {}
            safe: list[Edge] = []
            bare: list[Edge] = []
            for number, pairs in self._passes.items():
                link = self.topology.trunks[number]
                edges = (((link.a.device, one), (link.b.device, other), link) for one, other in sorted(pairs))
                (safe if number in self._spanning.guarded else bare).extend(edges)
            loop = find_loop(safe, bare)
            if loop:
                self._loops[0] = Fault(f"{LOOP} over cables that join VLANs", loop)
            return
        self._loops.pop(0, None)
        for vid in vids:
            self._loops.pop(vid, None)
            links = [self.topology.trunks[number] for number in sorted(self._passing[vid])]
            loop = find_loop(
                [(link.a.device, link.b.device, link) for link in links if link.number in self._spanning.guarded],
                [(link.a.device, link.b.device, link) for link in links if link.number not in self._spanning.guarded],
            )
            if loop:
                self._loops[vid] = Fault(f"{LOOP} in VLAN {vid}", loop)

    def _judge_joined(self, vids: set[int]) -> None:
        for vid in vids:
            self._cuts.pop(vid, None)
            self._reached.pop(vid, None)
            self._receivers.pop(vid, None)
            if self._senders[vid] or (self.management and self.management.vid == vid):
                near = self._joints(vid)
                firsts = (next(self._unmanaged(vid, near), None), next(self._cuts_in(vid, near), None))
                if faults := tuple(fault for fault in firsts if fault):
                    self._cuts[vid] = faults

    def _joints(self, vid: int) -> dict[str, set[str]]:
        near: defaultdict[str, set[str]] = defaultdict(set)
        for link in self._spanning.certain([self.topology.trunks[number] for number in self._carrying[vid]]):
            one, other = link.a.device, link.b.device
            if vid in self.draft.vids[one] and vid in self.draft.vids[other]:
                near[one].add(other)
                near[other].add(one)
        return near

    def _unmanaged(self, vid: int, near: Mapping[str, Iterable[str]]) -> Iterator[Fault]:
        if self.management is None or self.management.vid != vid:
            return
        entry = self.management.entry
        managed = reach(entry, near) if vid in self.draft.vids[entry] else set()
        for name in self.topology.switches:
            if name not in managed:
                yield Fault(f"{NO_MANAGEMENT} in VLAN {vid}", (entry, name))

    def _cuts_in(self, vid: int, near: Mapping[str, Iterable[str]]) -> Iterator[Fault]:
        if not self._senders[vid]:
            return
        first = min(self._senders[vid])
        start = self.topology.homes[first].device
        reached = reach(start, near) if vid in self.draft.vids[start] else set()
        self._reached[vid] = reached
        harm = f"cut hosts apart in VLAN {vid}"
        for host in sorted(self._senders[vid]):
            if self.topology.homes[host].device not in reached:
                yield Fault(harm, (host, self._edge(host), self._edge(first), first))
        for host in self.hosts:
            if not self._is_reached(host, vid, reached):
                yield Fault(harm, (first, self._edge(first), self._edge(host), host))
        yield from self._strays(vid, reached)

    def _heard(self, host: str, port: PortState) -> frozenset[int]:
        """VLANs whose frames the host at the port receives."""
        return heard(self.topology.hosts[host], port)

    def _edge(self, host: str) -> str:
        return str(self.topology.homes[host])

    def _strays(self, vid: int, reached: set[str]) -> Iterator[Fault]:
        """Static entries that point away from their host."""
        macs = {self.topology.hosts[host].mac: host for host in self.hosts}
        for name in sorted(reached):
            table = self.draft.statics[name].get(vid)
            if not table:
                continue
            exits = self._exits(name, vid)
            for mac, port in table.items():
                host = macs.get(mac)
                if host is None:
                    continue
                end = self.topology.homes[host]
                right = end.port if end.device == name else exits.get(end.device)
                if port != right:
                    harm = f"send frames in VLAN {vid} for {host} in the wrong direction"
                    yield Fault(harm, (f"{name}:{port}", str(end), host))

    def _exits(self, name: str, vid: int) -> dict[str, str]:
        """For each switch that VLAN `vid` connects to this one, the port here that leads to it."""
        exits: dict[str, str] = {}
        settled = self._carrying[vid] - self._spanning.unsettled
        for there, (here, link) in self.topology.ways(name, settled).items():
            exits[there] = exits[here] if here != name else link.other(there).port
        return exits


def check(lab: Lab, state: State, changes: Sequence[Change], management: Management | None = None) -> None:
    """Check the changes one after the other from `state`; UnsafePlan names the step and shows the loop or cut.

    Step 0 means that `state` is unsafe already.
    """
    hosts = required_hosts(Topology.of(lab), state)
    watch = Watch(lab, state, hosts, management)
    _refuse(0, watch)
    for step, change in enumerate(changes, start=1):
        watch.apply(change)
        _refuse(step, watch)


def _refuse(step: int, watch: Watch) -> None:
    faults = watch.faults
    if faults:
        raise UnsafePlan(step, faults[0].harm, faults[0].path)
