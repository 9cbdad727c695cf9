"""What the standard MIBs say about a switch's ports and VLANs, and the SET request for a port's admin status. Pure.

IF-MIB (RFC 2863), BRIDGE-MIB (RFC 4188), Q-BRIDGE-MIB (RFC 4363), MAU-MIB (RFC 4836). A port's bridge port is its
number in the inventory; its ifIndex is what dot1dBasePortIfIndex says. Every reader takes the answers to walks and
raises Unreadable if they are missing or contradict each other.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from controller.drivers.driver import Answers, SnmpSet, SnmpValue, Walk
from controller.model.state import Acceptance
from lab.errors import Unreadable
from lab.model import Switch

IF_NAME = Walk("1.3.6.1.2.1.31.1.1.1.1")
IF_ADMIN_STATUS = Walk("1.3.6.1.2.1.2.2.1.7")
BASE_PORT_IF_INDEX = Walk("1.3.6.1.2.1.17.1.4.1.2")
VLAN_EGRESS = Walk("1.3.6.1.2.1.17.7.1.4.3.1.2")
VLAN_UNTAGGED = Walk("1.3.6.1.2.1.17.7.1.4.3.1.4")
VLAN_ROW_STATUS = Walk("1.3.6.1.2.1.17.7.1.4.3.1.5")
PVID = Walk("1.3.6.1.2.1.17.7.1.4.5.1.1")
ACCEPTABLE_FRAME_TYPES = Walk("1.3.6.1.2.1.17.7.1.4.5.1.2")
INGRESS_FILTERING = Walk("1.3.6.1.2.1.17.7.1.4.5.1.3")
MAU_DEFAULT_TYPE = Walk("1.3.6.1.2.1.26.2.1.1.11")
MAU_AUTONEG_ADMIN = Walk("1.3.6.1.2.1.26.5.1.1.1")

FINDERS = (IF_NAME, BASE_PORT_IF_INDEX)
"""The columns that `places` reads."""

VLAN_WALKS = (VLAN_ROW_STATUS, VLAN_EGRESS, VLAN_UNTAGGED, PVID, ACCEPTABLE_FRAME_TYPES, INGRESS_FILTERING)
"""The columns that `vlan_table` reads."""

_MAU_TYPES = "1.3.6.1.2.1.26.4."
_MBPS_OF_MAU = {
    **dict.fromkeys((5, 10, 11), 10),
    **dict.fromkeys((15, 16, 17, 18), 100),
    **dict.fromkeys(range(21, 31), 1000),
    **dict.fromkeys((*range(31, 43), 54), 10_000),
}
"""dot3MauType of IANA-MAU-MIB, [M] other than 11, 16, 30 and 54."""

_YES, _NO = 1, 2
_ACTIVE = 1

_WIDTH: Mapping[Walk, int] = dict.fromkeys((MAU_DEFAULT_TYPE, MAU_AUTONEG_ADMIN), 2)  # ifIndex, MAU
"""How many numbers a row's index has, if not one."""

_OBJECT_NAMES: Mapping[Walk, str] = {
    IF_NAME: "ifName",
    IF_ADMIN_STATUS: "ifAdminStatus",
    BASE_PORT_IF_INDEX: "dot1dBasePortIfIndex",
    VLAN_EGRESS: "dot1qVlanStaticEgressPorts",
    VLAN_UNTAGGED: "dot1qVlanStaticUntaggedPorts",
    VLAN_ROW_STATUS: "dot1qVlanStaticRowStatus",
    PVID: "dot1qPvid",
    ACCEPTABLE_FRAME_TYPES: "dot1qPortAcceptableFrameTypes",
    INGRESS_FILTERING: "dot1qPortIngressFiltering",
    MAU_DEFAULT_TYPE: "ifMauDefaultType",
    MAU_AUTONEG_ADMIN: "ifMauAutoNegAdminStatus",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the MIBs keep a port: `name` is the inventory's (or `lagN`)."""

    name: str
    bridge_port: int
    if_index: int


@dataclass(frozen=True, slots=True)
class Membership:
    """What Q-BRIDGE-MIB says about one port; the fields of `PortState` of the same names."""

    untagged_vids: frozenset[int]
    tagged_vids: frozenset[int]
    pvid: int
    acceptance: Acceptance
    ingress_filtering: bool


@dataclass(frozen=True, slots=True)
class VlanTable:
    """VLANs that exist, and memberships by the port's name."""

    vids: frozenset[int]
    ports: Mapping[str, Membership]


# -- reading


def places(switch: Switch, answers: Answers, lags: Mapping[str, str] | None = None) -> tuple[Place, ...]:
    """Every port of the inventory, then LAGs: `lags` maps names such as `lag1` to their ifName.

    Unreadable if another port's interface has the name that the inventory gives to a port: then the inventory's numbers
    are wrong, and a SET by number would change the wrong port.
    """
    index_of = {
        number: _integer(switch, BASE_PORT_IF_INDEX, value)
        for (number,), value in _rows(switch, BASE_PORT_IF_INDEX, answers)
    }
    by_name = {_text(value): index for (index,), value in _rows(switch, IF_NAME, answers)}
    found = []
    for port in switch.ports:
        if port.number not in index_of:
            raise _unreadable(
                switch, BASE_PORT_IF_INDEX, f"no bridge port {port.number}, which the inventory calls {port.name}"
            )
        if by_name.get(port.name, index_of[port.number]) != index_of[port.number]:
            said = f"bridge port {port.number} is not {port.name}: correct the port's number in the inventory"
            raise _unreadable(switch, IF_NAME, said)
        found.append(Place(port.name, port.number, index_of[port.number]))
    bridge_port_of = {index: number for number, index in index_of.items()}
    for name, if_name in (lags or {}).items():
        if by_name.get(if_name) not in bridge_port_of:
            raise _unreadable(switch, IF_NAME, f"no bridge port {if_name}, the interface of {name}")
        found.append(Place(name, bridge_port_of[by_name[if_name]], by_name[if_name]))
    return tuple(found)


def admin_up(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[str, bool]:
    """Whether each port is administratively up (ifAdminStatus); testing(3) counts as down."""
    column = _column(switch, IF_ADMIN_STATUS, answers)
    return {place.name: _cell(switch, IF_ADMIN_STATUS, column, place.if_index) == _YES for place in at}


def speeds_mbps(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[str, int | None]:
    """MAU-MIB: None where the port negotiates, else its default type's speed; ports without a MAU are left out."""
    negotiates = _column(switch, MAU_AUTONEG_ADMIN, answers)
    types = dict(_rows(switch, MAU_DEFAULT_TYPE, answers))
    found: dict[str, int | None] = {}
    for place in at:
        index = (place.if_index, 1)
        if index not in negotiates and index not in types:
            continue
        if negotiates.get(index) == _YES:
            found[place.name] = None
            continue
        number = str(types.get(index, "")).removeprefix(".").removeprefix(_MAU_TYPES)
        if not number.isdecimal() or int(number) not in _MBPS_OF_MAU:
            raise _unreadable(switch, MAU_DEFAULT_TYPE, f"{place.name} does not negotiate and is {types.get(index)!r}")
        found[place.name] = _MBPS_OF_MAU[int(number)]
    return found


def vlan_table(switch: Switch, at: Iterable[Place], answers: Answers) -> VlanTable:
    """Static VLANs whose row is active, and what each port is in them.

    A port in a VLAN's untagged list that is not in its egress list is not a member. admitOnlyVlanTagged(2) is "tagged",
    anything else "all", ROS's own untagged-only(3) too.
    """
    status = _column(switch, VLAN_ROW_STATUS, answers)
    vids = frozenset(vid for (vid,), value in status.items() if value == _ACTIVE)
    egress = {vid: _ports(switch, VLAN_EGRESS, value) for (vid,), value in _rows(switch, VLAN_EGRESS, answers)}
    bare = {vid: _ports(switch, VLAN_UNTAGGED, value) for (vid,), value in _rows(switch, VLAN_UNTAGGED, answers)}
    for vid in sorted(vids):
        if vid not in egress or vid not in bare:
            raise _unreadable(switch, VLAN_EGRESS, f"VLAN {vid} exists and has no list of ports")
    pvid = _column(switch, PVID, answers)
    acceptable = _column(switch, ACCEPTABLE_FRAME_TYPES, answers)
    filtering = _column(switch, INGRESS_FILTERING, answers)
    ports = {}
    for place in at:
        number = place.bridge_port
        ports[place.name] = Membership(
            untagged_vids=frozenset(vid for vid in vids if number in egress[vid] & bare[vid]),
            tagged_vids=frozenset(vid for vid in vids if number in egress[vid] - bare[vid]),
            pvid=_cell(switch, PVID, pvid, number),
            acceptance="tagged" if _cell(switch, ACCEPTABLE_FRAME_TYPES, acceptable, number) == 2 else "all",
            ingress_filtering=_cell(switch, INGRESS_FILTERING, filtering, number) == _YES,
        )
    return VlanTable(vids, ports)


# -- writing


def put_admin(place: Place, *, up: bool) -> SnmpSet:
    """Port up or down."""
    oid = f"{IF_ADMIN_STATUS.oid}.{place.if_index}"
    return SnmpSet(((oid, _YES if up else _NO),), f"{'wake' if up else 'shut'} {place.name}")


# -- PortList


def ports_of(octets: bytes) -> frozenset[int]:
    """Bridge ports in a PortList; missing octets hold no port."""
    return frozenset(
        8 * place + bit + 1 for place, octet in enumerate(octets) for bit in range(8) if octet << bit & 0x80
    )


# -- answers

Index = tuple[int, ...]


def _rows(switch: Switch, walk: Walk, answers: Answers) -> Iterator[tuple[Index, SnmpValue]]:
    width = _WIDTH.get(walk, 1)
    answer = answers.get(walk)
    if answer is None or isinstance(answer, str):
        raise _unreadable(switch, walk, "nothing")
    for text, value in answer.items():
        parts = text.strip(".").split(".")
        if len(parts) != width or not all(part.isdecimal() for part in parts):
            raise _unreadable(switch, walk, f"index {text}")
        yield tuple(map(int, parts)), value


def _column(switch: Switch, walk: Walk, answers: Answers) -> Mapping[Index, int]:
    return {index: _integer(switch, walk, value) for index, value in _rows(switch, walk, answers)}


def _cell(switch: Switch, walk: Walk, column: Mapping[Index, int], index: int) -> int:
    if (index,) not in column:
        raise _unreadable(switch, walk, f"no row {index}")
    return column[(index,)]


def _integer(switch: Switch, walk: Walk, value: SnmpValue) -> int:
    if not isinstance(value, int):
        raise _unreadable(switch, walk, f"{value!r}, which is not a number")
    return value


def _ports(switch: Switch, walk: Walk, value: SnmpValue) -> frozenset[int]:
    if not isinstance(value, bytes):
        raise _unreadable(switch, walk, f"{value!r}, which is not a list of ports")
    return ports_of(value)


def _text(value: SnmpValue) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _unreadable(switch: Switch, walk: Walk, said: str) -> Unreadable:
    return Unreadable(switch.name, f"a walk of {_OBJECT_NAMES.get(walk, walk.oid)}", said)
