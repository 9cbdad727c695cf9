"""When this host last sent or received any frame on an interface, of any program.

An AF_PACKET socket hears the frames of both directions a moment before the driver takes them, or after it delivered
them. What it hears are the kernel's packets: one that the card cuts into several frames is heard once, at its start.
"""

from __future__ import annotations

import ctypes
import socket
import struct
from collections import deque

_ETH_P_ALL = 3
_SO_TIMESTAMPNS, _SO_ATTACH_FILTER = 35, 26
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
OUTGOING = 4
_RETURN = 0x06
_BUFFER_BYTE = 1 << 22


def keep_one_byte(tap: socket.socket) -> None:
    """Have the kernel copy one byte of each frame: a classic BPF program of one instruction, "return 1"."""
    program = ctypes.create_string_buffer(struct.pack("HBBI", _RETURN, 0, 0, 1), 8)
    tap.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(program)))


class LinkTap:
    """Needs CAP_NET_RAW: PermissionError without. Nothing here waits."""

    def __init__(self, interface: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 0)
        keep_one_byte(self._socket)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTE)
        self._socket.bind((interface, _ETH_P_ALL))
        self._socket.setblocking(False)
        self._heard: deque[tuple[int, bool]] = deque()
        self._sent_ns: int | None = None
        self._received_ns: int | None = None
        self.missed = 0

    def listen(self) -> None:
        """Read the frames captured since the last call."""
        while True:
            try:
                _, ancillary, _, source = self._socket.recvmsg(1, 64)
            except BlockingIOError:
                return
            except OSError:  # the link went down; the next frame comes when it is up again
                return
            for level, kind, data in ancillary:
                if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS:
                    seconds, rest_ns = struct.unpack_from("ll", data)
                    self._heard.append((seconds * 1_000_000_000 + rest_ns, source[2] == OUTGOING))

    def last_before(self, time_ns: int) -> tuple[int | None, int | None]:
        """When the last frame was sent and the last received before a time, which must not be earlier than the last."""
        while self._heard and self._heard[0][0] < time_ns:
            heard_ns, outgoing = self._heard.popleft()
            if outgoing:
                self._sent_ns = heard_ns
            else:
                self._received_ns = heard_ns
        return self._sent_ns, self._received_ns

    def count_missed(self) -> int:
        """Frames that were not heard since the start, because too many came at once."""
        self.missed += struct.unpack("II", self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))[1]
        return self.missed

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
