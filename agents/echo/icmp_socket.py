"""ICMP echoes over one socket, with the kernel's time stamps of each frame's departure and each answer's arrival.

Stamps come from SO_TIMESTAMPING (Documentation/networking/timestamping.rst): in software, the moment at which the
driver takes the frame and at which the kernel has the answer from it; in hardware, where the card can, the frame's
passage of the card. Software stamps are of CLOCK_REALTIME, hardware stamps of the card's own clock.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from dataclasses import dataclass

from eee_testbed.agents import ethtool
from eee_testbed.agents.stream import AgentError

_SO_TIMESTAMPING, _SO_BINDTODEVICE = 37, 25
_OPT_ID, _OPT_TSONLY, _OPT_TX_SWHW = 1 << 7, 1 << 11, 1 << 14
_SOL_RAW, _ICMP_FILTER, _SOL_IP, _IP_RECVERR = 255, 1, 0, 11
_ORIGIN_TIMESTAMPING = 4
_REPLY, _REQUEST = 0, 8
_IP_BYTE, _ICMP_BYTE = 20, 8
_STAMPED_WITHIN_S = 1.0
MOST_PAYLOAD_BYTE = 65_535 - _IP_BYTE - _ICMP_BYTE


def checksum(data: bytes) -> int:
    """Internet checksum (RFC 1071); an odd last byte is padded with 0."""
    padded = data + bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo_request(identifier: int, sequence: int, payload_byte: int) -> bytes:
    """An ICMP echo request whose payload is zeros (RFC 792)."""
    payload = bytes(payload_byte)
    head = struct.pack("!BBHHH", _REQUEST, 0, 0, identifier, sequence)
    return struct.pack("!BBHHH", _REQUEST, 0, checksum(head + payload), identifier, sequence) + payload


@dataclass(frozen=True)
class Stamps:
    """When one frame passed, nanoseconds; None without such a stamp."""

    software_ns: int | None
    hardware_ns: int | None


def stamps_of(ancillary: list[tuple[int, int, bytes]]) -> Stamps | None:
    """The stamps in a message's control data (struct scm_timestamping: software, unused, hardware)."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPING:
            words = struct.unpack_from("6l", data)
            software_ns = words[0] * 1_000_000_000 + words[1]
            hardware_ns = words[4] * 1_000_000_000 + words[5]
            return Stamps(software_ns or None, hardware_ns or None)
    return None


def await_arrival_stamps() -> None:
    """Wait until the kernel stamps what arrives: it begins some time after it was first asked (`net_enable_timestamp`).

    A datagram to ourselves over loopback shows it. Without loopback the first answer may have no stamp, and then counts
    as lost.
    """
    due_s = time.monotonic() + _STAMPED_WITHIN_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as own:
        own.settimeout(_STAMPED_WITHIN_S)
        own.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, ethtool.RX_SOFTWARE | ethtool.SOFTWARE)
        try:
            own.bind(("127.0.0.1", 0))
            while time.monotonic() < due_s:
                own.sendto(b"", own.getsockname())
                stamps = stamps_of(own.recvmsg(1, 256)[1])
                if stamps is not None and stamps.software_ns is not None:
                    return
        except OSError:
            return


def key_of(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """Which send, counted from 0, a departure's stamp belongs to (struct sock_extended_err)."""
    for level, kind, data in ancillary:
        if level == _SOL_IP and kind == _IP_RECVERR:
            _, origin, _, _, _, _, key = struct.unpack_from("IBBBBII", data)
            return int(key) if origin == _ORIGIN_TIMESTAMPING else None
    return None


def open_socket() -> socket.socket:
    """A raw ICMP socket, or an ICMP datagram socket where only that is permitted."""
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
        try:
            return socket.socket(socket.AF_INET, kind | socket.SOCK_CLOEXEC, socket.IPPROTO_ICMP)
        except PermissionError:  # noqa: PERF203 - two turns at most
            continue
    raise AgentError(
        "no ICMP socket is permitted here: run it as root, give it CAP_NET_RAW, "
        "or put its group into net.ipv4.ping_group_range."
    )


class EchoSocket:
    """Echoes to one address, numbered 0, 1, 2, … as they are sent. Nothing here waits."""

    def __init__(self, address: str, interface: str, payload_byte: int, *, hardware: bool) -> None:
        self._address = address
        self._socket = open_socket()
        self.raw = self._socket.type & 0xF == socket.SOCK_RAW
        self._identifier = os.getpid() & 0xFFFF
        self._payload_byte = payload_byte
        if self.raw:
            self._socket.setsockopt(_SOL_RAW, _ICMP_FILTER, struct.pack("I", 0xFFFFFFFF ^ 1 << _REPLY))
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_BINDTODEVICE, interface.encode() + b"\0")
            self.bound = True
        except PermissionError:  # kernels before 5.7 without CAP_NET_RAW
            self.bound = False
        self._flags = ethtool.TX_SOFTWARE | ethtool.RX_SOFTWARE | ethtool.SOFTWARE | _OPT_TSONLY
        if hardware:
            self._flags |= ethtool.TX_HARDWARE | ethtool.RX_HARDWARE | ethtool.RAW_HARDWARE | _OPT_TX_SWHW
        self._socket.setblocking(False)
        self._stamp()
        await_arrival_stamps()

    def _stamp(self) -> None:
        """Ask for stamps, and have the kernel count sends from 0 again."""
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, self._flags)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, self._flags | _OPT_ID)
        self._number_of_key: dict[int, int] = {}
        self._key_of_number: dict[int, int] = {}
        self._key = 0

    def fileno(self) -> int:
        """For poll."""
        return self._socket.fileno()

    def request(self, number: int) -> bytes:
        """The echo with this number."""
        return echo_request(self._identifier, number & 0xFFFF, self._payload_byte)

    def send(self, number: int, request: bytes) -> str:
        """Send an echo; what the kernel had against it, empty if nothing."""
        try:
            self._socket.sendto(request, socket.MSG_DONTWAIT, (self._address, 0))
        except OSError as error:
            self._stamp()  # whether the kernel counted the refused one depends on where it was refused
            return os.strerror(error.errno or 0)
        self._number_of_key[self._key] = number
        self._key_of_number[number] = self._key
        self._key += 1
        return ""

    def answer(self) -> tuple[int, Stamps] | None:
        """The next answer to an echo: the low 16 bits of the echo's number, and its stamps. None: there is none yet."""
        while True:
            try:
                data, ancillary, _, source = self._socket.recvmsg(128, 256)
            except BlockingIOError:
                return None
            except OSError:  # an ICMP error that the kernel reports here; the echo is lost
                continue
            start = (data[0] & 15) * 4 if self.raw else 0
            kind, _, _, identifier, sequence = struct.unpack_from("!BBHHH", data, start)
            stamps = stamps_of(ancillary)
            ours = source[0] == self._address and kind == _REPLY and (not self.raw or identifier == self._identifier)
            if ours and stamps is not None:
                return sequence, stamps

    def departure(self) -> tuple[int, Stamps] | None:
        """The next departure: an echo's number, and its stamps. None: there is none yet.

        Software and hardware stamps of one echo come one after the other.
        """
        while True:
            try:
                _, ancillary, _, _ = self._socket.recvmsg(0, 512, socket.MSG_ERRQUEUE)
            except BlockingIOError:
                return None
            stamps, key = stamps_of(ancillary), key_of(ancillary)
            if stamps is not None and key is not None and key in self._number_of_key:
                return self._number_of_key[key], stamps

    def forget(self, number: int) -> None:
        """No stamp of this echo is awaited any more."""
        key = self._key_of_number.pop(number, None)
        if key is not None:
            del self._number_of_key[key]

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
