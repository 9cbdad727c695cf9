"""What is polled at every tick: the interface between the collector and devices.

A source is used by one thread. It remembers what it needs to compare a reading with the one before, and never makes up
a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from eee_testbed.record.clock_offsets import Offset
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch

SourceKind = Literal["switch", "strip", "lpi"]


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """Something that happened, as a reading shows."""

    kind: EventKind
    facts: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of one poll of a source; the collector adds the columns of times."""

    batch: Batch
    sent_ns: int
    received_ns: int
    mark: str = ""
    uptime_ms: int | None = None
    events: tuple[SourceEvent, ...] = ()


class Source(Protocol):
    """A device, or a part of one, that is polled."""

    @property
    def name(self) -> str:
        """Its name in the inventory."""

    @property
    def kind(self) -> SourceKind:
        """What is polled."""

    def read(self, clock: RunClock) -> Reading:
        """Poll it; a DeviceError says why it failed."""

    def offsets(self) -> tuple[Offset, ...]:
        """Offsets of its clock at the start and at the end; empty if it has no clock."""

    def close(self) -> None:
        """Close its connection; the next reading opens a new one."""
