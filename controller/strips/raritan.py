"""Raritan PX2 and PX3: PDU2-MIB (1.3.6.1.4.1.13742.6).

Every table is indexed by pduId first: 1, or the unit of a cascade behind one address, counted from 1. What a strip
draws is the sum of its inlets, each with all of its phases. Each sensor says itself how many of its digits are behind
the point, whether it is there (IsAvailable), and whether it can be read now (State): the value of one that cannot be
read is 0, and says nothing. Sensors: 5 activePower, 8 activeEnergy (Wh).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eee_testbed.controller.drivers.driver import SnmpSet
from eee_testbed.controller.strips.columns import WATT_HOUR_JOULE, number_at, text_at
from eee_testbed.controller.strips.family import NOT_METERED, Channel, FamilyRow, Found, OutletReading, StripReading
from eee_testbed.lab.model import Strip

_PDU2 = "1.3.6.1.4.1.13742.6"
_POWER, _ENERGY = 5, 8
_ON, _OFF = 7, 8
_SENSORS = (_POWER, _ENERGY)
_UNITS = {_POWER: 1.0, _ENERGY: WATT_HOUR_JOULE}
_FALSE = 2  # TruthValue

Measured = tuple[float, float]
"""A value and the least difference that the sensor can show."""


_READABLE_STATES = frozenset(range(2, 7))
"""SensorStateEnumeration of a sensor with a number: normal (4), or below or above a threshold; unavailable is -1."""


@dataclass(frozen=True, slots=True)
class _Sensors:
    """The columns of one kind of sensor: of inlets, or of outlets. Rows are pduId, number, sensor."""

    measured: str
    digits_column: str

    def value(self, strip: Strip, number: int, sensor: int) -> str:
        return f"{self.measured}.4.{_pdu(strip)}.{number}.{sensor}"

    def available(self, strip: Strip, number: int, sensor: int) -> str:
        return f"{self.measured}.2.{_pdu(strip)}.{number}.{sensor}"

    def state(self, strip: Strip, number: int, sensor: int) -> str:
        return f"{self.measured}.3.{_pdu(strip)}.{number}.{sensor}"

    def digits(self, strip: Strip, number: int, sensor: int) -> str:
        return f"{self.digits_column}.{_pdu(strip)}.{number}.{sensor}"

    def polled(self, strip: Strip, number: int) -> Iterator[str]:
        for sensor in _SENSORS:
            yield from (name(strip, number, sensor) for name in (self.value, self.available, self.state))

    def read(self, strip: Strip, objects: Found, number: int, sensor: int) -> Measured | None:
        """(value, step) in the sensor's unit; None if it is not there, or cannot be read now."""
        available = number_at(strip, objects, self.available(strip, number, sensor))
        state = number_at(strip, objects, self.state(strip, number, sensor))
        if available == _FALSE or (state is not None and state not in _READABLE_STATES):
            return None
        count = number_at(strip, objects, self.value(strip, number, sensor))
        behind = number_at(strip, objects, self.digits(strip, number, sensor))
        if count is None or behind is None:
            return None
        step = _UNITS[sensor] / 10**behind
        return count * step, step

    def channel(self, strip: Strip, objects: Found, numbers: Sequence[int]) -> Channel:
        """Power and energy of these inlets or outlets together; what one of them lacks is unknown."""
        return _channel(*(_sum([self.read(strip, objects, n, sensor) for n in numbers]) for sensor in _SENSORS))


_INLET = _Sensors(f"{_PDU2}.5.2.3.1", f"{_PDU2}.3.3.4.1.7")
_OUTLET = _Sensors(f"{_PDU2}.5.4.3.1", f"{_PDU2}.3.5.4.1.7")


def _pdu(strip: Strip) -> int:
    return strip.unit + 1


def _labels(strip: Strip) -> str:
    """inletLabel, by inlet."""
    return f"{_PDU2}.3.3.3.1.2.{_pdu(strip)}"


def _inlets(strip: Strip, constants: Found) -> list[int]:
    """The inlets that the strip lists; inlet 1 if it lists none."""
    head = f"{_labels(strip)}."
    numbers = (oid.removeprefix(head) for oid in constants if oid.startswith(head))
    return sorted(int(number) for number in numbers if number.isdecimal()) or [1]


def _name(strip: Strip, outlet: int) -> str:
    return f"{_PDU2}.3.5.3.1.3.{_pdu(strip)}.{outlet}"


def _switched(strip: Strip, outlet: int) -> str:
    """OutletSwitchingState."""
    return f"{_PDU2}.4.1.2.1.3.{_pdu(strip)}.{outlet}"


@dataclass(frozen=True, slots=True)
class RaritanFamily:
    """measurementsOutletSensorValue by outletSensorDecimalDigits; switchingOperation (0 off, 1 on)."""

    def tables(self, strip: Strip) -> tuple[str, ...]:
        """Labels of the inlets."""
        return (_labels(strip),)

    def listed_outlets(self, strip: Strip, constants: Found) -> int | None:  # noqa: ARG002 - other families list outlets
        """Outlets are not listed: those that there are answer."""
        return None

    def objects(self, strip: Strip, constants: Found) -> tuple[str, ...]:
        """States and sensors of the outlets, and the inlets' sensors."""
        numbers = range(1, strip.outlet_count + 1)
        return (
            *(_switched(strip, n) for n in numbers),
            *(oid for n in numbers for oid in _OUTLET.polled(strip, n)),
            *(oid for n in _inlets(strip, constants) for oid in _INLET.polled(strip, n)),
        )

    def constants(self, strip: Strip, known: Found) -> tuple[str, ...]:
        """Names of outlets, and decimal digits of all sensors."""
        numbers = range(1, strip.outlet_count + 1)
        return (
            *(_name(strip, n) for n in numbers),
            *(_OUTLET.digits(strip, n, sensor) for n in numbers for sensor in _SENSORS),
            *(_INLET.digits(strip, n, sensor) for n in _inlets(strip, known) for sensor in _SENSORS),
        )

    def reading(self, strip: Strip, objects: Found) -> StripReading:
        """Sensors that are not available now, or do not exist, show nothing."""
        outlets = []
        for n in range(1, strip.outlet_count + 1):
            code = number_at(strip, objects, _switched(strip, n))
            on = {_ON: True, _OFF: False}.get(-1 if code is None else code)
            outlets.append(
                OutletReading(n, on, _OUTLET.channel(strip, objects, [n]), text_at(objects, _name(strip, n)))
            )
        inlets = _inlets(strip, objects)
        names = {n: text_at(objects, f"{_labels(strip)}.{n}") or f"inlet {n}" for n in inlets}
        silent = tuple(names[n] for n in inlets if _INLET.read(strip, objects, n, _POWER) is None)
        return StripReading(
            tuple(outlets),
            _INLET.channel(strip, objects, inlets),
            summed=tuple(names.values()) if len(inlets) > 1 else (),
            unread=silent if len(silent) < len(inlets) else (),
        )

    def switch(self, strip: Strip, outlet: int, constants: Found, *, on: bool) -> SnmpSet:  # noqa: ARG002 - others need it
        """One SET of switchingOperation."""
        word = "on" if on else "off"
        return SnmpSet(((f"{_PDU2}.4.1.2.1.2.{_pdu(strip)}.{outlet}", int(on)),), f"switch outlet {outlet} {word}")


def _sum(values: list[Measured | None]) -> Measured | None:
    """(sum, sum of steps); None if one is missing."""
    measured = [value for value in values if value is not None]
    return (sum(v for v, _ in measured), sum(step for _, step in measured)) if len(measured) == len(values) else None


def _channel(power: Measured | None, energy: Measured | None) -> Channel:
    if power is None and energy is None:
        return NOT_METERED
    power_watt, power_step_watt = power or (None, None)
    joule, step_joule = energy or (None, None)
    return Channel(power_watt, power_step_watt, joule, step_joule)


FAMILY = FamilyRow(
    title="Raritan PX2 and PX3",
    family=RaritanFamily(),
    verified="nothing but its MIB",
    from_memory="",
)
