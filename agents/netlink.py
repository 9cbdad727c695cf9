"""Questions to the kernel over netlink: links and their counters, routes, and EEE.

Numbers are those of the kernel's `linux/rtnetlink.h`, `if_link.h`, `genetlink.h` and `ethtool_netlink.h`.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_ROUTE, _GENERIC = 0, 16
_REQUEST = 1
_ERROR, _DONE = 2, 3
_GET_LINK, _GET_ROUTE = 18, 26
_IFNAME, _EXT_MASK, _SKIP_STATISTICS = 3, 29, 8
_STATS64 = (
    "rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped",
)  # fmt: skip
_CONTROLLER, _GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 16, 3, 1, 2
_EEE_GET = 23
_NESTED, _TYPE_BITS = 0x8000, 0x3FFF
_COMPACT_BITSETS = 1


def attribute(kind: int, value: bytes) -> bytes:
    """One attribute, padded."""
    return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(kind, value) of each attribute."""
    at = 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("HH", data, at)
        if size < 4:
            return
        yield kind & _TYPE_BITS, data[at + 4 : at + size]
        at += (size + 3) & ~3


class Netlink:
    """A socket for one protocol. What the kernel refuses is an OSError with its errno."""

    def __init__(self, protocol: int) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
        self._socket.bind((0, 0))
        self._number = 0

    def ask(self, kind: int, payload: bytes) -> bytes:
        """The payload of the first answer."""
        self._number += 1
        head = struct.pack("IHHII", 16 + len(payload), kind, _REQUEST, self._number, 0)
        self._socket.send(head + payload)
        while True:
            data = self._socket.recv(65_536)
            size, answer, _, number, _ = struct.unpack_from("IHHII", data)
            if number != self._number:
                continue
            if answer in (_ERROR, _DONE):
                code = -struct.unpack_from("i", data, 16)[0]
                raise OSError(code, os.strerror(code))
            return data[16:size]

    def close(self) -> None:
        """Close it."""
        self._socket.close()


@dataclass(frozen=True)
class Link:
    """A network interface. `counters` are 64 bits wide; `carrier_changes` counts every loss and return of the link."""

    index: int
    name: str
    up: bool
    mac: str
    mtu_byte: int
    carrier_changes: int
    counters: dict[str, int]


def parse_link(data: bytes) -> Link:
    """A link from the answer to RTM_GETLINK (struct ifinfomsg, then attributes)."""
    index = struct.unpack_from("i", data, 4)[0]
    values = dict(attributes(data[16:]))
    counters = struct.unpack_from(f"{len(_STATS64)}Q", values[23]) if 23 in values else ()
    return Link(
        index=index,
        name=values[3].rstrip(b"\0").decode(),
        up=bool(values.get(33, b"\0")[0]),
        mac=values.get(1, b"").hex(":"),
        mtu_byte=struct.unpack("I", values[4])[0],
        carrier_changes=struct.unpack("I", values[35])[0] if 35 in values else 0,
        counters=dict(zip(_STATS64, counters)),
    )


class Links:
    """Interfaces and routes of this network namespace."""

    def __init__(self) -> None:
        self._netlink = Netlink(_ROUTE)

    def link(self, name: str) -> Link:
        """An interface by its name; OSError ENODEV if there is none."""
        head = struct.pack("BxHiII", 0, 0, 0, 0, 0)
        want = attribute(_IFNAME, name.encode() + b"\0") + attribute(_EXT_MASK, struct.pack("I", _SKIP_STATISTICS))
        return parse_link(self._netlink.ask(_GET_LINK, head + want))

    def towards(self, address: str) -> str:
        """The interface that packets to an IPv4 address leave by; OSError without a route."""
        head = struct.pack("BBBBBBBBI", socket.AF_INET, 32, 0, 0, 0, 0, 0, 0, 0)
        answer = self._netlink.ask(_GET_ROUTE, head + attribute(1, socket.inet_aton(address)))
        return socket.if_indextoname(struct.unpack("I", dict(attributes(answer[12:]))[4])[0])

    def close(self) -> None:
        """Close the socket."""
        self._netlink.close()


@dataclass(frozen=True)
class Eee:
    """EEE of an interface: `active` is negotiated and in force, `hold_us` the idle time before LPI is asserted.

    `ours` and `peers` are the link modes in which it is advertised, bits as in `enum ethtool_link_mode_bit_indices`.
    """

    enabled: bool
    active: bool
    transmit_lpi: bool
    hold_us: int
    supported: int
    ours: int
    peers: int


def _bits(bitset: bytes, which: int) -> int:
    return int.from_bytes(dict(attributes(bitset)).get(which, b""), "little")


def parse_eee(data: bytes) -> Eee:
    """EEE from the answer to ETHTOOL_MSG_EEE_GET with compact bitsets (struct genlmsghdr, then attributes).

    In our modes the bitset's value is what is advertised and its mask what is supported; in the peer's the value is
    what it advertises (Documentation/networking/ethtool-netlink.rst, EEE_GET).
    """
    values = dict(attributes(data[4:]))
    ours, peers = values.get(2, b""), values.get(3, b"")
    return Eee(
        enabled=bool(values.get(5, b"\0")[0]),
        active=bool(values.get(4, b"\0")[0]),
        transmit_lpi=bool(values.get(6, b"\0")[0]),
        hold_us=struct.unpack("I", values.get(7, bytes(4)))[0],
        supported=_bits(ours, 5),
        ours=_bits(ours, 4),
        peers=_bits(peers, 4),
    )


class EthtoolNetlink:
    """The kernel's ethtool family of generic netlink; OSError ENOENT where the kernel has none (before 5.6)."""

    def __init__(self) -> None:
        self._netlink = Netlink(_GENERIC)
        ask = struct.pack("BBH", _GET_FAMILY, 1, 0) + attribute(_FAMILY_NAME, b"ethtool\0")
        answer = self._netlink.ask(_CONTROLLER, ask)
        self._family = struct.unpack("H", dict(attributes(answer[4:]))[_FAMILY_ID])[0]

    def eee(self, interface: str) -> Eee:
        """EEE of an interface; OSError EOPNOTSUPP if its driver has none."""
        header = attribute(2, interface.encode() + b"\0") + attribute(3, struct.pack("I", _COMPACT_BITSETS))
        ask = struct.pack("BBH", _EEE_GET, 1, 0) + attribute(1 | _NESTED, header)
        return parse_eee(self._netlink.ask(self._family, ask))

    def close(self) -> None:
        """Close the socket."""
        self._netlink.close()
