"""Raritan PX2 and PX3: PDU2-MIB (1.3.6.1.4.1.13742.6).

A strip of the inventory is pdu 1; what it draws is the sum of its inlets, each with all of its phases.
Each sensor says itself how many of its digits are behind the point. Sensors: 5 activePower, 8 activeEnergy (Wh).
"""

from dataclasses import dataclass

from controller.drivers.driver import SnmpSet
from controller.power.columns import WATT_HOUR_JOULE, number_at, text_at
from controller.power.family import NOT_METERED, Channel, FamilyRow, Found, OutletReading, StripReading
from lab.model import Strip

_PDU2 = "1.3.6.1.4.1.13742.6"
_POWER, _ENERGY = 5, 8
_ON, _OFF = 7, 8
_SENSORS = (_POWER, _ENERGY)


def _values(outlet: int, sensor: int) -> str:
    return f"{_PDU2}.5.4.3.1.4.1.{outlet}.{sensor}"


def _digits(outlet: int, sensor: int) -> str:
    return f"{_PDU2}.3.5.4.1.7.1.{outlet}.{sensor}"


def _inlet_value(inlet: int, sensor: int) -> str:
    return f"{_PDU2}.5.2.3.1.4.1.{inlet}.{sensor}"


def _inlet_digits(inlet: int, sensor: int) -> str:
    return f"{_PDU2}.3.3.4.1.7.1.{inlet}.{sensor}"


_INLETS = f"{_PDU2}.3.3.3.1.2.1"
"""inletLabel of pdu 1, by inlet."""


def _inlets(known: Found) -> list[int]:
    """The inlets that the strip lists; inlet 1 if it lists none."""
    numbers = (oid.removeprefix(f"{_INLETS}.") for oid in known if oid.startswith(f"{_INLETS}."))
    return sorted(int(number) for number in numbers if number.isdecimal()) or [1]


def _name(outlet: int) -> str:
    return f"{_PDU2}.3.5.3.1.3.1.{outlet}"


def _available(outlet: int, sensor: int) -> str:
    return f"{_PDU2}.5.4.3.1.2.1.{outlet}.{sensor}"


@dataclass(frozen=True, slots=True)
class RaritanFamily:
    """measurementsOutletSensorValue by outletSensorDecimalDigits; switchingOperation (0 off, 1 on)."""

    def tables(self, strip: Strip) -> tuple[str, ...]:  # noqa: ARG002 - other families need the strip
        """Labels of the inlets."""
        return (_INLETS,)

    def objects(self, strip: Strip, known: Found) -> tuple[str, ...]:
        """States and sensors of the outlets, and the inlets' sensors."""
        numbers = range(1, strip.outlet_count + 1)
        return (
            *(f"{_PDU2}.4.1.2.1.3.1.{n}" for n in numbers),
            *(name(n, sensor) for n in numbers for sensor in _SENSORS for name in (_values, _available)),
            *(_inlet_value(inlet, sensor) for inlet in _inlets(known) for sensor in _SENSORS),
        )

    def constants(self, strip: Strip, known: Found) -> tuple[str, ...]:
        """Names of outlets, and decimal digits of all sensors."""
        numbers = range(1, strip.outlet_count + 1)
        each = (_digits(n, sensor) for n in numbers for sensor in _SENSORS)
        inlets = (_inlet_digits(inlet, sensor) for inlet in _inlets(known) for sensor in _SENSORS)
        return (*map(_name, numbers), *each, *inlets)

    def reading(self, strip: Strip, found: Found) -> StripReading:
        """Sensors that are not available, or do not exist, show nothing."""
        outlets = []
        for number in range(1, strip.outlet_count + 1):
            code = number_at(strip, found, f"{_PDU2}.4.1.2.1.3.1.{number}")
            on = {_ON: True, _OFF: False}.get(-1 if code is None else code)
            outlets.append(
                OutletReading(number, on, self._outlet_meter(strip, found, number), text_at(found, _name(number)))
            )
        inlets = _inlets(found)
        powers, energies = (
            [_scaled(strip, found, _inlet_value(n, kind), _inlet_digits(n, kind), unit) for n in inlets]
            for kind, unit in ((_POWER, 1.0), (_ENERGY, WATT_HOUR_JOULE))
        )
        names = [text_at(found, f"{_INLETS}.{n}") or f"inlet {n}" for n in inlets]
        silent = tuple(name for name, power in zip(names, powers, strict=True) if power is None)
        return StripReading(
            tuple(outlets),
            _channel(_sum(powers), _sum(energies)),
            summed=tuple(names) if len(inlets) > 1 else (),
            unread=silent if len(silent) < len(inlets) else (),
        )

    def _outlet_meter(self, strip: Strip, found: Found, number: int) -> Channel:
        both = []
        for sensor, unit in ((_POWER, 1.0), (_ENERGY, WATT_HOUR_JOULE)):
            there = number_at(strip, found, _available(number, sensor)) != 2  # TruthValue: 2 is false
            scaled = _scaled(strip, found, _values(number, sensor), _digits(number, sensor), unit)
            both.append(scaled if there else None)
        return _channel(both[0], both[1])

    def switch(self, strip: Strip, outlet: int, known: Found, *, on: bool) -> SnmpSet:  # noqa: ARG002 - as above
        """One SET of switchingOperation."""
        word = "on" if on else "off"
        return SnmpSet(((f"{_PDU2}.4.1.2.1.2.1.{outlet}", int(on)),), f"switch outlet {outlet} {word}")


def _scaled(strip: Strip, found: Found, value: str, digits: str, unit: float) -> tuple[float, float] | None:
    """(value, step); None if the sensor or its scale is missing."""
    count, behind = number_at(strip, found, value), number_at(strip, found, digits)
    if count is None or behind is None:
        return None
    step = unit / 10**behind
    return count * step, step


def _sum(values: list[tuple[float, float] | None]) -> tuple[float, float] | None:
    """(sum, sum of steps); None if one is missing."""
    known = [value for value in values if value is not None]
    return (sum(v for v, _ in known), sum(step for _, step in known)) if len(known) == len(values) else None


def _channel(power: tuple[float, float] | None, energy: tuple[float, float] | None) -> Channel:
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
