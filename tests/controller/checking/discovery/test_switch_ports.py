"""Ports and hosts of a switch that no inventory lists."""

from typing import TYPE_CHECKING

from eee_testbed.controller.checking.cabling import LLDP_CHASSIS, LLDP_NAME, LLDP_OWN_PORT, LLDP_PORT
from eee_testbed.controller.checking.discovery.found import FoundPort, Station
from eee_testbed.controller.checking.discovery.switch_ports import (
    IF_HIGH_SPEED,
    IF_TYPE,
    LLDP_ADDRESS,
    LLDP_CAPABILITIES,
    LLDP_PORT_DESCRIPTION,
    ports_of,
    stations_of,
)
from eee_testbed.controller.drivers.places import BASE_PORT_IF_INDEX, IF_DESCR, IF_NAME

if TYPE_CHECKING:
    from eee_testbed.controller.drivers.driver import Answers

_NAMES = {
    "1": b"gi1",
    "2": b"te1",
    "3": b"0/3",
    "4": b"0/4",
    "9": b"Po1",
    "10": b"Vlan 1",
    "11": b"oob",
    "12": b"gi2",
    "13": b"",
}


def test_ports_are_the_bridges_ethernet_interfaces_and_their_rate_is_that_of_name_or_link() -> None:
    answers: Answers = {
        IF_TYPE: dict.fromkeys(_NAMES, 6) | {"10": 53},
        IF_NAME: _NAMES,
        IF_DESCR: {"13": b"Unit: 1 Slot: 0 Port: 13 Gigabit - Level"},
        IF_HIGH_SPEED: {"1": 100, "2": 1000, "3": 10_000, "4": 0},
        BASE_PORT_IF_INDEX: {"1": 1, "2": 2, "3": 3, "4": 4, "5": 9, "6": 10},
    }
    assert ports_of(answers) == (
        FoundPort("gi1", 1000, guessed=False),
        FoundPort("te1", 10_000, guessed=False),
        FoundPort("0/3", 10_000, guessed=False),
        FoundPort("0/4", 1000, guessed=True),
    )
    assert [port.name for port in ports_of({**answers, BASE_PORT_IF_INDEX: {}})] == [
        "gi1",
        "te1",
        "0/3",
        "0/4",
        "gi2",
        "1/0/13",
    ]


def test_hosts_are_who_announces_himself_and_is_no_bridge() -> None:
    mac = b"\2\0\0\0\0\7"
    answers: Answers = {
        LLDP_OWN_PORT: {"1": b"gi1", "2": b"gi2", "3": b"gi3"},
        LLDP_CHASSIS: {"5.1.1": mac, "5.2.1": b"\2\0\0\0\0\x09", "5.3.4": b"box"},
        LLDP_PORT: {"6.1.1": mac, "5.2.1": b"gi7", "5.3.4": b"eth0"},
        LLDP_NAME: {"5.1.1": b"n1", "5.2.1": b"sw", "5.3.4": b"n2"},
        LLDP_PORT_DESCRIPTION: {"5.1.1": b"eno1", "5.3.4": b"the second card"},
        LLDP_CAPABILITIES: {"5.1.1": b"\1\0", "5.2.1": b"\x20\0"},
        LLDP_ADDRESS: {"5.1.1.1.4.192.0.2.7": 2, "5.1.1.2.16.1.2.3.4": 2},
    }
    assert stations_of("s", answers) == (
        Station("s", "gi1", "n1", mac, "eno1", "192.0.2.7"),
        Station("s", "gi3", "n2", b"", "eth0", ""),
    )
