"""Names of interfaces: IOS's list and the one of all families are one table."""

import pytest

from eee_testbed.controller.drivers.cisco_ios.names import interface_key, interface_name
from eee_testbed.controller.drivers.driver import Show
from eee_testbed.controller.drivers.interface_names import SPELLINGS
from eee_testbed.controller.drivers.interface_names import interface_key as generic_key
from eee_testbed.lab.errors import Unreadable
from tests.controller.drivers.cisco_ios.test_ios_law import DRIVER, switch_of


@pytest.mark.parametrize("kind", sorted(SPELLINGS.keys() - {"vlan"}))
def test_every_kind_is_known_by_every_spelling_and_typed_in_full(kind: str) -> None:
    keys = {interface_key(f"{spelling}1/0/7") for spelling in SPELLINGS[kind]}
    assert len(keys) == 1
    assert None not in keys
    full = interface_name(f"{SPELLINGS[kind][0]}1/0/7")
    assert generic_key(full) == (kind, "1/0/7"), full
    assert interface_name(full) == full


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("Et0/3", "Ethernet0/3"),
        ("Ethernet0/3", "Ethernet0/3"),
        ("Fif1/0/25", "FiftyGigE1/0/25"),
        ("Ap1/0/1", "AppGigabitEthernet1/0/1"),
        ("lag4", "Port-channel4"),
    ],
)
def test_ports_of_virtual_and_newer_switches_are_read(name: str, full: str) -> None:
    switch = switch_of([name])
    answers = {Show("show running-config"): f"interface {full}\n shutdown\n!\nend\n"}
    assert not DRIVER.parse(switch, frozenset({"link"}), answers, None).ports[name].admin_up


@pytest.mark.parametrize("name", ["Vlan1", "Loopback0", "GigabitEthernet0/1.10", "1/0/7"])
def test_other_interfaces_are_no_ports(name: str) -> None:
    assert interface_key(name) is None


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["Gi0/1", "gizmo3"], "gizmo3 is not an interface name of IOS"),
        (["Gi0/1", "Et0/3"], "interface Et0/3 is missing"),
        (["Gi0/1", "GigabitEthernet0/1"], "one interface under two names"),
    ],
)
def test_a_port_that_is_missing_is_named_with_the_reason(names: list[str], words: str) -> None:
    answers = {Show("show running-config"): "interface GigabitEthernet0/1\n!\nend\n"}
    with pytest.raises(Unreadable, match=words):
        DRIVER.parse(switch_of(names), frozenset({"link"}), answers, None)
