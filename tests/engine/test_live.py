"""The live engine between real network stacks."""

import hashlib
import os
import re
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from eee_engine import Engine, FabricError

from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.engine.conftest import Bed, Host

pytestmark = [pytest.mark.lab, pytest.mark.alone]

SIZE_BYTE = 8_000_000
SILENT_WITHIN_S = 60

RECEIVER = """
import hashlib, socket, sys
with socket.create_server((sys.argv[1], 5001), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET) as s:
    print("ready", flush=True)
    peer, _ = s.accept()
    digest = hashlib.sha256()
    while data := peer.recv(1 << 20):
        digest.update(data)
print(digest.hexdigest())
"""
SENDER = """
import random, socket, sys
with socket.create_connection((sys.argv[1], 5001)) as s:
    s.sendall(random.Random(1).randbytes(int(sys.argv[2])))
"""


def transfer(source: "Host", target: "Host", address: str) -> str:
    """Digest of what `target` received."""
    with subprocess.Popen(
        target.argv(sys.executable, "-c", RECEIVER, address), stdout=subprocess.PIPE, text=True
    ) as receiver:
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "ready\n"
        source.run(sys.executable, "-c", SENDER, address, str(SIZE_BYTE))
        return receiver.stdout.readline().strip()


def digest_sent() -> str:
    import random  # noqa: PLC0415 - the sender's generator, nowhere else needed

    return hashlib.sha256(random.Random(1).randbytes(SIZE_BYTE)).hexdigest()  # noqa: S311


@dataclass(frozen=True, slots=True)
class Packet:
    time_ns: int
    data: bytes


def packets(path: Path) -> Iterator[Packet]:
    """A pcap file's packets; fails unless its magic says nanoseconds and Ethernet."""
    content = path.read_bytes()
    assert struct.unpack_from("=IHHiIII", content) == (0xA1B23C4D, 2, 4, 0, 0, 65_535, 1)
    at = 24
    while at < len(content):
        second, nanosecond, kept, whole = struct.unpack_from("=IIII", content, at)
        assert kept == whole
        yield Packet(second * 1_000_000_000 + nanosecond, content[at + 16 : at + 16 + kept])
        at += 16 + kept


def ones_sum(data: bytes) -> int:
    padded = data + bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def assert_checksums(packet: bytes) -> bool:
    """Fails on a wrong IPv4, TCP or ICMP checksum behind one tag; True if there was TCP payload."""
    assert packet[12:16] == b"\x81\x00\x00\x01"
    if packet[16:18] != b"\x08\x00":
        return False
    ip = packet[18 : 18 + int.from_bytes(packet[20:22], "big")]
    header_byte = (ip[0] & 15) * 4
    assert ones_sum(ip[:header_byte]) == 0xFFFF
    body = ip[header_byte:]
    if ip[9] == 1:
        assert ones_sum(body) == 0xFFFF
    if ip[9] != 6:
        return False
    assert ones_sum(ip[12:20] + struct.pack("!HH", 6, len(body)) + body) == 0xFFFF
    return len(body) > (body[12] >> 4) * 4


def test_echoes_are_answered_and_their_lateness_is_counted(bed: "Bed") -> None:
    bed.engine.reset_lateness()
    output = bed.hosts[0].run("ping", "-q", "-c", "20", "-i", "0.01", bed.hosts[1].address)
    assert "20 received" in output
    lateness = bed.engine.lateness()
    assert lateness["count"] >= 40
    assert sum(lateness["bucket_count"]) == lateness["count"]
    assert len(lateness["bucket_count"]) == len(lateness["bucket_upper_us"]) + 1
    assert lateness["p50_us"] <= lateness["p90_us"] <= lateness["p99_us"] <= lateness["max_us"]
    assert bed.engine.cpu_s() > 0


@pytest.mark.parametrize("version", [4, 6])
def test_bulk_data_arrives_as_sent_in_frames_of_the_wire(bed: "Bed", version: int) -> None:
    source, target = bed.hosts
    address = target.address if version == 4 else target.address6
    before = bed.engine.counters(bed.nics[0])
    assert transfer(source, target, address) == digest_sent()
    after = bed.engine.counters(bed.nics[0])
    frames = after["out_ucast"] - before["out_ucast"]
    octets = after["out_octets"] - before["out_octets"]
    # The host hands over packets of up to 64 KiB; on the wire no frame is longer than 1,518 bytes.
    assert frames >= SIZE_BYTE / 1_460
    assert octets / frames <= 1_518
    assert after["out_discards"] == before["out_discards"]
    assert bed.engine.counters(bed.ports[0])["in_too_long"] == 0


def test_a_capture_shows_the_wire(bed: "Bed", tmp_path: Path) -> None:
    path = tmp_path / "trunk.pcap"
    capture = bed.engine.capture(bed.trunk, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
    source, target = bed.hosts
    source.run("ping", "-q", "-c", "3", "-i", "0.01", target.address)
    assert transfer(source, target, target.address) == digest_sent()
    lost = bed.engine.stop_capture(capture)
    seen = list(packets(path))
    assert all(len(packet.data) <= 1_518 for packet in seen)
    assert {packet.data[6:12] for packet in seen} >= {source.mac, target.mac}
    times = [packet.time_ns for packet in seen]
    assert times == sorted(times)
    with_payload = [packet for packet in seen if assert_checksums(packet.data)]
    assert len(with_payload) + lost >= SIZE_BYTE / 1_460
    assert bed.engine.frames()["offered"] > 0
    with pytest.raises(FabricError, match="no capture"):
        bed.engine.stop_capture(capture)


def test_tcpdump_reads_a_capture(bed: "Bed") -> None:
    reader, writer = os.pipe2(os.O_CLOEXEC)
    capture = bed.engine.capture(bed.trunk, writer)
    with subprocess.Popen(
        ["tcpdump", "-nn", "-e", "-c", "2", "-r", "-", "icmp or (vlan and icmp)"],
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as tcpdump:
        os.close(reader)
        bed.hosts[0].run("ping", "-q", "-c", "2", "-i", "0.01", bed.hosts[1].address)
        assert tcpdump.stdout is not None
        lines = tcpdump.stdout.read().splitlines()
    assert bed.engine.stop_capture(capture) == 0
    assert re.search(r"vlan 1, .*ICMP echo request", lines[0])
    assert re.search(r"vlan 1, .*ICMP echo reply", lines[1])


def test_a_reader_that_goes_ends_the_capture(bed: "Bed") -> None:
    reader, writer = os.pipe2(os.O_CLOEXEC)
    capture = bed.engine.capture(bed.trunk, writer)
    poller = select.poll()
    poller.register(reader, select.POLLIN)
    assert poller.poll(10_000)
    os.close(reader)
    bed.hosts[0].run("ping", "-q", "-c", "5", "-i", "0.01", bed.hosts[1].address)
    assert bed.engine.stop_capture(capture) >= 0


def test_wake_ups_show_in_an_echo(bed: "Bed") -> None:
    wake_us, hops = 20_000.0, 6
    for port in (*bed.nics, *bed.ports):
        bed.engine.set_lpi(port, mode="deep", timing={"hold_us": 1_000.0, "sleep_us": 182.0, "wake_us": wake_us})
        bed.engine.set_port(port, eee=True)
    bed.hosts[0].run("ping", "-q", "-c", "1", "-i", "0.05", "-w", "30", bed.hosts[1].address)
    # EEE begins a second after the link is up; -i 0.2 leaves every link time to fall asleep.
    output = bed.hosts[0].run("ping", "-c", "12", "-i", "0.2", bed.hosts[1].address)
    slowest_ms = max(float(value) for value in re.findall(r"time=([\d.]+)", output))
    assert slowest_ms >= (hops - 2) * wake_us / 1_000
    assert bed.engine.time_in_state(bed.nics[0])["wakes"] > 0


def carrier_becomes(host: "Host", wanted: str) -> None:
    """`ip monitor` reports the change; the state is read once it listens, so that no change is missed."""
    with subprocess.Popen(host.argv("ip", "monitor", "link"), stdout=subprocess.PIPE, text=True) as monitor:
        assert monitor.stdout is not None
        try:
            deadline = time.monotonic() + 30
            while f"state {wanted}" not in host.run("ip", "link", "show", "eth0"):
                assert time.monotonic() < deadline, f"eth0 never got {wanted}"
                select.select([monitor.stdout], [], [], 1)
        finally:
            monitor.kill()


def test_a_host_sees_its_cable_as_the_carrier_of_its_interface(bed: "Bed") -> None:
    host = bed.hosts[0]
    carrier_becomes(host, "UP")
    bed.engine.set_port(bed.nics[0], admin_up=False)
    carrier_becomes(host, "DOWN")
    bed.engine.set_port(bed.nics[0], admin_up=True)
    carrier_becomes(host, "UP")


def test_a_cut_cable_stops_frames_and_a_mended_one_carries_them(bed: "Bed") -> None:
    bed.engine.cut(bed.trunk)
    source, target = bed.hosts
    silent = subprocess.run(
        source.argv("ping", "-q", "-c", "2", "-i", "0.01", "-W", "0.2", target.address),
        check=False,
        capture_output=True,
        text=True,
    )
    assert "0 received" in silent.stdout
    bed.engine.mend(bed.trunk)
    source.run("ping", "-q", "-c", "1", "-i", "0.05", "-w", "30", target.address)


def test_a_silent_lab_gives_its_core_back(bed: "Bed") -> None:
    """A thread that keeps the deadline class wakes each microsecond for ever."""
    threads = [task for task in Path("/proc/self/task").iterdir() if (task / "comm").read_text() == "twin-live\n"]
    assert len(threads) == 1
    thread = int(threads[0].name)
    bed.hosts[0].run("ping", "-q", "-c", "1", bed.hosts[1].address)
    eventually(
        "the class that it has while frames are near is given up",
        lambda: os.sched_getscheduler(thread) == os.SCHED_OTHER,
        patience_s=SILENT_WITHIN_S,
    )


def test_stop_closes_the_taps_and_is_final(bed: "Bed") -> None:
    bed.engine.stop()
    bed.engine.stop()
    assert "eth0" not in bed.hosts[0].run("ip", "link", "show")
    with pytest.raises(FabricError, match="was stopped"):
        bed.engine.start()
    assert bed.engine.port(bed.nics[0])["name"] == bed.hosts[0].namespace


def test_only_a_tap_can_be_attached() -> None:
    engine = Engine()
    host = engine.add_host("h", mac=bytes(6))
    with pytest.raises(FabricError, match="cannot be attached"):
        engine.attach(host, os.open("/dev/null", os.O_RDWR))
    with pytest.raises(FabricError, match="no host's NIC"):
        engine.attach(host + 1, os.open("/dev/null", os.O_RDWR))
    with pytest.raises(FabricError, match="no cable"):
        engine.capture(0, os.open("/dev/null", os.O_RDWR))
    engine.stop()
