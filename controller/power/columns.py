"""Families whose MIB has a column each for an outlet's state, power and energy: a table of those columns."""

from collections.abc import Mapping
from dataclasses import dataclass

from controller.drivers.driver import SnmpSet
from controller.power.family import NOT_METERED, Channel, Found, OutletReading, StripReading
from lab.errors import Unreadable
from lab.model import Strip

WATT_HOUR_JOULE = 3_600.0
TENTH_KWH_JOULE = 360_000.0


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column, or one object: what stands for the outlet's number in `oid` is {n}, and one count is worth `step`."""

    oid: str
    step: float


@dataclass(frozen=True, slots=True)
class Switching:
    """The column that switches, {n} being the outlet; if on and off are columns of their own, both are given."""

    on_oid: str
    on_value: int
    off_oid: str
    off_value: int


def number_at(strip: Strip, found: Found, oid: str) -> int | None:
    """An object's number; None if the strip has no such object. Unreadable if it is none."""
    value = found.get(oid)
    if value is None:
        return None
    if not isinstance(value, int):
        raise Unreadable(strip.name, oid, repr(value))
    return value


def _measured(strip: Strip, found: Found, quantity: Quantity | None, number: int) -> float | None:
    """A quantity's value; None without one. Negative numbers mean "not available" in all of these MIBs."""
    if quantity is None:
        return None
    count = number_at(strip, found, quantity.oid.format(n=number))
    return None if count is None or count < 0 else count * quantity.step


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


@dataclass(frozen=True, slots=True)
class ColumnFamily:
    """A family of such tables. Totals of several objects, such as one for each feed, are added."""

    state: str
    state_on: frozenset[int]
    state_off: frozenset[int]
    switching: Switching
    power: Quantity | None
    energy: Quantity | None
    total_power: tuple[Quantity, ...] = ()
    total_energy: tuple[Quantity, ...] = ()

    def objects(self, strip: Strip) -> tuple[str, ...]:
        """State, power and energy of each outlet, and the totals."""
        columns = [self.state, *(quantity.oid for quantity in (self.power, self.energy) if quantity is not None)]
        each = [oid.format(n=n) for oid in columns for n in range(1, strip.outlet_count + 1)]
        return (*each, *(quantity.oid for quantity in (*self.total_power, *self.total_energy)))

    def constants(self, strip: Strip) -> tuple[str, ...]:  # noqa: ARG002 - other families need the strip
        """None: what one count is worth is in the MIB."""
        return ()

    def reading(self, strip: Strip, found: Found) -> StripReading:
        """Counts times steps; a code that is neither on nor off is an outlet between the two."""
        outlets = []
        for number in range(1, strip.outlet_count + 1):
            code = number_at(strip, found, self.state.format(n=number))
            on = True if code in self.state_on else False if code in self.state_off else None
            power_watt = _measured(strip, found, self.power, number)
            energy_joule = _measured(strip, found, self.energy, number)
            outlets.append(OutletReading(number, on, _channel(power_watt, self.power, energy_joule, self.energy)))
        power_watt = _sum([_measured(strip, found, quantity, 0) for quantity in self.total_power])
        energy_joule = _sum([_measured(strip, found, quantity, 0) for quantity in self.total_energy])
        total = _channel(
            power_watt, next(iter(self.total_power), None), energy_joule, next(iter(self.total_energy), None)
        )
        return StripReading(tuple(outlets), total)

    def switch(self, strip: Strip, outlet: int, *, on: bool) -> SnmpSet:  # noqa: ARG002 - as above
        """One SET."""
        how = self.switching
        oid, value = (how.on_oid, how.on_value) if on else (how.off_oid, how.off_value)
        return SnmpSet(((oid.format(n=outlet), value),), f"switch outlet {outlet} {'on' if on else 'off'}")


def _channel(power_watt: float | None, power: Quantity | None, joule: float | None, energy: Quantity | None) -> Channel:
    if power_watt is None and joule is None:
        return NOT_METERED
    return Channel(
        power_watt,
        None if power_watt is None or power is None else power.step,
        joule,
        None if joule is None or energy is None else energy.step,
    )


def one_column(oid: str, values: Mapping[bool, int]) -> Switching:
    """Switching by one column, with a value for on and one for off."""
    return Switching(oid, values[True], oid, values[False])
