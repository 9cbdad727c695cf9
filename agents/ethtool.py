"""The older interface to a network card: the SIOCETHTOOL and SIOCSHWTSTAMP ioctls. Numbers are of `linux/ethtool.h`."""

from __future__ import annotations

import array
import errno
import fcntl
import socket
import struct
from dataclasses import dataclass

from eee_testbed.agents.netlink import Eee

_SIOCETHTOOL, _SIOCSHWTSTAMP, _SIOCGHWTSTAMP = 0x8946, 0x89B0, 0x89B1
_GSET, _GDRVINFO, _GSTRINGS, _GSTATS, _GET_TS_INFO, _GEEE = 0x01, 0x03, 0x1B, 0x1D, 0x41, 0x44
_STATISTICS = 1
_NAME_BYTE = 32
_SLACK = 1_024
"""Room for counters added since they were counted: the kernel writes all, without a check of the buffer's size."""

TX_HARDWARE, TX_SOFTWARE, RX_HARDWARE, RX_SOFTWARE, SOFTWARE, RAW_HARDWARE = 1, 2, 4, 8, 16, 64
_FILTER_ALL = 1


@dataclass(frozen=True)
class Driver:
    """Who drives a card. `statistics` is how many counters of its own it has."""

    name: str
    version: str
    firmware: str
    bus: str
    statistics: int


@dataclass(frozen=True)
class StampAbility:
    """What an interface can stamp: SOF_TIMESTAMPING_* bits, bits of HWTSTAMP_TX_*, bits of HWTSTAMP_FILTER_*."""

    flags: int
    transmit: int
    filters: int
    clock: int
    """Number of the card's own clock (/dev/ptpN), -1 without one."""

    @property
    def hardware(self) -> bool:
        """The card stamps every frame both ways, echoes too and not only those of PTP."""
        needed = TX_HARDWARE | RX_HARDWARE | RAW_HARDWARE
        return self.flags & needed == needed and bool(self.transmit & 2) and bool(self.filters & (1 << _FILTER_ALL))

    @property
    def transmit_software(self) -> bool:
        """The driver stamps a frame when it takes it."""
        return bool(self.flags & TX_SOFTWARE)


class Ethtool:
    """The ioctls of one interface. What the kernel refuses is an OSError with its errno."""

    def __init__(self, interface: str) -> None:
        self._name = interface.encode()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def _ask(self, data: bytes, request: int = _SIOCETHTOOL) -> bytes:
        buffer = array.array("B", data)
        ifreq = struct.pack("16sP16x", self._name, buffer.buffer_info()[0])
        fcntl.ioctl(self._socket.fileno(), request, ifreq)
        return buffer.tobytes()

    def driver(self) -> Driver:
        """ETHTOOL_GDRVINFO."""
        answer = self._ask(struct.pack("I", _GDRVINFO) + bytes(192))
        texts = [answer[at : at + _NAME_BYTE].split(b"\0")[0].decode("utf-8", "replace") for at in range(4, 132, 32)]
        name, version, firmware, bus = texts
        return Driver(name, version, firmware, bus, struct.unpack_from("I", answer, 180)[0])

    def rate_mbps(self) -> int | None:
        """Speed of the link, Mb/s; None while it is not known (ETHTOOL_GSET)."""
        answer = self._ask(struct.pack("I", _GSET) + bytes(40))
        rate = struct.unpack_from("H", answer, 12)[0] | struct.unpack_from("H", answer, 28)[0] << 16
        return None if rate in (0, 0xFFFF, 0xFFFFFFFF) else int(rate)

    def statistic_names(self, count: int) -> list[str]:
        """Names of the driver's own counters, in the order of their values."""
        room = bytes((2 * count + _SLACK) * _NAME_BYTE)
        answer = self._ask(struct.pack("III", _GSTRINGS, _STATISTICS, count) + room)
        self._same(count, struct.unpack_from("I", answer, 8)[0])
        starts = range(12, 12 + count * _NAME_BYTE, _NAME_BYTE)
        return [answer[at : at + _NAME_BYTE].split(b"\0")[0].decode("utf-8", "replace") for at in starts]

    def statistics(self, count: int) -> tuple[int, ...]:
        """Values of the driver's own counters; OSError if there are not as many any more."""
        answer = self._ask(struct.pack("II", _GSTATS, count) + bytes(8 * (2 * count + _SLACK)))
        self._same(count, struct.unpack_from("I", answer, 4)[0])
        return struct.unpack_from(f"{count}Q", answer, 8)

    @staticmethod
    def _same(count: int, now: int) -> None:
        if now != count:
            raise OSError(errno.ERANGE, f"the driver has {now} counters and had {count}")

    def eee(self) -> Eee:
        """EEE as the ioctl shows it: link modes beyond bit 31 (2.5 and 5 Gb/s among them) are not in it."""
        answer = struct.unpack("10I", self._ask(struct.pack("I", _GEEE) + bytes(36)))
        _, supported, ours, peers, active, enabled, transmit_lpi, hold_us, _, _ = answer
        return Eee(bool(enabled), bool(active), bool(transmit_lpi), hold_us, supported, ours, peers)

    def stamp_ability(self) -> StampAbility:
        """ETHTOOL_GET_TS_INFO."""
        answer = struct.unpack("2Ii8I", self._ask(struct.pack("I", _GET_TS_INFO) + bytes(40)))
        return StampAbility(flags=answer[1], clock=answer[2], transmit=answer[3], filters=answer[7])

    def hardware_stamping(self) -> tuple[int, int]:
        """(transmit type, receive filter) in force (SIOCGHWTSTAMP)."""
        answer = struct.unpack("3i", self._ask(bytes(12), _SIOCGHWTSTAMP))
        return answer[1], answer[2]

    def stamp_in_hardware(self, transmit: int = 1, receive: int = _FILTER_ALL) -> tuple[int, int]:
        """Have the card stamp frames, all of them by default; what it agreed to. Needs CAP_NET_ADMIN."""
        answer = struct.unpack("3i", self._ask(struct.pack("3i", 0, transmit, receive), _SIOCSHWTSTAMP))
        return answer[1], answer[2]

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
