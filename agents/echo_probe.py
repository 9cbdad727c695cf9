"""ICMP echoes with random gaps and the kernel's own time stamps. Runs alone on a host; prints one JSON line.

``python echo_probe.py ADDRESS COUNT MIN_GAP_US MAX_GAP_US SEED``. Each echo leaves once the previous one was answered
(or 20 ms passed) and a gap, drawn uniformly, has gone by since. Transmit and receive times come from SO_TIMESTAMPING
(software): the moment at which the driver takes the frame, and at which the kernel has it back. The sender waits by
spinning: a timer's wake-up would cost as much as what is measured.
"""

import json
import os
import random
import socket
import struct
import sys
import time
from typing import Final

_SO_TIMESTAMPING: Final = 37
_TX_SOFTWARE, _RX_SOFTWARE, _SOFTWARE, _OPT_TSONLY = 1 << 1, 1 << 3, 1 << 4, 1 << 11
_PAYLOAD_BYTE: Final = 64
_LOST_AFTER_NS: Final = 20_000_000


def checksum(data: bytes) -> int:
    """Internet checksum (RFC 1071) of an even number of bytes."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def echo_request(identifier: int, sequence: int) -> bytes:
    """ICMP echo request with 64 bytes of payload."""
    payload = bytes(_PAYLOAD_BYTE)
    head = struct.pack("!BBHHH", 8, 0, 0, identifier, sequence)
    return struct.pack("!BBHHH", 8, 0, checksum(head + payload), identifier, sequence) + payload


def stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """The software time stamp in a control message, ns since the epoch."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPING:
            seconds, nanoseconds = struct.unpack_from("qq", data)
            return int(seconds * 1_000_000_000 + nanoseconds)
    return None


class Prober:
    """One raw socket towards one address."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._identifier = os.getpid() & 0xFFFF
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self._socket.setsockopt(
            socket.SOL_SOCKET, _SO_TIMESTAMPING, _TX_SOFTWARE | _RX_SOFTWARE | _SOFTWARE | _OPT_TSONLY
        )
        self._socket.setblocking(False)

    def echo(self, sequence: int) -> tuple[int, int] | None:
        """(transmit ns, receive ns), or None when lost."""
        self._socket.sendto(echo_request(self._identifier, sequence), (self._address, 0))
        deadline = time.perf_counter_ns() + _LOST_AFTER_NS
        received: int | None = None
        while received is None and time.perf_counter_ns() < deadline:
            received = self._answer(sequence)
        sent = self._sent()
        return None if received is None or sent is None else (sent, received)

    def _answer(self, sequence: int) -> int | None:
        try:
            data, ancillary, _, _ = self._socket.recvmsg(2048, 256)
        except BlockingIOError:
            return None
        kind, _, _, identifier, number = struct.unpack_from("!BBHHH", data, (data[0] & 15) * 4)
        mine = (kind, identifier, number) == (0, self._identifier, sequence)
        return stamp_ns(ancillary) if mine else None

    def _sent(self) -> int | None:
        sent: int | None = None
        while True:
            try:
                _, ancillary, _, _ = self._socket.recvmsg(0, 512, socket.MSG_ERRQUEUE)
            except BlockingIOError:
                return sent
            sent = stamp_ns(ancillary) or sent


def main() -> None:
    """Probe and print ``{"sent_ns": [...], "rtt_ns": [...]}``; rtt -1 is a lost echo, sent_ns then the draw's time."""
    address, count, low_us, high_us, seed = sys.argv[1], *map(int, sys.argv[2:6])
    rng = random.Random(seed)  # noqa: S311 - a reproducible schedule, not a secret
    prober = Prober(address)
    sent_ns: list[int] = []
    rtt_ns: list[int] = []
    for number in range(count):
        until = time.perf_counter_ns() + int(rng.uniform(low_us, high_us) * 1_000)
        while time.perf_counter_ns() < until:
            pass
        pair = prober.echo(number & 0xFFFF)
        sent_ns.append(time.time_ns() if pair is None else pair[0])
        rtt_ns.append(-1 if pair is None else pair[1] - pair[0])
    json.dump({"sent_ns": sent_ns, "rtt_ns": rtt_ns}, sys.stdout)


if __name__ == "__main__":
    main()
