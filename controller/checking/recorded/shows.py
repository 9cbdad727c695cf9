"""Readers of shows held against recorded text and what its collector read of it, as in ntc-templates' tests. Pure.

A recording is PLATFORM/COMMAND/NAME.raw, and beside it NAME.yml has what another reader made of it, or a person states:
a list of records below `parsed_sample`. Only fields that both readers know are compared. Without NAME.yml there is no
verdict, and what was read is said.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from eee_testbed.controller.checking.recorded.verdict import Verdict, judge, only_read
from eee_testbed.controller.drivers import lldp_shows, mac_shows
from eee_testbed.controller.drivers.cisco_ios.driver import VERSION as IOS_VERSION
from eee_testbed.controller.drivers.cisco_ios.eee import PortEee, eee_commands
from eee_testbed.controller.drivers.cisco_ios.names import interface_key, read_vids
from eee_testbed.controller.drivers.cisco_ios.read import EVERY_VID, read_switchports, read_vlans, switchport_of
from eee_testbed.controller.drivers.driver import Show
from eee_testbed.controller.drivers.fastpath.shows import eee_of_port, identity_of_version
from eee_testbed.controller.drivers.interface_names import interface_key as generic_key
from eee_testbed.controller.drivers.ros import text as ros_text
from eee_testbed.controller.drivers.ros.driver import SYSTEM as ROS_SYSTEM
from eee_testbed.controller.drivers.ros.driver import VERSION as ROS_VERSION
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch, SwitchFamily

Records = list[Mapping[str, Any]]
Reading = Callable[[Switch, str], Any]
Expecting = Callable[[Records], Any]


@dataclass(frozen=True, slots=True)
class _Judge:
    """What is read of a show, and what its collector's records say about the same."""

    family: SwitchFamily
    reading: str
    read: Reading
    expect: Expecting
    by_port: bool = False


def judge_show(recording: str, platform: str, command: str, text: str, records: Records | None) -> Iterator[Verdict]:
    """Verdicts on one recorded show; `records` None: nobody says what is right."""
    platform, command = _PLATFORMS.get(platform, platform), command.replace(" ", "_")
    judges = _JUDGES.get((platform, command), ())
    if not judges:
        yield _unknown(recording, platform, command)
    for one in judges:
        switch = Switch("recorded", one.family, "", "", 22, 161, "", "", "", ())
        read = partial(one.read, switch, text)
        if records is None:
            yield only_read(recording, platform, one.reading, read)
            continue
        try:
            expected = one.expect(records)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            said = f"the records beside it lack what it is compared with ({type(error).__name__}: {error})"
            yield Verdict(recording, platform, one.reading, "unread", said)
            continue
        ask = _judge_ports if one.by_port else judge
        yield ask(recording, platform, one.reading, read, expected)


def _unknown(recording: str, platform: str, command: str) -> Verdict:
    commands = sorted(name for known, name in _JUDGES if known == platform)
    if commands:
        said = f"nothing is read of {command} of {platform}: known are {', '.join(commands)}"
    else:
        known = sorted({name for name, _ in _JUDGES} | _PLATFORMS.keys())
        said = f"{platform} is not a known platform in PLATFORM/COMMAND/NAME.raw: known are {', '.join(known)}"
    return Verdict(recording, platform, command, "unread", said)


def _judge_ports(recording: str, device: str, reading: str, read: Callable[[], Any], expected: Any) -> Verdict:
    """Each port by itself: one that is refused, such as one with a voice VLAN, leaves the others to be compared."""

    def found() -> object:
        ports = read()
        refused.extend(str(why) for why in ports.values() if isinstance(why, ValueError))
        kept = {key: port for key, port in ports.items() if not isinstance(port, ValueError)}
        if refused and not kept:
            raise Unreadable("recorded", reading, refused[0])
        for key in ports.keys() - kept.keys():
            expected.pop(key, None)
        return kept

    refused: list[str] = []
    verdict = judge(recording, device, reading, found, expected)
    return replace(verdict, said=verdict.said or "; ".join(f"refused: {why}" for why in refused))


# -- who it is


def _ios_identity(switch: Switch, text: str) -> object:
    found = driver_of(switch).identity(switch, {IOS_VERSION: text})
    return found.firmware, frozenset(found.serial.split(", ")) - {""}


def _ios_expected(records: Records) -> object:
    (record,) = records
    return str(record["version"]), frozenset(map(str, record["serial"]))


def _ios_model(switch: Switch, text: str) -> object:
    return driver_of(switch).identity(switch, {IOS_VERSION: text}).model


def _ros_firmware(switch: Switch, text: str) -> object:
    return driver_of(switch).identity(switch, {ROS_VERSION: text, ROS_SYSTEM: "System Description: x"}).firmware


def _fastpath_identity(switch: Switch, text: str) -> object:
    found = identity_of_version(switch, text)
    return found.model, found.firmware, found.serial


def _fastpath_expected(records: Records) -> object:
    (record,) = records
    model, kind = str(record["switch_model"]), str(record.get("switch_type", ""))
    named = kind.partition(",")[0].strip() if model.upper().startswith("BCM") else model
    return named, str(record["version"]), str(record["serial"])


# -- ports and VLANs


def _ios_ports(switch: Switch, text: str) -> object:
    """Mode and VLANs of the ports that are in a mode that a plan can work with."""
    try:
        blocks = read_switchports(text)
    except ValueError as error:
        raise Unreadable(switch.name, "show interfaces switchport", str(error)) from error
    return {key: _ios_port(fields) for key, fields in blocks.items()}


def _ios_port(fields: Mapping[str, str]) -> object:
    try:
        port = switchport_of(fields, tags_native=False)
    except ValueError as error:
        return error
    return str(port.access_vid), str(port.native_vid), port.allowed_vids


def _ios_ports_expected(records: Records) -> object:
    ports = {}
    for record in records:
        key = interface_key(str(record["interface"]))
        if key is not None and record["switchport"] == "Enabled":
            lists = [str(vids) for vids in record["trunking_vlans"]]
            allowed = EVERY_VID if lists == ["ALL"] else frozenset[int]().union(*map(read_vids, lists))
            ports[key] = (str(record["access_vlan"]), str(record["native_vlan"]), allowed)
    return ports


def _ios_vlans(switch: Switch, text: str) -> object:
    try:
        return read_vlans(text)
    except ValueError as error:
        raise Unreadable(switch.name, "show vlan brief", str(error)) from error


def _vids_expected(records: Records) -> object:
    return frozenset(int(record["vlan_id"]) for record in records) - frozenset(range(1002, 1006))


def _ros_statics(switch: Switch, text: str) -> object:
    return {vid: set(table) for vid, table in ros_text.statics(switch, "show mac address-table", text).items()}


def _ros_statics_expected(records: Records) -> object:
    entries: dict[int, set[bytes]] = {}
    for record in records:
        if str(record.get("type", "")).lower() not in {"self", "dynamic"}:
            entries.setdefault(int(record["vlan_id"]), set()).add(_mac(str(record["destination_address"])))
    return entries


def _mac(text: str) -> bytes:
    return bytes.fromhex(re.sub(r"[^0-9A-Fa-f]", "", text))


# -- neighbours


def _ios_learned(records: Records) -> object:
    """By address, the keys of the ports where it was learned."""
    ports: dict[bytes, set[object]] = {}
    for record in records:
        held = record["destination_port"]
        keys = {generic_key(str(port)) for port in ([held] if isinstance(held, str) else held)} - {None}
        if str(record["type"]).lower() == "dynamic" and keys:
            ports.setdefault(_mac(str(record["destination_address"])), set()).update(keys)
    return ports


def _ios_addresses(_switch: Switch, text: str) -> object:
    """Every interface that the text names is a port."""
    ports = {
        key: word for word in text.split() if "/" in word or word.lower().startswith("po") if (key := generic_key(word))
    }
    table = mac_shows.read(text, ports.values())
    return {mac: {generic_key(port) for port in at} for mac, at in table.items()}


def _neighbours(family: SwitchFamily) -> Reading:
    def read(_switch: Switch, text: str) -> object:
        found = lldp_shows.read(family, text)
        return {port: {_neighbour(one) for one in heard.several or (heard,)} for port, heard in found.items()}

    return read


def _neighbour(one: lldp_shows.Neighbour) -> tuple[bytes, str, str]:
    return one.chassis, one.port.decode(), one.name.removesuffix(" ...")


def _table_expected(records: Records) -> object:
    neighbours: dict[str, set[tuple[bytes, str, str]]] = {}
    for record in records:
        if record["chassis_id"]:
            names = _joined(record["neighbor_interface"]), _joined(record["neighbor_name"])
            neighbours.setdefault(str(record["local_interface"]), set()).add(
                (_chassis(str(record["chassis_id"])), *names)
            )
    return neighbours


def _details_expected(records: Records) -> object:
    neighbours: dict[str, set[tuple[bytes, str, str]]] = {}
    for record in records:
        if record["local_interface"] and record["chassis_id"]:
            names = str(record["neighbor_port_id"]), str(record["neighbor_name"])
            neighbours.setdefault(str(record["local_interface"]), set()).add(
                (_chassis(str(record["chassis_id"])), *names)
            )
    return neighbours


def _joined(cells: str | Iterable[object]) -> str:
    parts = [cells] if isinstance(cells, str) else [str(cell) for cell in cells]
    return "".join(part for part in parts if part not in {"None", "-", "--"})


def _chassis(text: str) -> bytes:
    digits = re.sub(r"[:.-]", "", text)
    return bytes.fromhex(digits) if re.fullmatch(r"[0-9A-Fa-f]{12}", digits) else text.encode()


# -- EEE: records are what a person states, one of them for each show


def _ios_eee(kind: str) -> Reading:
    def read(_switch: Switch, text: str) -> object:
        interface = text.split(maxsplit=1)[0] if text.strip() else ""
        commands = dict(zip(("capabilities", "status"), eee_commands(interface), strict=True))
        found = PortEee.of({Show(commands[kind]): text}, interface)
        return found.active if kind == "status" else (found.supported, found.in_asic, found.partner)

    return read


def _ros_eee(switch: Switch, text: str) -> object:
    found = ros_text.energy(switch, "show eee", text)
    return found.enabled, found.ports, found.active


def _green_mode(switch: Switch, text: str) -> object:
    found = eee_of_port(switch, "recorded", text)
    return found.enabled, found.hold_us, found.wake_us


def _stated(*fields: str) -> Expecting:
    """The fields of the one record; lists are sets of ports."""

    def expect(records: Records) -> object:
        (record,) = records
        values = tuple(
            frozenset(value) if isinstance(value, list) else value for value in (record[field] for field in fields)
        )
        return values if len(values) > 1 else values[0]

    return expect


_PLATFORMS: Final[Mapping[str, str]] = {
    "cisco_sg": "cisco_s300",
    "dell_powerconnect_55xx": "cisco_s300",
    "netgear_m4300": "broadcom_icos",
}
"""Families of ours, by the platform of ntc-templates that has the same shows."""

_ROS_LLDP: Final = _Judge("cisco_sg", "LLDP neighbours", _neighbours("cisco_sg"), _table_expected)
_FASTPATH_VERSION: Final = _Judge(
    "netgear_m4300", "model, firmware, serial number", _fastpath_identity, _fastpath_expected
)
_JUDGES: Final[Mapping[tuple[str, str], tuple[_Judge, ...]]] = {
    ("cisco_ios", "show_version"): (
        _Judge("cisco_ios", "firmware and serial numbers", _ios_identity, _ios_expected),
        _Judge("cisco_ios", "model", _ios_model, lambda records: str(records[0]["hardware"][0])),
    ),
    ("cisco_ios", "show_interfaces_switchport"): (
        _Judge("cisco_ios", "modes and VLANs of ports", _ios_ports, _ios_ports_expected, by_port=True),
    ),
    ("cisco_ios", "show_mac-address-table"): (_Judge("cisco_ios", "learned addresses", _ios_addresses, _ios_learned),),
    ("cisco_ios", "show_vlan"): (_Judge("cisco_ios", "VLANs", _ios_vlans, _vids_expected),),
    ("cisco_ios", "show_vlan_brief"): (_Judge("cisco_ios", "VLANs", _ios_vlans, _vids_expected),),
    ("cisco_ios", "show_lldp_neighbors_detail"): (
        _Judge("cisco_ios", "LLDP neighbours", _neighbours("cisco_ios"), _details_expected),
    ),
    ("cisco_ios", "show_eee_capabilities"): (
        _Judge(
            "cisco_ios",
            "EEE supported, in its ASIC, of its partner",
            _ios_eee("capabilities"),
            _stated("supported", "in_asic", "partner"),
        ),
    ),
    ("cisco_ios", "show_eee_status"): (_Judge("cisco_ios", "EEE in force", _ios_eee("status"), _stated("active")),),
    ("cisco_s300", "show_eee"): (
        _Judge("cisco_sg", "EEE on, set and in force", _ros_eee, _stated("enabled", "ports", "active")),
    ),
    ("broadcom_icos", "show_green-mode"): (
        _Judge("netgear_m4300", "EEE on, hold and wake", _green_mode, _stated("enabled", "hold_us", "wake_us")),
    ),
    ("cisco_s300", "show_version"): (
        _Judge("cisco_sg", "firmware", _ros_firmware, lambda records: str(records[0]["sw_version"])),
    ),
    ("cisco_s300", "show_lldp_neighbors"): (_ROS_LLDP,),
    ("cisco_s300", "show_mac_address-table"): (
        _Judge("cisco_sg", "static addresses", _ros_statics, _ros_statics_expected),
    ),
    ("dell_powerconnect", "show_lldp_neighbors"): (_ROS_LLDP,),
    ("eltex", "show_lldp_neighbors"): (_ROS_LLDP,),
    ("broadcom_icos", "show_version"): (_FASTPATH_VERSION,),
    ("ubiquiti_edgeswitch", "show_version"): (_FASTPATH_VERSION,),
    ("broadcom_icos", "show_lldp_remote-device_all"): (
        _Judge("netgear_m4300", "LLDP neighbours", _neighbours("netgear_m4300"), _table_expected),
    ),
}
"""By platform and command, as ntc-templates names them."""
