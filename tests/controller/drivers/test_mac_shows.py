"""Learned addresses in the layouts of IOS: those of recordings in ntc-templates, addresses ours."""

import pytest

from eee_testbed.controller.drivers.mac_shows import query, read

MAC = bytes.fromhex("02aa00000001")
PORTS = ("Gi1/0/1", "GigabitEthernet1/0/2", "Te5/1", "FastEthernet0/1")


@pytest.mark.parametrize(
    ("row", "port"),
    [
        ("   1    02aa.0000.0001    DYNAMIC     Gi1/0/2", "GigabitEthernet1/0/2"),
        ("  46      02aa.0000.0001   dynamic ip,ipx,assigned,other TenGigabitEthernet5/1", "Te5/1"),
        ("*   777  02aa.0000.0001   dynamic  Yes       1200   Te5/1", "Te5/1"),
        ("02aa.0000.0001       Dynamic          1  FastEthernet0/1", "FastEthernet0/1"),
        ("   1    02aa.0000.0001    DYNAMIC     Gi1/0/9", None),  # no port of the inventory
        ("   1    02aa.0000.0001    DYNAMIC     Po1", None),
        (" All    02aa.0000.0001    STATIC      CPU", None),
        ("   1    02aa.0000.0001    STATIC      Gi1/0/1", None),
        ("   1    02aa.0000.0001    DYNAMIC     Gi1/0/1 Gi1/0/2", None),
    ],
)
def test_a_row_of_each_layout(row: str, port: str | None) -> None:
    text = f"          Mac Address Table\n----    -----------\n{row}\nTotal Mac Addresses: 1\n"
    assert read(text, PORTS) == ({MAC: frozenset({port})} if port else {})


def test_an_address_in_two_vlans_is_at_both_ports() -> None:
    text = "1 02aa.0000.0001 DYNAMIC Gi1/0/1\n2 02aa.0000.0001 DYNAMIC Te5/1\n"
    assert read(text, PORTS) == {MAC: frozenset({"Gi1/0/1", "Te5/1"})}
    assert read("", PORTS) == {}
    assert query("cisco_sg") is None
