"""The kernel's packet ring (AF_PACKET, TPACKET_V3): every frame's time, length and direction, without a call a frame.

Needs CAP_NET_RAW. Documentation/networking/packet_mmap.rst describes the ring, `linux/if_packet.h` its structs. Times
are the kernel's, of CLOCK_REALTIME: of a frame sent, when it is given to the driver; of a frame received, when the
driver gave it to the kernel. What the card cuts or joins (TSO, GRO) is one frame here.
"""

from __future__ import annotations

import mmap
import socket
import struct
from collections.abc import Iterable, Iterator

from eee_testbed.agents.link_tap import keep_one_byte

_SOL_PACKET, _RX_RING, _STATISTICS, _VERSION = 263, 5, 6, 10
_TPACKET_V3, _ETH_P_ALL = 2, 3
_USER = 1
_FRAME_BYTE = 2_048
_HEADER = "=4xII4xI28x10xB9x"  # struct tpacket3_hdr: sec, nsec, len; struct sockaddr_ll: pkttype
_BLOCK_HEAD = struct.Struct("=4x4xIIII")  # status, number of frames, offset of the first, length
_SO_TIMESTAMPNS = 35

Frames = Iterable[tuple[int, int, int, int]]
"""(seconds, nanoseconds, length in bytes without the Ethernet header, packet type: 4 is outgoing)."""


class PacketRing:
    """A ring of blocks. Frames of one block come in the order in which the kernel saw them."""

    def __init__(self, interface: str, block_byte: int, blocks: int, retire_ms: int) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 0)
        self._socket.setsockopt(_SOL_PACKET, _VERSION, _TPACKET_V3)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)  # stamp frames early, not when they are copied
        keep_one_byte(self._socket)
        frames = block_byte // _FRAME_BYTE * blocks
        ask = struct.pack("7I", block_byte, blocks, _FRAME_BYTE, frames, retire_ms, 0, 0)
        self._socket.setsockopt(_SOL_PACKET, _RX_RING, ask)
        self._map = mmap.mmap(self._socket.fileno(), block_byte * blocks)
        self._view = memoryview(self._map)
        self._block_byte = block_byte
        self._blocks = blocks
        self._next = 0
        self.dropped = 0
        self._socket.bind((interface, _ETH_P_ALL))

    def fileno(self) -> int:
        """For poll: readable when a block is full, or was begun `retire_ms` ago."""
        return self._socket.fileno()

    def blocks(self) -> Iterator[Frames]:
        """The frames of each block that is ready. They have to be read before the next block is asked for."""
        while True:
            start = self._next * self._block_byte
            status, count, first, length = _BLOCK_HEAD.unpack_from(self._map, start)
            if not status & _USER:
                return
            if count:
                yield frames_in(self._view[start + first : start + self._block_byte], count, length - first)
            struct.pack_into("=I", self._map, start + 8, 0)
            self._next = (self._next + 1) % self._blocks

    def count_dropped(self) -> int:
        """Frames lost since the start because the ring was full."""
        self.dropped += struct.unpack("3I", self._socket.getsockopt(_SOL_PACKET, _STATISTICS, 12))[1]
        return self.dropped

    def close(self) -> None:
        """Give the ring back."""
        self._view.release()
        self._map.close()
        self._socket.close()


def frames_in(block: memoryview, count: int, length: int) -> Frames:
    """The frames of one block. All take the same room if one byte of each is kept, and are then unpacked at once."""
    each = length // count
    if each * count == length and each >= struct.calcsize(_HEADER):
        head = struct.unpack_from("=I", block)[0]
        if head in (0, each):
            return struct.iter_unpack(f"{_HEADER}{each - struct.calcsize(_HEADER)}x", block[:length])
    return _walk(block, count)


def _walk(block: memoryview, count: int) -> Frames:
    """The frames of a block one by one: there was one without even a byte to keep."""
    at = 0
    for _ in range(count):
        seconds, rest_ns, size_byte, kind = struct.unpack_from(_HEADER, block, at)
        yield seconds, rest_ns, size_byte, kind
        at += struct.unpack_from("=I", block, at)[0]
