"""What all SETs share: error-status, checks of values, PortList (RFC 3416, RFC 4363)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from eee_testbed.twin.switch.personality import Refused


class Status(IntEnum):
    """error-status of RFC 3416, section 3, as far as a SET can return them."""

    NO_ERROR = 0
    WRONG_TYPE = 7
    WRONG_LENGTH = 8
    WRONG_VALUE = 10
    NO_CREATION = 11
    INCONSISTENT_VALUE = 12
    RESOURCE_UNAVAILABLE = 13
    COMMIT_FAILED = 14
    NOT_WRITABLE = 17
    INCONSISTENT_NAME = 18


class RowStatus(IntEnum):
    """RowStatus of RFC 2579."""

    ACTIVE = 1
    NOT_IN_SERVICE = 2
    CREATE_AND_GO = 4
    CREATE_AND_WAIT = 5
    DESTROY = 6


class SetRefused(Exception):
    """A SET is refused: `status`, and the position (from 1) of the offending varbind."""

    def __init__(self, status: Status, index: int = 0) -> None:
        super().__init__(f"{status.name} at varbind {index}")
        self.status = status
        self.index = index

    def at(self, index: int) -> SetRefused:
        """Return the same error at this varbind."""
        return SetRefused(self.status, index)


def status_of(refused: Refused) -> Status:
    """Return the error-status for a change that the configuration refuses."""
    match refused.reason:
        case "bad-value":
            return Status.WRONG_VALUE
        case "full":
            return Status.RESOURCE_UNAVAILABLE
        case _:
            return Status.INCONSISTENT_VALUE


def one_of(value: object, accepted: Collection[int]) -> int:
    """Check an INTEGER against the accepted values; wrongValue otherwise."""
    if not isinstance(value, int) or value not in accepted:
        raise SetRefused(Status.WRONG_VALUE)
    return value


def truth(value: object) -> bool:
    """Parse a TruthValue, or any enumeration where 1 is yes and 2 is no."""
    return one_of(value, (1, 2)) == 1


def ascii_text(value: object, longest: int) -> str:
    """Parse a DisplayString of at most `longest` printable characters; wrongLength or wrongValue otherwise."""
    if not isinstance(value, bytes):
        raise SetRefused(Status.WRONG_TYPE)
    if len(value) > longest:
        raise SetRefused(Status.WRONG_LENGTH)
    if not all(32 <= byte < 127 for byte in value):
        raise SetRefused(Status.WRONG_VALUE)
    return value.decode("ascii")


def parse_port_list(value: object, port_count: int) -> frozenset[int]:
    """Parse a PortList into bridge ports: port 1 is the most significant bit of the first octet (RFC 4363).

    Missing octets are zero, as in the RFC; a bit beyond the last port is a wrongValue.
    """
    if not isinstance(value, bytes):
        raise SetRefused(Status.WRONG_TYPE)
    ports = frozenset(
        octet * 8 + bit + 1 for octet, byte in enumerate(value) for bit in range(8) if byte & (0x80 >> bit)
    )
    if ports and max(ports) > port_count:
        raise SetRefused(Status.WRONG_VALUE)
    return ports


def port_list(ports: Iterable[int], port_count: int) -> bytes:
    """Return bridge ports as a PortList."""
    octets = bytearray((port_count + 7) // 8)
    for number in ports:
        octets[(number - 1) // 8] |= 0x80 >> ((number - 1) % 8)
    return bytes(octets)
