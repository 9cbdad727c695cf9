"""A `SwitchState`'s VLANs and static entries as OpenFlow flows, and back. Pure.

The tables are those of an 802.1Q bridge; inside, all frames are tagged::

    0  ingress   untagged (in_port): push PVID; tagged (in_port, VLAN): member, or any without ingress filtering
    1  VLAN      exists on this switch
    2  learning  (in_port): remember the sender in table 3 for 300 s since its last frame
    3  address   (VLAN, destination): static entries before learned ones; reg0 becomes the port
    4  flooding  reg0 still 0: each port in turn
    5  egress    (port, VLAN): as it is, or pop_vlan in as many VLANs as wanted

Nothing is NORMAL: what no flow lets through is dropped (secure fail mode). Each setting has flows of its own, which
its cookie names, so that a change touches no others; tables 2 and 4, and what 802.1D never forwards, are the same for
every state: the scaffold.

Simplification: a learned address is forgotten when its port is shut, leaves the VLAN, or after 300 s, and not when a
cable is pulled or spanning tree changes its mind, as hardware does. Frames to it are lost until its next frame comes
in on the new path: a measurement shows this as loss to a host that is silent then.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from eee_testbed.controller.model.state import PortState, StaticTable, SwitchState

Key = tuple[int, str]
"""Table, and priority and match as `ovs-ofctl dump-flows` prints them."""

_AGEING_S = 300


class Kind(IntEnum):
    """What a flow of ours is for: the last digit of its cookie's first four."""

    SCAFFOLD = 0
    UNTAGGED = 1
    """Untagged frames of a port; the cookie holds PVID, acceptance and ingress filtering."""

    TAGGED = 2
    EXISTS = 3
    STATIC = 4
    EGRESS = 5
    LEARNED = 6


_TAGGED_ONLY, _FILTERING = 1, 2


def cookie(kind: Kind, port: int = 0, vid: int = 0, flags: int = 0) -> int:
    """64 bits: our mark (0xeee), kind (4), flags (16), OpenFlow port (16), VID (16)."""
    return 0xEEE << 52 | kind << 48 | flags << 32 | port << 16 | vid


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow; `match` begins with its priority. Texts are as `ovs-ofctl -O OpenFlow14 dump-flows` prints them."""

    table: int
    match: str
    cookie: int
    actions: str

    @property
    def key(self) -> Key:
        """What identifies it on a switch."""
        return self.table, self.match

    @property
    def adding(self) -> str:
        """The line of a bundle that adds or replaces it."""
        return f"add table={self.table},cookie={self.cookie:#018x},{self.match},actions={self.actions}"

    @property
    def deleting(self) -> str:
        """The line of a bundle that deletes it."""
        return f"delete_strict table={self.table},{self.match}"


def port_flows(number: int, port: PortState) -> dict[Key, Flow]:
    """Flows of one port's VLAN settings."""
    inside = port.pvid in port.vids or not port.ingress_filtering
    accepted = inside and port.acceptance == "all"
    flags = (_TAGGED_ONLY if port.acceptance == "tagged" else 0) | (_FILTERING if port.ingress_filtering else 0)
    mark = cookie(Kind.UNTAGGED, number, port.pvid, flags)
    put = f"set_field:{0x1000 | port.pvid}->vlan_vid,goto_table:1"
    ways = [
        Flow(
            0,
            f"priority=100,in_port={number},vlan_tci=0x0000/0x1fff",
            mark,
            f"push_vlan:0x8100,{put}" if accepted else "drop",
        ),
        # Tagged with VLAN 0: only a priority, which stays (802.1Q, 6.9)
        Flow(0, f"priority=100,in_port={number},dl_vlan=0", mark, put if accepted else "drop"),
    ]
    if not port.ingress_filtering:
        match = f"priority=50,in_port={number},vlan_tci=0x1000/0x1000"
        ways.append(Flow(0, match, cookie(Kind.TAGGED, number), "goto_table:1"))
    for vid in sorted(port.vids):
        if port.ingress_filtering:
            match = f"priority=100,in_port={number},dl_vlan={vid}"
            ways.append(Flow(0, match, cookie(Kind.TAGGED, number, vid), "goto_table:1"))
        out = f"output:{number}" if vid in port.tagged_vids else f"clone(pop_vlan,output:{number})"
        match = f"priority=100,reg0={number:#x},dl_vlan={vid}"
        ways.append(Flow(5, match, cookie(Kind.EGRESS, number, vid), out))
    return {flow.key: flow for flow in ways}


def vlan_flow(vid: int) -> Flow:
    """The flow by which a VLAN exists."""
    return Flow(1, f"priority=100,dl_vlan={vid}", cookie(Kind.EXISTS, 0, vid), "goto_table:2")


def static_flows(vid: int, table: StaticTable, numbers: Mapping[str, int]) -> dict[Key, Flow]:
    """Flows of the static entries of one VLAN; KeyError if a port is unknown."""
    flows = (
        Flow(
            3,
            f"priority=200,dl_vlan={vid},dl_dst={mac.hex(':')}",
            cookie(Kind.STATIC, numbers[port], vid),
            f"load:{numbers[port]:#x}->NXM_NX_REG0[]",
        )
        for mac, port in table.items()
    )
    return {flow.key: flow for flow in flows}


def scaffold(numbers: Iterable[int]) -> dict[Key, Flow]:
    """Flows that do not depend on the state. Their cookie has a CRC-32 of their actions, whose text may vary."""
    numbers = sorted(numbers)
    each = ",".join(f"load:{number:#x}->NXM_NX_REG0[],resubmit(,5)" for number in numbers)
    groups = [
        (0, "priority=1000,dl_dst=01:80:c2:00:00:00/ff:ff:ff:ff:ff:f0", "drop"),  # 802.1Q, table 8-1
        (0, "priority=1000,dl_src=01:00:00:00:00:00/01:00:00:00:00:00", "drop"),
        (4, "priority=100,reg0=0", each),
        (4, "priority=0", "goto_table:5"),
    ]
    for number in numbers:
        learn = (
            f"learn(table=3,hard_timeout={_AGEING_S},priority=100,cookie={cookie(Kind.LEARNED, number):#x},"
            "NXM_OF_VLAN_TCI[0..12],NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:NXM_OF_IN_PORT[]->NXM_NX_REG0[0..15])"
        )
        groups.append((2, f"priority=100,in_port={number}", f"{learn},resubmit(,3),goto_table:4"))
    flows = (
        Flow(table, match, cookie(Kind.SCAFFOLD) | zlib.crc32(actions.encode()), actions)
        for table, match, actions in groups
    )
    return {flow.key: flow for flow in flows}


def edits(before: Mapping[Key, Flow], after: Mapping[Key, Flow]) -> Iterator[str]:
    """Lines of a bundle that lead from one set of flows to another."""
    yield from (flow.deleting for key, flow in before.items() if key not in after)
    yield from (flow.adding for key, flow in after.items() if before.get(key) != flow)


def forget(port: int | None = None, vid: int | None = None) -> str:
    """The line of a bundle that forgets what was learned on a port, in a VLAN, or both."""
    mask = 0xFFFF << 48 | (0 if port is None else 0xFFFF << 16)
    where = "" if vid is None else f",dl_vlan={vid}"
    return f"delete table=3,cookie={cookie(Kind.LEARNED, port or 0):#018x}/{mask:#018x}{where}"


def all_flows(state: SwitchState, numbers: Mapping[str, int]) -> dict[Key, Flow]:
    """Every flow of a state, the scaffold included."""
    flows = scaffold(numbers.values())
    for name, port in state.ports.items():
        flows |= port_flows(numbers[name], port)
    flows |= {flow.key: flow for flow in map(vlan_flow, state.vids)}
    for vid, table in state.statics.items():
        flows |= static_flows(vid, table, numbers)
    return flows


class ForeignFlowError(ValueError):
    """A flow that no state of ours has, or that is missing; the argument says which."""


LEARNED = re.compile(r"\s*cookie=0xeee6[0-9a-f]{12}, table=3, hard_timeout=")
"""A flow that the switch has made itself, as it is printed."""

_WARNING = re.compile(r"\d{4}-\d\d-\d\dT\S+\|WARN\|")
_LINE = re.compile(
    r"^\s*(?:cookie=(?P<cookie>0x[0-9a-f]+),\s*)?(?:duration=\S+\s*)?(?:table=(?P<table>\d+),\s*)?"
    r"(?:n_packets=\d+,\s*n_bytes=\d+,\s*)?(?P<match>\S*) actions=(?P<actions>\S+)$"
)


def read_flows(text: str, numbers: Mapping[str, int]) -> SwitchState:
    """The VLAN settings and static entries in force; ForeignFlowError if any flow is not as ours would be.

    The state is read off the flows, turned into flows again, and these have to be the very ones that are there.
    """
    flows: dict[Key, Flow] = {}
    for line in text.splitlines():
        if not line.strip() or "reply" in line or _WARNING.match(line) or LEARNED.match(line):
            continue
        parts = _LINE.match(line)
        if parts is None:
            raise ForeignFlowError(line.strip())
        mark = int(parts["cookie"] or "0", 16)
        flow = Flow(int(parts["table"] or "0"), parts["match"], mark, parts["actions"])
        flows[flow.key] = flow
    state = _state_of(flows.values(), {number: name for name, number in numbers.items()})
    expected = all_flows(state, numbers)
    for key, flow in flows.items():
        if key not in expected or not _same(expected[key], flow):
            raise ForeignFlowError(
                f"table={flow.table}, {flow.match} actions={flow.actions} is a flow that eeectl did not write"
            )
    for key in expected.keys() - flows.keys():
        raise ForeignFlowError(f"the flow table={key[0]}, {key[1]} is missing")
    return state


def _same(ours: Flow, printed: Flow) -> bool:
    if ours.cookie >> 48 == 0xEEE0 | Kind.SCAFFOLD:
        return ours.cookie == printed.cookie
    return (ours.cookie, ours.actions) == (printed.cookie, printed.actions)


def _state_of(flows: Iterable[Flow], names: Mapping[int, str]) -> SwitchState:
    """The state that the cookies encode, and the form of egress from its actions."""
    ingress: dict[str, PortState] = {}
    untagged: dict[str, set[int]] = {name: set() for name in names.values()}
    tagged: dict[str, set[int]] = {name: set() for name in names.values()}
    vids: set[int] = set()
    statics: dict[int, dict[bytes, str]] = {}
    for flow in flows:
        flags, number, vid = flow.cookie >> 32 & 0xFFFF, flow.cookie >> 16 & 0xFFFF, flow.cookie & 0xFFFF
        name = names.get(number)
        match flow.cookie >> 48 ^ 0xEEE0, name:
            case Kind.UNTAGGED, str():
                ingress[name] = PortState(
                    untagged_vids=frozenset(),
                    pvid=vid,
                    acceptance="tagged" if flags & _TAGGED_ONLY else "all",
                    ingress_filtering=bool(flags & _FILTERING),
                )
            case Kind.EGRESS, str():
                (untagged if "pop_vlan" in flow.actions else tagged)[name].add(vid)
            case Kind.EXISTS, _:
                vids.add(vid)
            case Kind.STATIC, str():
                mac = re.search(r"dl_dst=((?:[0-9a-f]{2}:){5}[0-9a-f]{2})$", flow.match)
                if mac:
                    statics.setdefault(vid, {})[bytes.fromhex(mac[1].replace(":", ""))] = name
            case _:
                pass
    missing = sorted(set(names.values()) - set(ingress))
    if missing:
        raise ForeignFlowError(f"no flow sets the VLAN of untagged frames from {', '.join(missing)}")
    ports = {
        name: PortState(
            untagged_vids=frozenset(untagged[name]),
            tagged_vids=frozenset(tagged[name]),
            pvid=ingress[name].pvid,
            acceptance=ingress[name].acceptance,
            ingress_filtering=ingress[name].ingress_filtering,
        )
        for name in names.values()
    }
    return SwitchState(ports, frozenset(vids), statics)
