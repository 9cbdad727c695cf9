"""Ports of a switch that no inventory lists, and hosts that announce themselves there: IF-MIB, LLDP-MIB. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from eee_testbed.controller.checking.cabling import LLDP_CHASSIS, LLDP_NAME, LLDP_OWN_PORT, LLDP_PORT, by_neighbour
from eee_testbed.controller.checking.discovery.found import FoundPort, Station
from eee_testbed.controller.checking.neighbours import as_mac, as_text
from eee_testbed.controller.drivers.driver import Answers, Walk
from eee_testbed.controller.drivers.interface_names import interface_key
from eee_testbed.controller.drivers.mib_rows import rows_of, text_of
from eee_testbed.controller.drivers.places import BASE_PORT_IF_INDEX, IF_DESCR, IF_NAME
from eee_testbed.lab.model import RATES_MBPS
from eee_testbed.lab.plain_text import decoded

IF_TYPE: Final = Walk("1.3.6.1.2.1.2.2.1.3", "ifType")
IF_HIGH_SPEED: Final = Walk("1.3.6.1.2.1.31.1.1.1.15", "ifHighSpeed")
LLDP_PORT_DESCRIPTION: Final = Walk("1.0.8802.1.1.2.1.4.1.1.8", "lldpRemPortDesc")
LLDP_CAPABILITIES: Final = Walk("1.0.8802.1.1.2.1.4.1.1.12", "lldpRemSysCapEnabled")
LLDP_ADDRESS: Final = Walk("1.0.8802.1.1.2.1.4.2.1.3", "lldpRemManAddrIfSubtype")

QUERIES: Final = (IF_TYPE, IF_HIGH_SPEED, LLDP_PORT_DESCRIPTION, LLDP_CAPABILITIES, LLDP_ADDRESS)

_ETHERNET: Final = frozenset((6, 62, 69, 117))  # ethernetCsmacd, fastEther, fastEtherFX, gigabitEthernet
_RATES: Final = {
    "fa": 100, "gi": 1000, "tw": 2500, "fi": 5000, "te": 10_000, "twe": 25_000, "fo": 40_000, "fif": 50_000,
    "hu": 100_000,
}  # fmt: skip
_USUAL_MBPS: Final = 1000
_BRIDGE_BIT: Final = 0x20  # of the first octet of LldpSystemCapabilitiesMap
_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_.-]{1,14}")
_MAC_BYTE: Final = 6
_IPV4_PARTS: Final = 5  # of the index of a management address: 4, and the address


def ports_of(answers: Answers) -> tuple[FoundPort, ...]:
    """Ethernet interfaces that are ports of the bridge, in the order of ifIndex; LAGs and VLANs are left out.

    The rate is what the name says, else what the link runs at, else a guess of 1 Gb/s.
    """
    bridged = {str(value) for value in rows_of(answers, BASE_PORT_IF_INDEX).values()}
    kinds, speeds = rows_of(answers, IF_TYPE), rows_of(answers, IF_HIGH_SPEED)
    names = {**_texts(answers, IF_DESCR), **_texts(answers, IF_NAME)}
    ports = []
    for index in sorted(kinds, key=int):
        key = interface_key(names.get(index, ""))
        if (
            kinds[index] not in _ETHERNET
            or key is None
            or key[0] in {"lag", "vlan"}
            or (bridged and index not in bridged)
        ):
            continue
        speed, by_name = speeds.get(index, 0), _RATES.get(key[0], 0)
        seen = speed if isinstance(speed, int) and speed in RATES_MBPS else 0
        rate = max(seen, by_name)
        name = names[index] if " " not in names[index] else key[1]  # cables.csv takes no name in several words
        ports.append(FoundPort(name, rate or _USUAL_MBPS, guessed=not rate))
    return tuple(ports)


def _texts(answers: Answers, walk: Walk) -> dict[str, str]:
    found = ((index, text_of(value).strip()) for index, value in rows_of(answers, walk).items())
    return {index: text for index, text in found if text}


def stations_of(switch: str, answers: Answers) -> tuple[Station, ...]:
    """Hosts that announce themselves to a switch; bridges are not among them."""
    return tuple(_stations(switch, answers))


def _stations(switch: str, answers: Answers) -> Iterator[Station]:
    own = {number: text_of(value) for number, value in rows_of(answers, LLDP_OWN_PORT).items()}
    columns = [
        by_neighbour(answers, walk)
        for walk in (LLDP_CHASSIS, LLDP_PORT, LLDP_NAME, LLDP_PORT_DESCRIPTION, LLDP_CAPABILITIES)
    ]
    addresses = _addresses(answers)
    for at in columns[0]:
        chassis, port, name, description, capabilities = (column.get(at, b"") for column in columns)
        if at[0] not in own or (capabilities and capabilities[0] & _BRIDGE_BIT):
            continue
        mac = next((mac for mac in (as_mac(port), as_mac(chassis)) if len(mac) == _MAC_BYTE), b"")
        said = decoded(description), as_text(port)
        interface = next((text for text in said if _NAME.fullmatch(text)), "")
        yield Station(switch, own[at[0]], decoded(name), mac, interface, addresses.get(at, ""))


def _addresses(answers: Answers) -> dict[tuple[str, str], str]:
    """IPv4 management addresses: TimeMark, local port number, neighbour's number, subtype 1, length 4, address."""
    addresses = {}
    for index in rows_of(answers, LLDP_ADDRESS):
        parts = index.split(".")
        if parts[3:5] == ["1", "4"] and len(parts[4:]) == _IPV4_PARTS:
            addresses[parts[1], parts[2]] = ".".join(parts[5:])
    return addresses
