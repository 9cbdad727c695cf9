"""What netlink and the ioctls say, beside what iproute2 and ethtool say of the same interface."""

import errno
import json
import re
import struct
import subprocess
import sys

import pytest

from eee_testbed.agents.lpi_counters import LpiCounter, lpi_counters
from eee_testbed.agents.netlink import attributes, parse_eee
from tests.support.nodes.agent_nodes import Pair

_ASK = """
import json, sys
from eee_testbed.agents.ethtool import Ethtool
from eee_testbed.agents.netlink import EthtoolNetlink, Links
name, address = sys.argv[1:]
link = Links().link(name)
card = Ethtool(name)
driver = card.driver()
ability = card.stamp_ability()
def refused(call):
    try:
        return repr(call())
    except OSError as error:
        return error.errno
print(json.dumps({
    "link": vars(link), "towards": Links().towards(address), "driver": driver.name, "rate_mbps": card.rate_mbps(),
    "names": card.statistic_names(driver.statistics), "values": card.statistics(driver.statistics),
    "stamps": [ability.hardware, ability.transmit_software, ability.clock], "more": refused(lambda: card.statistics(1)),
    "eee": refused(lambda: EthtoolNetlink().eee(name)), "eee_ioctl": refused(card.eee),
    "nosuch": refused(lambda: Links().link("nosuch0")), "noway": refused(lambda: Links().towards("203.0.113.1")),
}))
"""


def test_they_say_the_same(pair: Pair) -> None:
    a, b = pair.a, pair.b
    a.run("ping", "-q", "-c", "3", "-i", "0.01", b.address)
    told = json.loads(a.run(sys.executable, "-c", _ASK, a.interface, b.address))
    shown = json.loads(a.ip("-s", "-s", "-d", "link", "show", a.interface))[0]
    link = told["link"]
    assert (link["index"], link["name"], link["mac"]) == (shown["ifindex"], shown["ifname"], shown["address"])
    assert (link["mtu_byte"], link["up"]) == (shown["mtu"], True)
    stats = shown["stats64"]
    for direction in ("rx", "tx"):
        for what in ("bytes", "packets", "errors", "dropped"):
            assert link["counters"][f"{direction}_{what}"] == stats[direction][what], (direction, what)
    assert link["counters"]["tx_packets"] > 3
    assert told["towards"] == a.interface
    driver = a.run("ethtool", "-i", a.interface)
    assert f"driver: {told['driver']}\n" in driver
    assert f"Speed: {told['rate_mbps']}Mb/s" in a.run("ethtool", a.interface)
    shown_statistics = re.findall(r"^ +(\S+): (\d+)$", a.run("ethtool", "-S", a.interface), re.MULTILINE)
    assert list(zip(told["names"], map(str, told["values"]), strict=True)) == shown_statistics
    assert told["stamps"] == [False, True, -1]
    assert told["more"] == errno.ERANGE
    assert (told["eee"], told["eee_ioctl"]) == (errno.EOPNOTSUPP, errno.EOPNOTSUPP)
    assert (told["nosuch"], told["noway"]) == (errno.ENODEV, errno.ENETUNREACH)


def test_carrier_changes_are_counted(own_pair: Pair) -> None:
    def changes() -> int:
        told = own_pair.a.run(sys.executable, "-c", _ASK, own_pair.a.interface, own_pair.b.address)
        return int(json.loads(told)["link"]["carrier_changes"])

    before = changes()
    own_pair.b.run("ip", "link", "set", own_pair.b.interface, "down")
    own_pair.b.run("ip", "link", "set", own_pair.b.interface, "up")
    assert changes() == before + 2


def _attribute(kind: int, value: bytes) -> bytes:
    """As RFC 3549 has it: length with the head, type, value, zeros up to a multiple of four."""
    padded = value + b"\0" * ((4 - len(value) % 4) % 4)
    return (len(value) + 4).to_bytes(2, sys.byteorder) + kind.to_bytes(2, sys.byteorder) + padded


def _bitset(value: int, mask: int | None) -> bytes:
    bits = _attribute(2, struct.pack("I", 121)) + _attribute(4, value.to_bytes(16, "little"))
    return bits if mask is None else bits + _attribute(5, mask.to_bytes(16, "little"))


def test_an_eee_answer_of_the_kernel() -> None:
    """As `ethtool --show-eee` would ask for: 1000BASE-T and 2.5GBASE-T (bits 5 and 47), hold 1,000 us, active."""
    ours, supported, peers = 1 << 5, 1 << 5 | 1 << 47, 1 << 5 | 1 << 3
    answer = struct.pack("BBH", 24, 1, 0)
    answer += _attribute(1 | 0x8000, _attribute(1, struct.pack("I", 2)))
    answer += _attribute(2 | 0x8000, _bitset(ours, supported)) + _attribute(3 | 0x8000, _bitset(peers, None))
    answer += (
        _attribute(4, b"\1") + _attribute(5, b"\1") + _attribute(6, b"\0") + _attribute(7, struct.pack("I", 1_000))
    )
    eee = parse_eee(answer)
    assert (eee.active, eee.enabled, eee.transmit_lpi, eee.hold_us) == (True, True, False, 1_000)
    assert (eee.supported, eee.ours, eee.peers) == (supported, ours, peers)
    assert not parse_eee(answer[:4]).enabled


def test_broken_attributes_end_the_walk() -> None:
    assert list(attributes(_attribute(1, b"abc") + b"\2\0\1\0")) == [(1, b"abc")]
    assert list(attributes(b"\0")) == []


@pytest.mark.parametrize(
    ("driver", "names", "found"),
    [
        ("igc", ["rx_packets", "tx_lpi_counter"], {1: ("tx_lpi_counter", LpiCounter("transmit", "events"))}),
        ("bnxt_en", ["rx_eee_lpi_duration"], {0: ("rx_eee_lpi_duration", LpiCounter("receive", "duration"))}),
        ("bnge", ["rx_eee_lpi_events"], {0: ("rx_eee_lpi_events", LpiCounter("receive", "events"))}),
        ("lan743x", ["EEE Tx LPI Time"], {0: ("EEE Tx LPI Time", LpiCounter("transmit", "duration"))}),
        ("macb", ["tx_lpi_time"], {0: ("tx_lpi_time", LpiCounter("unknown", "unknown"))}),
        ("igb", ["rx_packets"], {}),
    ],
)
def test_lpi_counters_of_drivers(driver: str, names: list[str], found: dict[int, tuple[str, LpiCounter]]) -> None:
    assert lpi_counters(driver, names) == found


def test_ethtool_says_which_interfaces_it_was_tried_on() -> None:
    """The comparison above needs the real ethtool."""
    assert "ethtool" in subprocess.run(["ethtool", "--version"], check=True, capture_output=True, text=True).stdout
