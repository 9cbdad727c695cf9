"""What all strips' MIBs share: the system group, writable objects, and the error-status of a wrong SET."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from eee_engine import VarBind

# error-status of RFC 3416, section 3
WRONG_TYPE, WRONG_LENGTH, WRONG_VALUE = 7, 8, 10
NO_CREATION, NOT_WRITABLE = 11, 17

SYSTEM = "1.3.6.1.2.1.1"


class Agent(Protocol):
    """The part of `eee_engine.SnmpAgent` that is used here."""

    def put(self, values: "Sequence[VarBind]") -> None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Writable:
    """One writable instance: its type as in a VarBind, what it accepts, and what a SET does."""

    kind: str
    accepts: Callable[[Any], bool]
    write: Callable[[Any], None]
    largest_byte: int = 255  # of octets


class Face(Protocol):
    """A strip family's MIB over a `twin.strips.strip.Strip`."""

    def constants(self) -> "Iterator[VarBind]":
        """Yield what changes only by SET."""

    def readings(self) -> "Iterator[VarBind]":
        """Yield what changes by itself."""

    def writable(self) -> Mapping[str, Writable]:
        """Writable instances by OID without a leading dot."""


def number(oid: str, accepted: range | Sequence[int], write: Callable[[int], None]) -> dict[str, Writable]:
    """Make one writable INTEGER."""
    return {oid: Writable("int", lambda value: value in accepted, write)}


def text(oid: str, largest_byte: int, write: Callable[[str], None]) -> dict[str, Writable]:
    """Make one writable DisplayString of printable ASCII."""

    def printable(value: bytes) -> bool:
        return all(32 <= byte < 127 for byte in value)

    return {oid: Writable("octets", printable, lambda value: write(value.decode("ascii")), largest_byte)}


def refusal(writable: Mapping[str, Writable], objects: Mapping[str, Any], varbind: "VarBind") -> int:
    """Return the error-status that refuses this varbind of a SET, or 0 (RFC 3416, section 4.2.5, in its order)."""
    oid, kind, value = varbind
    entry = writable.get(oid)
    if entry is None:
        return NOT_WRITABLE if oid in objects else NO_CREATION
    if kind != entry.kind:
        return WRONG_TYPE
    if isinstance(value, bytes) and len(value) > entry.largest_byte:
        return WRONG_LENGTH
    return 0 if entry.accepts(value) else WRONG_VALUE


@dataclass(slots=True)
class SystemGroup:
    """SNMPv2-MIB's system group of a strip; contact, name and location can be SET."""

    description: str
    object_id: str
    contact: str
    name: str
    location: str

    def varbinds(self) -> "Iterator[VarBind]":
        """Yield all but sysUpTime."""
        yield f"{SYSTEM}.1.0", "octets", self.description.encode()
        yield f"{SYSTEM}.2.0", "oid", self.object_id
        yield f"{SYSTEM}.4.0", "octets", self.contact.encode()
        yield f"{SYSTEM}.5.0", "octets", self.name.encode()
        yield f"{SYSTEM}.6.0", "octets", self.location.encode()
        yield f"{SYSTEM}.7.0", "int", 72

    def writable(self) -> dict[str, Writable]:
        """Writable instances by OID."""
        return {
            **text(f"{SYSTEM}.4.0", 255, lambda value: setattr(self, "contact", value)),
            **text(f"{SYSTEM}.5.0", 255, lambda value: setattr(self, "name", value)),
            **text(f"{SYSTEM}.6.0", 255, lambda value: setattr(self, "location", value)),
        }
