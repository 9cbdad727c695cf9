"""What iproute2 prints in JSON about interfaces, a bridge's VLANs and its static entries. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from eee_testbed.controller.drivers.driver import Answers, Show
from eee_testbed.controller.model.state import StaticTable
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch


class _Part(BaseModel):
    """iproute2 says more than is asked here, and more with each version."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _BridgeData(_Part):
    stp_state: int = 0
    vlan_filtering: int = 0


class _LinkInfo(_Part):
    info_kind: str = ""
    info_data: _BridgeData | None = None


class _Link(_Part):
    ifname: str
    flags: tuple[str, ...]
    master: str = ""
    linkinfo: _LinkInfo = _LinkInfo()


class _Vlan(_Part):
    vlan: int
    vlanEnd: int = 0  # noqa: N815  # iproute2's name
    flags: tuple[str, ...] = ()


class _PortVlans(_Part):
    ifname: str
    vlans: tuple[_Vlan, ...] = ()


class _Entry(_Part):
    mac: str
    ifname: str = ""
    vlan: int = 0
    master: str = ""
    state: str = ""


_LINKS = TypeAdapter(tuple[_Link, ...])
_PORT_VLANS = TypeAdapter(tuple[_PortVlans, ...])
_ENTRIES = TypeAdapter(tuple[_Entry, ...])
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Interface:
    """`master` is the bridge or bond that it is in, empty if none; the last two are a bridge's own."""

    admin_up: bool
    master: str
    vlan_filtering: bool
    stp: bool


@dataclass(frozen=True, slots=True)
class Membership:
    """VLANs of one bridge port, or of the bridge itself. `pvid` 0: none."""

    untagged: frozenset[int] = frozenset()
    tagged: frozenset[int] = frozenset()
    pvid: int = 0

    @property
    def vids(self) -> frozenset[int]:
        """All of them."""
        return self.untagged | self.tagged


def read_interfaces(switch: Switch, query: Show, answers: Answers) -> Mapping[str, Interface]:
    """Every interface of the machine, by name, from `ip -j -d link show`."""
    interfaces = {}
    for link in _parsed(switch, query, answers, _LINKS):
        is_bridge = link.linkinfo.info_kind == "bridge"
        bridge = link.linkinfo.info_data if is_bridge and link.linkinfo.info_data else _BridgeData()
        interfaces[link.ifname] = Interface(
            "UP" in link.flags, link.master, bool(bridge.vlan_filtering), bool(bridge.stp_state)
        )
    return interfaces


def read_memberships(switch: Switch, query: Show, answers: Answers) -> Mapping[str, Membership]:
    """Bridge ports and bridges that are in some VLAN, by name, from `bridge -j vlan show`."""
    memberships = {}
    for port in _parsed(switch, query, answers, _PORT_VLANS):
        untagged: set[int] = set()
        tagged: set[int] = set()
        pvid = 0
        for entry in port.vlans:
            vids = range(entry.vlan, max(entry.vlan, entry.vlanEnd) + 1)
            (untagged if "Egress Untagged" in entry.flags else tagged).update(vids)
            if "PVID" in entry.flags:
                pvid = entry.vlan
        memberships[port.ifname] = Membership(frozenset(untagged), frozenset(tagged), pvid)
    return memberships


def read_entries(
    switch: Switch, query: Show, answers: Answers, bridge: str, ports: Mapping[str, str]
) -> Mapping[int, StaticTable]:
    """Static entries of the bridge by VID, for its ports: `ports` maps interfaces to the inventory's names."""
    entries: dict[int, dict[bytes, str]] = {}
    for entry in _parsed(switch, query, answers, _ENTRIES):
        if entry.state == "static" and entry.master == bridge and entry.vlan and entry.ifname in ports:
            try:
                mac = bytes.fromhex(entry.mac.replace(":", ""))
            except ValueError as error:
                raise Unreadable(switch.name, query.command, entry.mac) from error
            entries.setdefault(entry.vlan, {})[mac] = ports[entry.ifname]
    return entries


def _parsed(switch: Switch, query: Show, answers: Answers, shape: TypeAdapter[_Value]) -> _Value:
    answer = answers.get(query)
    if not isinstance(answer, str):
        raise Unreadable(switch.name, query.command, "nothing")
    try:
        return shape.validate_json(answer.strip() or "[]")
    except ValidationError as error:
        raise Unreadable(switch.name, query.command, answer) from error
