"""What the standard MIBs say about a switch's ports and VLANs. Pure.

IF-MIB (RFC 2863), Q-BRIDGE-MIB (RFC 4363), MAU-MIB (RFC 4836). Every reader takes the answers to walks, and where the
ports are (`controller.drivers.places`); it raises Unreadable if answers are missing or contradict each other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eee_testbed.controller.drivers.driver import Answers, Walk
from eee_testbed.controller.drivers.mib_rows import cell, column, port_list, rows, unreadable
from eee_testbed.controller.drivers.places import BASE_PORT_IF_INDEX, IF_ADMIN_STATUS, Place
from eee_testbed.controller.model.state import Acceptance
from eee_testbed.lab.model import Switch

VLAN_EGRESS = Walk("1.3.6.1.2.1.17.7.1.4.3.1.2", "dot1qVlanStaticEgressPorts")
VLAN_UNTAGGED = Walk("1.3.6.1.2.1.17.7.1.4.3.1.4", "dot1qVlanStaticUntaggedPorts")
VLAN_ROW_STATUS = Walk("1.3.6.1.2.1.17.7.1.4.3.1.5", "dot1qVlanStaticRowStatus")
PVID = Walk("1.3.6.1.2.1.17.7.1.4.5.1.1", "dot1qPvid")
ACCEPTABLE_FRAME_TYPES = Walk("1.3.6.1.2.1.17.7.1.4.5.1.2", "dot1qPortAcceptableFrameTypes")
INGRESS_FILTERING = Walk("1.3.6.1.2.1.17.7.1.4.5.1.3", "dot1qPortIngressFiltering")
MAU_DEFAULT_TYPE = Walk("1.3.6.1.2.1.26.2.1.1.11", "ifMauDefaultType")
MAU_AUTONEG_ADMIN = Walk("1.3.6.1.2.1.26.5.1.1.1", "ifMauAutoNegAdminStatus")

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

_TRUE_VALUE = 1
_ACTIVE_STATUS = 1

_MAU_WIDTH = 2  # ifIndex, MAU


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


def admin_up(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[str, bool]:
    """Whether each port is administratively up (ifAdminStatus); testing(3) counts as down."""
    status = column(switch, IF_ADMIN_STATUS, answers)
    return {place.name: cell(switch, IF_ADMIN_STATUS, status, place.if_index) == _TRUE_VALUE for place in at}


def speeds_mbps(switch: Switch, at: Iterable[Place], answers: Answers) -> Mapping[str, int | None]:
    """MAU-MIB: None where the port negotiates, else its default type's speed; ports without a MAU are left out."""
    negotiates = column(switch, MAU_AUTONEG_ADMIN, answers, _MAU_WIDTH)
    types = dict(rows(switch, MAU_DEFAULT_TYPE, answers, _MAU_WIDTH))
    speeds: dict[str, int | None] = {}
    for place in at:
        index = (place.if_index, 1)
        if index not in negotiates and index not in types:
            continue
        if negotiates.get(index) == _TRUE_VALUE:
            speeds[place.name] = None
            continue
        number = str(types.get(index, "")).removeprefix(".").removeprefix(_MAU_TYPES)
        if not number.isdecimal() or int(number) not in _MBPS_OF_MAU:
            raise unreadable(
                switch,
                MAU_DEFAULT_TYPE,
                f"{place.name} does not negotiate, and its MAU type {types.get(index)!r} is unknown",
            )
        speeds[place.name] = _MBPS_OF_MAU[int(number)]
    return speeds


def vlan_table(switch: Switch, at: Iterable[Place], answers: Answers) -> VlanTable:
    """Static VLANs whose row is active, and what each port is in them.

    A port in a VLAN's untagged list that is not in its egress list is not a member. admitOnlyVlanTagged(2) is "tagged",
    anything else "all", ROS's own untagged-only(3) too.
    """
    status = column(switch, VLAN_ROW_STATUS, answers)
    vids = frozenset(vid for (vid,), value in status.items() if value == _ACTIVE_STATUS)
    egress = {vid: port_list(switch, VLAN_EGRESS, value) for (vid,), value in rows(switch, VLAN_EGRESS, answers)}
    bare = {vid: port_list(switch, VLAN_UNTAGGED, value) for (vid,), value in rows(switch, VLAN_UNTAGGED, answers)}
    for vid in sorted(vids):
        if vid not in egress or vid not in bare:
            raise unreadable(switch, VLAN_EGRESS, f"VLAN {vid} exists, but its list of ports is missing")
    pvid = column(switch, PVID, answers)
    acceptable = column(switch, ACCEPTABLE_FRAME_TYPES, answers)
    filtering = column(switch, INGRESS_FILTERING, answers)
    ports = {}
    for place in at:
        number = place.bridge_port
        if number is None:
            reason = (
                f"no bridge port for {place.name}, ifIndex {place.if_index}: state it with `bridge_ports` in hosts.yml"
            )
            raise unreadable(switch, BASE_PORT_IF_INDEX, reason)
        ports[place.name] = Membership(
            untagged_vids=frozenset(vid for vid in vids if number in egress[vid] & bare[vid]),
            tagged_vids=frozenset(vid for vid in vids if number in egress[vid] - bare[vid]),
            pvid=cell(switch, PVID, pvid, number),
            acceptance="tagged" if cell(switch, ACCEPTABLE_FRAME_TYPES, acceptable, number) == 2 else "all",
            ingress_filtering=cell(switch, INGRESS_FILTERING, filtering, number) == _TRUE_VALUE,
        )
    return VlanTable(vids, ports)
