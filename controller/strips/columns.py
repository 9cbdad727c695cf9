"""Families whose MIB has a column each for an outlet's state, power and energy: a table of those columns."""

from collections.abc import Mapping
from dataclasses import dataclass

from eee_testbed.controller.drivers.driver import SnmpSet
from eee_testbed.controller.strips.family import NOT_METERED, Channel, Found, OutletReading, StripReading
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Strip
from eee_testbed.lab.plain_text import decoded, one_line

WATT_HOUR_JOULE = 3_600.0
TENTH_KWH_JOULE = 360_000.0


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column, or one object; one count is worth `step`.

    {n} in `oid` stands for the row of an outlet or of a feed, {u} for the unit of a chain.
    """

    oid: str
    step: float


@dataclass(frozen=True, slots=True)
class Switching:
    """The column that switches, {n} being the outlet's row; if on and off are columns of their own, both are given."""

    on_oid: str
    on_value: int
    off_oid: str
    off_value: int


@dataclass(frozen=True, slots=True)
class Rows:
    """A column that lists rows by their index, its values being the strip's names for them.

    `default` is the index of a strip that does not list its rows, {n} being the outlet's number. Of a strip in a chain
    only rows that begin with `head` count, {u} being its unit; the others are those of other strips.
    """

    oid: str
    default: str
    head: str = ""


def number_at(strip: Strip, objects: Found, oid: str) -> int | None:
    """An object's number; None if the strip has no such object. Unreadable if it is none."""
    value = objects.get(oid)
    if value is None:
        return None
    if not isinstance(value, int):
        raise Unreadable(strip.name, oid, repr(value))
    return value


def text_at(objects: Found, oid: str) -> str:
    """An object's text; empty if the strip has no such object."""
    value = objects.get(oid, b"")
    return decoded(value.strip(b"\0 ")) if isinstance(value, bytes) else one_line(str(value))


def _measured(strip: Strip, objects: Found, quantity: Quantity | None, row: str) -> float | None:
    """A quantity's value; None without one. Negative numbers mean "not available" in all of these MIBs."""
    if quantity is None:
        return None
    count = number_at(strip, objects, _at(strip, quantity.oid, row))
    return None if count is None or count < 0 else count * quantity.step


def _at(strip: Strip, oid: str, row: object = "") -> str:
    return oid.format(n=row, u=strip.unit)


def _listed(strip: Strip, objects: Found, rows: Rows) -> list[str]:
    """Indices of the rows that a strip lists, in their order."""
    column = f"{rows.oid}."
    head = column + _at(strip, rows.head)
    indices = [oid.removeprefix(column) for oid in objects if oid.startswith(head)]
    return sorted(indices, key=lambda index: [int(part) for part in index.split(".")])


def _sum(values: list[float | None]) -> float | None:
    measured = [value for value in values if value is not None]
    return sum(measured) if measured and len(measured) == len(values) else None


@dataclass(frozen=True, slots=True)
class ColumnFamily:
    """A family of such tables. Outlets are counted from 1 in the order of their rows.

    With `feeds` the totals are sums over all feeds that the strip lists: towers, phases, cords, inlets.
    """

    state: str
    state_on: frozenset[int]
    state_off: frozenset[int]
    switching: Switching
    power: Quantity | None
    energy: Quantity | None
    total_power: Quantity | None = None
    total_energy: Quantity | None = None
    names: str = ""
    outlets: Rows | None = None
    feeds: Rows | None = None

    def tables(self, strip: Strip) -> tuple[str, ...]:  # noqa: ARG002 - other families need the strip
        """The columns that list outlets and feeds."""
        return tuple(rows.oid for rows in (self.outlets, self.feeds) if rows is not None)

    def listed_outlets(self, strip: Strip, constants: Found) -> int | None:
        """Rows of outlets, where the family lists them."""
        return None if self.outlets is None else len(_listed(strip, constants, self.outlets))

    def constants(self, strip: Strip, objects: Found) -> tuple[str, ...]:
        """Names of outlets. What one count is worth is in the MIB."""
        return tuple(_at(strip, self.names, row) for row in self._rows(strip, objects)) if self.names else ()

    def objects(self, strip: Strip, constants: Found) -> tuple[str, ...]:
        """State, power and energy of each outlet, and the totals of each feed."""
        columns = [self.state, *(quantity.oid for quantity in (self.power, self.energy) if quantity is not None)]
        each = [_at(strip, oid, row) for oid in columns for row in self._rows(strip, constants)]
        totals = [quantity.oid for quantity in (self.total_power, self.total_energy) if quantity is not None]
        return (*each, *(_at(strip, oid, row) for oid in totals for row in self._feeds(strip, constants)))

    def reading(self, strip: Strip, objects: Found) -> StripReading:
        """Counts times steps; a code that is neither on nor off is an outlet between the two."""
        outlets = []
        for number, row in enumerate(self._rows(strip, objects), 1):
            code = number_at(strip, objects, _at(strip, self.state, row))
            on = True if code in self.state_on else False if code in self.state_off else None
            power_watt = _measured(strip, objects, self.power, row)
            energy_joule = _measured(strip, objects, self.energy, row)
            meter = _channel(power_watt, self.power, energy_joule, self.energy)
            name = text_at(objects, _at(strip, self.names, row)) if self.names else ""
            outlets.append(OutletReading(number, on, meter, name))
        return self._with_total(strip, objects, tuple(outlets))

    def _with_total(self, strip: Strip, objects: Found, outlets: tuple[OutletReading, ...]) -> StripReading:
        feeds = self._feeds(strip, objects)
        names = [self._feed_name(objects, feed) for feed in feeds]
        powers = [_measured(strip, objects, self.total_power, feed) for feed in feeds]
        energies = [_measured(strip, objects, self.total_energy, feed) for feed in feeds]
        total = _channel(_sum(powers), self.total_power, _sum(energies), self.total_energy, count=len(feeds))
        silent = tuple(name for name, power in zip(names, powers, strict=True) if power is None)
        return StripReading(
            outlets,
            total,
            summed=tuple(names) if len(feeds) > 1 else (),
            unread=silent if len(silent) < len(feeds) else (),
        )

    def switch(self, strip: Strip, outlet: int, constants: Found, *, on: bool) -> SnmpSet:
        """One SET."""
        how = self.switching
        oid, value = (how.on_oid, how.on_value) if on else (how.off_oid, how.off_value)
        row = self._rows(strip, constants)[outlet - 1]
        return SnmpSet(((_at(strip, oid, row), value),), f"switch outlet {outlet} {'on' if on else 'off'}")

    def _rows(self, strip: Strip, constants: Found) -> list[str]:
        """Rows of outlets 1, 2, ...; Unreadable if the strip has fewer than the inventory says."""
        count = strip.outlet_count
        listed = [] if self.outlets is None else _listed(strip, constants, self.outlets)
        if self.outlets is None or not listed:
            default = "{n}" if self.outlets is None else self.outlets.default
            return [_at(strip, default, n) for n in range(1, count + 1)]
        if len(listed) < count:
            reason = f"{len(listed)} outlets, and hosts.yml says {count}: correct `outlets` there"
            raise Unreadable(strip.name, f"a walk of {self.outlets.oid}", reason)
        return listed[:count]

    def _feeds(self, strip: Strip, constants: Found) -> list[str]:
        if self.feeds is None:
            return [""]
        return _listed(strip, constants, self.feeds) or [_at(strip, self.feeds.default)]

    def _feed_name(self, constants: Found, feed: str) -> str:
        name = "" if self.feeds is None else constants.get(f"{self.feeds.oid}.{feed}")
        return (
            text_at(constants, f"{self.feeds.oid}.{feed}") if self.feeds and isinstance(name, bytes) else f"feed {feed}"
        )


def _channel(
    power_watt: float | None, power: Quantity | None, joule: float | None, energy: Quantity | None, *, count: int = 1
) -> Channel:
    """A channel of one meter, or of the sum of `count`."""
    if power_watt is None and joule is None:
        return NOT_METERED
    return Channel(
        power_watt,
        None if power_watt is None or power is None else power.step * count,
        joule,
        None if joule is None or energy is None else energy.step * count,
    )


def one_column(oid: str, values: Mapping[bool, int]) -> Switching:
    """Switching by one column, with a value for on and one for off."""
    return Switching(oid, values[True], oid, values[False])
