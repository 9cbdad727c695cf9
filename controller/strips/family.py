"""What a family of power strips is: pure functions between readings and the objects of a MIB.

A family opens no socket. It says which objects to read, turns what was found into watts and joules, and gives the SET
that switches an outlet. Most families are tables of columns (`controller.strips.columns`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from eee_testbed.controller.drivers.driver import SnmpSet, SnmpValue
from eee_testbed.lab.model import Strip

_METERS_DIFFER: Final = 1.05

Found = Mapping[str, SnmpValue]
"""Full OID in dotted form to value; objects that the strip does not have are missing."""


@dataclass(frozen=True, slots=True)
class Channel:
    """What one meter shows. A step is the least difference that it can show; None where it shows nothing.

    Energy counts from some time in the past, and in some families from a reset by a person.
    """

    power_watt: float | None = None
    power_step_watt: float | None = None
    energy_joule: float | None = None
    energy_step_joule: float | None = None


NOT_METERED = Channel()


@dataclass(frozen=True, slots=True)
class OutletReading:
    """One outlet. `on` is None if the strip does not say, or is switching it right now."""

    number: int
    on: bool | None
    meter: Channel
    name: str = ""
    """What the strip calls it."""


@dataclass(frozen=True, slots=True)
class StripReading:
    """A whole strip; `total` is what it draws from the mains by its own meters there, where it has some."""

    outlets: tuple[OutletReading, ...]
    total: Channel
    summed: tuple[str, ...] = ()
    """What the total is the sum of, by the strip's names: phases, cords, inlets, banks; empty for one meter."""

    unread: tuple[str, ...] = ()
    """Those of them that show no power though others do: then the total has none."""

    @property
    def excess_watt(self) -> float:
        """By how much the outlets draw more than the whole strip, beyond what meters differ by; 0 if they do not.

        One of them is then misread: a total that is that of one unit of a chain, or of one inlet of two. Meters differ
        by 5 % and their steps.
        """
        shown = [outlet.meter for outlet in self.outlets if outlet.meter.power_watt is not None]
        if self.total.power_watt is None or not shown:
            return 0.0
        step_watt = (self.total.power_step_watt or 0.0) + sum(one.power_step_watt or 0.0 for one in shown)
        outlets_watt = sum(one.power_watt or 0.0 for one in shown)
        return max(0.0, outlets_watt - _METERS_DIFFER * self.total.power_watt - step_watt)

    def outlet(self, number: int) -> OutletReading:
        """The outlet of that number; KeyError if there is none."""
        for outlet in self.outlets:
            if outlet.number == number:
                return outlet
        raise KeyError(number)


class MeterFamily(Protocol):
    """One family. `Unreadable` is raised for values that cannot be understood."""

    def tables(self, strip: Strip) -> tuple[str, ...]:
        """Columns that have to be walked once, before anything else: which feeds and outlets there are."""

    def listed_outlets(self, strip: Strip, constants: Found) -> int | None:
        """How many outlets the tables list; None if they do not list outlets."""

    def constants(self, strip: Strip, known: Found) -> tuple[str, ...]:
        """The OIDs that have to be read once only, such as scales and names; `known` is what the tables hold."""

    def objects(self, strip: Strip, constants: Found) -> tuple[str, ...]:
        """The OIDs to read each time."""

    def reading(self, strip: Strip, objects: Found) -> StripReading:
        """What the objects, tables and constants included, say."""

    def switch(self, strip: Strip, outlet: int, constants: Found, *, on: bool) -> SnmpSet:
        """What switches an outlet at once."""


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """A row of the table of families."""

    title: str
    family: MeterFamily
    verified: str
    """Against what it was tried, in words for the table of families."""

    from_memory: str
    """What rests on memory alone; empty if nothing."""
