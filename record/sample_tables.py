"""The tables that a collector fills: their columns, units and meanings. A name's last word is its unit, if it has one.

Every row of `ports`, `watts` and `lpi` has the tick of its source, the time when it was due, when the first request
was sent and when the last response was received. The row was true at some moment in between, so half of that time
bounds the error of its time. Times are of the run's clock, UTC in nanoseconds. `polls` has a row for every tick of
every source, also for polls without a response.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["int", "float", "text", "bool"]
Value = int | float | str | bool | None
Column = Value | Sequence[int | None] | Sequence[float | None] | Sequence[str] | Sequence[bool | None]
"""A list with a value for each row, or one value that stands for all of them."""


@dataclass(frozen=True, slots=True)
class SampleColumn:
    """A column of a table."""

    name: str
    kind: Kind
    means: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `keys` are the columns that identify a series of rows."""

    name: str
    keys: tuple[str, ...]
    columns: tuple[SampleColumn, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns, in order."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one table."""

    table: str
    row_count: int
    columns: Mapping[str, Column]


def _times(source: str) -> tuple[SampleColumn, ...]:
    return (
        SampleColumn(source, "text", "name in the inventory"),
        SampleColumn("tick", "int", "tick of the schedule, from 0"),
        SampleColumn("due_ns", "int", "when the tick was due"),
        SampleColumn("sent_ns", "int", "when the first request was sent"),
        SampleColumn("received_ns", "int", "when the last response was received"),
    )


def _counts(*names: str) -> tuple[SampleColumn, ...]:
    return tuple(SampleColumn(name, "int", "since the switch began to count") for name in names)


PORTS: Final = Table(
    "ports",
    ("switch", "port"),
    (
        *_times("switch"),
        SampleColumn("port", "text", "name in the inventory"),
        SampleColumn("up", "bool", "ifOperStatus is up"),
        SampleColumn("changed_ms", "int", "ifLastChange, in the switch's uptime"),
        SampleColumn("rate_mbps", "int", "ifHighSpeed"),
        *_counts("in_byte", "out_byte"),
        *_counts(
            *(
                f"{direction}_{cast}_frame"
                for direction in ("in", "out")
                for cast in ("unicast", "multicast", "broadcast")
            )
        ),
        *_counts("in_discard_frame", "in_error_frame", "out_discard_frame", "out_error_frame"),
        SampleColumn("discontinuity_ms", "int", "ifCounterDiscontinuityTime, in the switch's uptime"),
        SampleColumn(
            "mark", "text", '"reset": no difference to the row before is valid; "wrap": a 32-bit counter wrapped'
        ),
    ),
)

WATTS: Final = Table(
    "watts",
    ("strip", "outlet"),
    (
        *_times("strip"),
        SampleColumn("outlet", "int", "number of the outlet; 0 is the whole strip"),
        SampleColumn("feeds", "text", "the device behind it"),
        SampleColumn("on", "bool", "whether the outlet is on; null where the strip does not say"),
        SampleColumn("power_watt", "float", "power that the meter shows"),
        SampleColumn("power_step_watt", "float", "resolution of the meter"),
        SampleColumn("energy_joule", "float", "energy that the meter has counted"),
        SampleColumn("energy_step_joule", "float", "resolution of the energy counter"),
        SampleColumn("unchanged_s", "float", "time since the row's power or energy last changed"),
        SampleColumn("mark", "text", '"stale": the strip has stopped measuring; "reset": energy went back'),
    ),
)

LPI: Final = Table(
    "lpi",
    ("switch", "port"),
    (
        *_times("switch"),
        SampleColumn("port", "text", "name in the inventory"),
        *_counts("tx_lpi_event", "tx_lpi_us", "rx_lpi_event", "rx_lpi_us"),
        SampleColumn("mark", "text", '"reset": a counter went back'),
    ),
)

POLLS: Final = Table(
    "polls",
    ("source", "kind"),
    (
        *_times("source"),
        SampleColumn("kind", "text", "switch, strip or lpi"),
        SampleColumn("outcome", "text", '"ok"; "failed": no valid response; "missed": the poll before took too long'),
        SampleColumn("mark", "text", '"late": begun late by more than a tenth of the period; "stale", "restarted"'),
        SampleColumn("uptime_ms", "int", "sysUpTime of a switch, read first"),
        SampleColumn("why", "text", "what went wrong"),
    ),
)

TABLES: Final[Mapping[str, Table]] = {table.name: table for table in (PORTS, WATTS, LPI, POLLS)}
