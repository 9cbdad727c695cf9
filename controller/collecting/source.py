"""What is asked at every beat: the seam between the collector and devices.

A source is used by one thread. It keeps what it needs to judge a reading by the one before, and makes none up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from record.clock_offsets import Offset
from record.run_clock import RunClock
from record.sample_tables import Batch

SourceKind = Literal["switch", "strip", "lpi"]


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """Something that a reading shows to have happened."""

    kind: str
    facts: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one beat of one source brought; columns of times are the collector's to add."""

    batch: Batch
    sent_ns: int
    received_ns: int
    mark: str = ""
    uptime_ms: int | None = None
    events: tuple[SourceEvent, ...] = ()


class Source(Protocol):
    """A device, or a part of one, that is asked again and again."""

    @property
    def name(self) -> str:
        """In the inventory."""

    @property
    def kind(self) -> SourceKind:
        """What is asked of it."""

    def read(self, clock: RunClock) -> Reading:
        """Ask it; a DeviceError says why there is no reading."""

    def offsets(self) -> tuple[Offset, ...]:
        """What was learned about its clock, at the start and at the end; empty if it has none."""

    def close(self) -> None:
        """Give back what is open; it is opened anew at the next reading."""
