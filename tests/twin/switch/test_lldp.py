"""What hosts announce by LLDP, and how a command line writes what a port heard."""

import socket
from typing import TYPE_CHECKING, cast

import pytest
from eee_engine import FabricError, VirtualEngine

from eee_testbed.twin.switch.lldp import as_neighbour, host_announcement
from eee_testbed.twin.switch.personality import Neighbour

if TYPE_CHECKING:
    from eee_engine import Announcement, Heard

NIC = b"\2\0\0\0\0\7"


def _heard(**other: object) -> "Heard":
    """What a switch hears of a host that announces this."""
    engine = VirtualEngine()
    port = engine.add_switch("sw", phys=["1000BASE-T"], port_names=["1"], base_mac=bytes(6))["ports"][0]
    nic = engine.add_host("n01", mac=NIC)
    engine.connect(port, nic)
    said = host_announcement("n01", NIC, "eth1")
    engine.set_lldp(port, said, transmit=False)
    engine.set_lldp(nic, cast("Announcement", {**said, **other}), receive=False)
    engine.run_until(10 * 10**12)
    (heard,) = engine.lldp_heard(port)
    return heard


def test_a_host_is_a_station_with_its_address_as_chassis_and_port() -> None:
    seen = as_neighbour(_heard())
    mac = "02:00:00:00:00:07"
    assert seen == Neighbour(mac, mac, "n01", "H", ttl_s=seen.ttl_s, number=1, eee=True)
    assert 110 < seen.ttl_s <= 120


def test_names_of_every_kind_are_written_as_text() -> None:
    heard = _heard(
        chassis=(7, b"rack 1"), port=(5, b"gi1/0/1"), capabilities=(20, 20), management=(socket.inet_aton("1.2.3.4"), 9)
    )
    seen = as_neighbour(heard)
    assert (seen.chassis, seen.port, seen.capabilities) == ("rack 1", "gi1/0/1", "B, R")
    assert heard["management"] == socket.inet_aton("1.2.3.4")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"chassis": (4, b"")}, "needs a chassis"),
        ({"ttl_s": 0}, "needs a chassis"),
        ({"system_name": b"x" * 256}, "system_name has 256 bytes: use at most 255"),
        ({"colour": b"red"}, "unknown part of an announcement"),
    ],
)
def test_announcements_that_no_frame_could_carry_are_refused(other: dict[str, object], said: str) -> None:
    with pytest.raises(FabricError, match=said):
        _heard(**other)
