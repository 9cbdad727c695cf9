"""What the standard MIBs say about a switch's ports, VLANs and static entries, and SET requests for them. Pure.

IF-MIB (RFC 2863), BRIDGE-MIB (RFC 4188), Q-BRIDGE-MIB (RFC 4363), MAU-MIB (RFC 4836), EtherLike-MIB (RFC 3635). A
port's bridge port is its number in the inventory; its ifIndex is what dot1dBasePortIfIndex says. Every reader takes
answers to `walks` and raises Unreadable where they are not there or contradict each other.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from controller.drivers.driver import Answers, Aspect, SnmpSet, SnmpValue, Walk
from controller.model.state import Acceptance, StaticTable
from lab.errors import NotExpressible, Unreadable
from lab.model import Switch

IF_NAME = Walk("1.3.6.1.2.1.31.1.1.1.1")
IF_HIGH_SPEED = Walk("1.3.6.1.2.1.31.1.1.1.15")
IF_ADMIN_STATUS = Walk("1.3.6.1.2.1.2.2.1.7")
BASE_PORT_IF_INDEX = Walk("1.3.6.1.2.1.17.1.4.1.2")
STP_PORT_ENABLE = Walk("1.3.6.1.2.1.17.2.15.1.4")
STATIC_UNICAST_PORTS = Walk("1.3.6.1.2.1.17.7.1.3.1.1.3")
STATIC_UNICAST_STATUS = Walk("1.3.6.1.2.1.17.7.1.3.1.1.4")
VLAN_FDB_ID = Walk("1.3.6.1.2.1.17.7.1.4.2.1.3")
VLAN_EGRESS = Walk("1.3.6.1.2.1.17.7.1.4.3.1.2")
VLAN_UNTAGGED = Walk("1.3.6.1.2.1.17.7.1.4.3.1.4")
VLAN_ROW_STATUS = Walk("1.3.6.1.2.1.17.7.1.4.3.1.5")
PVID = Walk("1.3.6.1.2.1.17.7.1.4.5.1.1")
ACCEPTABLE_FRAME_TYPES = Walk("1.3.6.1.2.1.17.7.1.4.5.1.2")
INGRESS_FILTERING = Walk("1.3.6.1.2.1.17.7.1.4.5.1.3")
MAU_DEFAULT_TYPE = Walk("1.3.6.1.2.1.26.2.1.1.11")
MAU_AUTONEG_ADMIN = Walk("1.3.6.1.2.1.26.5.1.1.1")
MAU_AUTONEG_RESTART = Walk("1.3.6.1.2.1.26.5.1.1.8")
PAUSE_ADMIN_MODE = Walk("1.3.6.1.2.1.10.7.10.1.1")

_WALKS: Mapping[Aspect, tuple[Walk, ...]] = {
    "link": (IF_ADMIN_STATUS, MAU_AUTONEG_ADMIN, MAU_DEFAULT_TYPE, PAUSE_ADMIN_MODE),
    "vlan": (VLAN_ROW_STATUS, VLAN_EGRESS, VLAN_UNTAGGED, PVID, ACCEPTABLE_FRAME_TYPES, INGRESS_FILTERING),
    "statics": (VLAN_FDB_ID, STATIC_UNICAST_STATUS, STATIC_UNICAST_PORTS),
    "stp": (STP_PORT_ENABLE,),
    "energy": (),
}

_MAU_TYPES = "1.3.6.1.2.1.26.4."
_MAU_OF_MBPS = {10: 11, 100: 16, 1000: 30, 10_000: 54}
"""dot3MauType10BaseTFD, 100BaseTXFD, 1000BaseTFD, 10GbaseT (IANA-MAU-MIB)."""

_MBPS_OF_MAU = {
    **dict.fromkeys((5, 10, 11), 10),
    **dict.fromkeys((15, 16, 17, 18), 100),
    **dict.fromkeys(range(21, 31), 1000),
    **dict.fromkeys((*range(31, 43), 54), 10_000),
}
"""Half duplex, fibre and backplane types are read, and never written [M, other than the four above]."""

_YES, _NO = 1, 2
_ACTIVE, _CREATE_AND_GO, _DESTROY = 1, 4, 6
_INVALID, _PERMANENT, _DELETE_ON_RESET = 2, 3, 4
_PAUSE_DISABLED = 1

_WIDTH: Mapping[Walk, int] = {
    VLAN_FDB_ID: 2,  # TimeMark, VID
    **dict.fromkeys((MAU_DEFAULT_TYPE, MAU_AUTONEG_ADMIN), 2),  # ifIndex, MAU
    **dict.fromkeys((STATIC_UNICAST_PORTS, STATIC_UNICAST_STATUS), 8),  # database, six octets, receive port or 0
}
"""Numbers in a row's index, where it is not one."""

_OBJECT_NAMES: Mapping[Walk, str] = {
    IF_NAME: "ifName",
    IF_HIGH_SPEED: "ifHighSpeed",
    IF_ADMIN_STATUS: "ifAdminStatus",
    BASE_PORT_IF_INDEX: "dot1dBasePortIfIndex",
    STP_PORT_ENABLE: "dot1dStpPortEnable",
    STATIC_UNICAST_PORTS: "dot1qStaticUnicastAllowedToGoTo",
    STATIC_UNICAST_STATUS: "dot1qStaticUnicastStatus",
    VLAN_FDB_ID: "dot1qVlanFdbId",
    VLAN_EGRESS: "dot1qVlanStaticEgressPorts",
    VLAN_UNTAGGED: "dot1qVlanStaticUntaggedPorts",
    VLAN_ROW_STATUS: "dot1qVlanStaticRowStatus",
    PVID: "dot1qPvid",
    ACCEPTABLE_FRAME_TYPES: "dot1qPortAcceptableFrameTypes",
    INGRESS_FILTERING: "dot1qPortIngressFiltering",
    MAU_DEFAULT_TYPE: "ifMauDefaultType",
    MAU_AUTONEG_ADMIN: "ifMauAutoNegAdminStatus",
    PAUSE_ADMIN_MODE: "dot3PauseAdminMode",
}

PutObject = tuple[str, Literal["int", "gauge", "octets", "oid"], int | bytes | str]


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


def walks(aspects: Iterable[Aspect]) -> tuple[Walk, ...]:
    """What to ask for these aspects, with what finds the ports; empty if the MIBs know nothing of them (energy)."""
    wanted = set(aspects)
    found = [walk for aspect, columns in _WALKS.items() if aspect in wanted for walk in columns]
    return (IF_NAME, BASE_PORT_IF_INDEX, *found) if found else ()


# -- reading


def places(switch: Switch, answers: Answers, lags: Mapping[str, str] | None = None) -> tuple[Place, ...]:
    """Every port of the inventory, then LAGs: `lags` maps names such as `lag1` to their ifName.

    An interface that bears the inventory's name of a port and is another port's is Unreadable: the numbers in the
    inventory are wrong, and writing by them would hit a stranger.
    """
    index_of = {
        number: _integer(switch, BASE_PORT_IF_INDEX, value)
        for (number,), value in _rows(switch, BASE_PORT_IF_INDEX, answers)
    }
    by_name = {_text(value): index for (index,), value in _rows(switch, IF_NAME, answers)}
    found = []
    for port in switch.ports:
        if port.number not in index_of:
            raise _unreadable(switch, BASE_PORT_IF_INDEX, f"no bridge port {port.number}, which is to be {port.name}")
        if by_name.get(port.name, index_of[port.number]) != index_of[port.number]:
            said = f"bridge port {port.number} is not {port.name}: correct the port's number in the inventory"
            raise _unreadable(switch, IF_NAME, said)
        found.append(Place(port.name, port.number, index_of[port.number]))
    bridge_port_of = {index: number for number, index in index_of.items()}
    for name, if_name in (lags or {}).items():
        if by_name.get(if_name) not in bridge_port_of:
            raise _unreadable(switch, IF_NAME, f"no bridge port {if_name}, which is to be {name}")
        found.append(Place(name, bridge_port_of[by_name[if_name]], by_name[if_name]))
    return tuple(found)


def admin_up(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[str, bool]:
    """Whether each port is to be up (ifAdminStatus); testing(3) counts as down."""
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


def operating_mbps(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[str, int]:
    """Speed in force (ifHighSpeed, a walk that `walks` does not ask for); vague of a port that is down."""
    column = _column(switch, IF_HIGH_SPEED, answers)
    return {place.name: _cell(switch, IF_HIGH_SPEED, column, place.if_index) for place in at}


def pauses(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[str, bool]:
    """dot3PauseAdminMode by port; either direction counts as on. Ports without a row (LAGs) are left out."""
    column = _column(switch, PAUSE_ADMIN_MODE, answers)
    return {place.name: column[(place.if_index,)] != _PAUSE_DISABLED for place in at if (place.if_index,) in column}


def stp_enabled(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[str, bool]:
    """dot1dStpPortEnable by port."""
    column = _column(switch, STP_PORT_ENABLE, answers)
    return {place.name: _cell(switch, STP_PORT_ENABLE, column, place.bridge_port) == _YES for place in at}


def vlan_table(switch: Switch, at: Iterable[Place], answers: Answers) -> VlanTable:
    """Static VLANs whose row is active, and what each port is in them.

    A port in a VLAN's untagged list that is not in its egress list is no member. admitOnlyVlanTagged(2) is "tagged",
    anything else "all", ROS's own untagged-only(3) too.
    """
    status = _column(switch, VLAN_ROW_STATUS, answers)
    vids = frozenset(vid for (vid,), value in status.items() if value == _ACTIVE)
    egress = {vid: _ports(switch, VLAN_EGRESS, value) for (vid,), value in _rows(switch, VLAN_EGRESS, answers)}
    bare = {vid: _ports(switch, VLAN_UNTAGGED, value) for (vid,), value in _rows(switch, VLAN_UNTAGGED, answers)}
    for vid in sorted(vids):
        if vid not in egress or vid not in bare:
            raise _unreadable(switch, VLAN_EGRESS, f"VLAN {vid} is there and has no list of ports")
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


def fdb_ids(switch: Switch, answers: Answers) -> Mapping[int, int]:
    """The filtering database of each VLAN, by VID; equal numbers mean shared learning."""
    newest: dict[int, tuple[int, int]] = {}
    for (mark, vid), value in _rows(switch, VLAN_FDB_ID, answers):
        newest[vid] = max(newest.get(vid, (-1, 0)), (mark, _integer(switch, VLAN_FDB_ID, value)))
    return {vid: fdb_id for vid, (_, fdb_id) in newest.items()}


def statics(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[int, StaticTable]:
    """Static unicast entries by VID: MAC address to port, for entries to ports of the inventory.

    Where VLANs share a filtering database an entry is shown in each of them. An entry for one receive port only, or
    that goes with time (deleteOnTimeout), is not ours and left out; one with several ports is Unreadable.
    """
    name_of = {place.bridge_port: place.name for place in at}
    vids_of: dict[int, list[int]] = {}
    for vid, fdb_id in sorted(fdb_ids(switch, answers).items()):
        vids_of.setdefault(fdb_id, []).append(vid)
    status = dict(_rows(switch, STATIC_UNICAST_STATUS, answers))
    found: dict[int, dict[bytes, str]] = {}
    for index, value in _rows(switch, STATIC_UNICAST_PORTS, answers):
        if index[7] != 0 or status.get(index) not in {_PERMANENT, _DELETE_ON_RESET}:
            continue
        ports = _ports(switch, STATIC_UNICAST_PORTS, value)
        if len(ports) != 1 or index[0] not in vids_of or max(index[1:7]) > 255:
            said = f"entry {'.'.join(map(str, index))} for ports {sorted(ports)}, which is not one port in a known VLAN"
            raise _unreadable(switch, STATIC_UNICAST_PORTS, said)
        (number,) = ports
        if number in name_of:
            for vid in vids_of[index[0]]:
                found.setdefault(vid, {})[bytes(index[1:7])] = name_of[number]
    return found


# -- writing


def put_admin(place: Place, *, up: bool) -> SnmpSet:
    """Port up or down."""
    return SnmpSet((_truth(IF_ADMIN_STATUS, place.if_index, yes=up),), f"{'wake' if up else 'shut'} {place.name}")


def put_speed(switch: Switch, place: Place, mbps: int | None) -> SnmpSet:
    """A fixed speed, full duplex, or negotiation (None), which starts anew; NotExpressible for other than copper's."""
    negotiate = _truth(MAU_AUTONEG_ADMIN, f"{place.if_index}.1", yes=mbps is None)
    if mbps is None:
        restart = _truth(MAU_AUTONEG_RESTART, f"{place.if_index}.1", yes=True)
        return SnmpSet((negotiate, restart), f"negotiate on {place.name}")
    if mbps not in _MAU_OF_MBPS:
        raise NotExpressible(switch.name, switch.family, f"{mbps} Mb/s by MAU-MIB on {place.name}")
    default: PutObject = (f"{MAU_DEFAULT_TYPE.oid}.{place.if_index}.1", "oid", f"{_MAU_TYPES}{_MAU_OF_MBPS[mbps]}")
    return SnmpSet((default, negotiate), f"set {place.name} to {mbps} Mb/s")


def put_stp(place: Place, *, on: bool) -> SnmpSet:
    """The port's part in spanning tree."""
    return SnmpSet((_truth(STP_PORT_ENABLE, place.bridge_port, yes=on),), f"spanning tree {_onoff(on)} on {place.name}")


def put_vlan(vid: int, *, exists: bool) -> SnmpSet:
    """Create a VLAN without members, or destroy it."""
    status = _CREATE_AND_GO if exists else _DESTROY
    return SnmpSet(
        ((f"{VLAN_ROW_STATUS.oid}.{vid}", "int", status),), f"{'create' if exists else 'destroy'} VLAN {vid}"
    )


def put_members(vid: int, egress: Collection[int], untagged: Collection[int], size_byte: int) -> SnmpSet:
    """All members of a VLAN, by bridge port; whoever is not named leaves. `size_byte` is the length of the lists."""
    lists = (VLAN_EGRESS, egress), (VLAN_UNTAGGED, untagged)
    objects: list[PutObject] = [(f"{at.oid}.{vid}", "octets", port_list(ports, size_byte)) for at, ports in lists]
    return SnmpSet(tuple(objects), f"set the members of VLAN {vid}")


def put_pvid(place: Place, vid: int) -> SnmpSet:
    """The VLAN of frames that come without a tag."""
    return SnmpSet(
        ((f"{PVID.oid}.{place.bridge_port}", "gauge", vid),), f"send untagged frames of {place.name} to {vid}"
    )


def put_acceptance(place: Place, acceptance: Acceptance) -> SnmpSet:
    """All frames, or only tagged ones."""
    only = acceptance == "tagged"
    return SnmpSet(
        (_truth(ACCEPTABLE_FRAME_TYPES, place.bridge_port, yes=not only),), f"accept {acceptance} on {place.name}"
    )


def put_ingress_filtering(place: Place, *, on: bool) -> SnmpSet:
    """Whether frames of VLANs that the port is no member of are dropped."""
    return SnmpSet(
        (_truth(INGRESS_FILTERING, place.bridge_port, yes=on),), f"ingress filter {_onoff(on)} on {place.name}"
    )


def put_static(fdb_id: int, mac: bytes, place: Place | None, size_byte: int) -> SnmpSet:
    """A permanent entry, or its end (None)."""
    index = ".".join(map(str, (fdb_id, *mac, 0)))
    status: PutObject = (f"{STATIC_UNICAST_STATUS.oid}.{index}", "int", _INVALID if place is None else _PERMANENT)
    if place is None:
        return SnmpSet((status,), f"forget {mac.hex(':')} in database {fdb_id}")
    ports: PutObject = (f"{STATIC_UNICAST_PORTS.oid}.{index}", "octets", port_list((place.bridge_port,), size_byte))
    return SnmpSet((ports, status), f"hold {mac.hex(':')} of database {fdb_id} at {place.name}")


# -- PortList


def port_list(ports: Iterable[int], size_byte: int) -> bytes:
    """Bridge ports as a PortList: port 1 is the most significant bit of the first octet."""
    octets = bytearray(size_byte)
    for number in ports:
        octets[(number - 1) // 8] |= 0x80 >> ((number - 1) % 8)
    return bytes(octets)


def ports_of(octets: bytes) -> frozenset[int]:
    """Bridge ports in a PortList; octets that are missing hold none."""
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
        raise _unreadable(switch, walk, f"{value!r}, which is no number")
    return value


def _ports(switch: Switch, walk: Walk, value: SnmpValue) -> frozenset[int]:
    if not isinstance(value, bytes):
        raise _unreadable(switch, walk, f"{value!r}, which is no list of ports")
    return ports_of(value)


def _text(value: SnmpValue) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _truth(walk: Walk, index: int | str, *, yes: bool) -> PutObject:
    """TruthValue, or any enumeration whose 1 is yes and whose 2 is no."""
    return f"{walk.oid}.{index}", "int", _YES if yes else _NO


def _onoff(on: bool) -> str:  # noqa: FBT001  # one word for one flag
    return "on" if on else "off"


def _unreadable(switch: Switch, walk: Walk, said: str) -> Unreadable:
    return Unreadable(switch.name, f"a walk of {_OBJECT_NAMES.get(walk, walk.oid)}", said)
