"""Does a device answer at its address? SSH by its banner, SNMP by sysObjectID; no login, no change."""

import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from controller.model.lab import Lab

_PATIENCE_S = 3.0
_TRIES = 2
_SYS_OBJECT_ID = bytes.fromhex("06082b06010201010200")  # OBJECT IDENTIFIER 1.3.6.1.2.1.1.2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What one service of a device said; `problem` is empty when all is well."""

    device: str
    service: str
    address: str
    problem: str


def _tlv(tag: int, content: bytes) -> bytes:
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes(2, "big")
    return bytes([tag, 0x82]) + length + content


def snmp_get(community: str, request_id: int) -> bytes:
    """Return an SNMPv2c GET of sysObjectID.0 (RFC 3416, section 3; BER)."""
    varbind = _tlv(0x30, _SYS_OBJECT_ID + b"\x05\x00")
    number = _tlv(0x02, request_id.to_bytes(4, "big"))
    pdu = _tlv(0xA0, number + b"\x02\x01\x00\x02\x01\x00" + _tlv(0x30, varbind))
    return _tlv(0x30, b"\x02\x01\x01" + _tlv(0x04, community.encode()) + pdu)


def ssh_problem(address: str, port: int) -> str:
    """Connect and read the banner (RFC 4253, section 4.2); returns what is wrong, empty if nothing."""
    try:
        with socket.create_connection((address, port), timeout=_PATIENCE_S) as connection:
            banner = connection.recv(255)
    except TimeoutError:
        return f"nothing came within {_PATIENCE_S:g} s"
    except OSError as error:
        return str(error.strerror or error)
    return "" if banner.startswith(b"SSH-") else f"it says {banner[:40]!r}, which is not SSH"


def snmp_problem(address: str, port: int, community_file: str) -> str:
    """Ask for sysObjectID; returns what is wrong, empty if nothing."""
    try:
        community = Path(community_file).read_text(encoding="utf-8").strip()
    except OSError as error:
        return f"{community_file}: {error.strerror}"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(_PATIENCE_S)
        try:
            asking.connect((address, port))
            for attempt in range(_TRIES):
                asking.send(snmp_get(community, 0x1000_0000 + attempt))
                try:
                    return "" if _SYS_OBJECT_ID in asking.recv(4096) else "its answer is not SNMP"
                except TimeoutError:
                    continue
        except OSError as error:
            return str(error.strerror or error)
    return f"no answer within {_TRIES * _PATIENCE_S:g} s; a wrong community gets none either"


def reach_devices(lab: Lab) -> tuple[Answer, ...]:
    """Try every service of every device, all at once."""
    jobs = [(s.name, "ssh", s.address, s.ssh_port, "") for s in lab.switches]
    jobs += [(s.name, "snmp", s.address, s.snmp_port, s.community_file) for s in lab.switches]
    jobs += [(h.name, "ssh", h.management_address, h.ssh_port, "") for h in lab.hosts]
    jobs += [(s.name, "snmp", s.address, s.snmp_port, s.community_file) for s in lab.strips]

    def attempt(job: tuple[str, str, str, int, str]) -> Answer:
        device, service, address, port, community_file = job
        problem = ssh_problem(address, port) if service == "ssh" else snmp_problem(address, port, community_file)
        return Answer(device, service, f"{address}:{port}", problem)

    with ThreadPoolExecutor(max_workers=16) as pool:
        return tuple(pool.map(attempt, jobs))
