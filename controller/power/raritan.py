"""Raritan PX2 and PX3: PDU2-MIB (1.3.6.1.4.1.13742.6). A strip of the inventory is pdu 1, its mains are inlet 1.

Each sensor says itself how many of its digits are behind the point. Sensors: 5 activePower, 8 activeEnergy (Wh).
"""

from dataclasses import dataclass

from controller.drivers.driver import SnmpSet
from controller.power.columns import WATT_HOUR_JOULE, number_at
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


def _inlet_value(sensor: int) -> str:
    return f"{_PDU2}.5.2.3.1.4.1.1.{sensor}"


def _inlet_digits(sensor: int) -> str:
    return f"{_PDU2}.3.3.4.1.7.1.1.{sensor}"


def _available(outlet: int, sensor: int) -> str:
    return f"{_PDU2}.5.4.3.1.2.1.{outlet}.{sensor}"


@dataclass(frozen=True, slots=True)
class RaritanFamily:
    """measurementsOutletSensorValue by outletSensorDecimalDigits; switchingOperation (0 off, 1 on)."""

    def objects(self, strip: Strip) -> tuple[str, ...]:
        """States and sensors of the outlets, and the inlet's sensors."""
        numbers = range(1, strip.outlet_count + 1)
        return (
            *(f"{_PDU2}.4.1.2.1.3.1.{n}" for n in numbers),
            *(name(n, sensor) for n in numbers for sensor in _SENSORS for name in (_values, _available)),
            *(_inlet_value(sensor) for sensor in _SENSORS),
        )

    def constants(self, strip: Strip) -> tuple[str, ...]:
        """Decimal digits of all sensors."""
        each = (_digits(n, sensor) for n in range(1, strip.outlet_count + 1) for sensor in _SENSORS)
        return (*each, *(_inlet_digits(sensor) for sensor in _SENSORS))

    def reading(self, strip: Strip, found: Found) -> StripReading:
        """Sensors that are not available, or do not exist, show nothing."""
        outlets = []
        for number in range(1, strip.outlet_count + 1):
            code = number_at(strip, found, f"{_PDU2}.4.1.2.1.3.1.{number}")
            on = {_ON: True, _OFF: False}.get(-1 if code is None else code)
            outlets.append(OutletReading(number, on, self._outlet_meter(strip, found, number)))
        power = _scaled(strip, found, _inlet_value(_POWER), _inlet_digits(_POWER), 1.0)
        energy = _scaled(strip, found, _inlet_value(_ENERGY), _inlet_digits(_ENERGY), WATT_HOUR_JOULE)
        return StripReading(tuple(outlets), _channel(power, energy))

    def _outlet_meter(self, strip: Strip, found: Found, number: int) -> Channel:
        both = []
        for sensor, unit in ((_POWER, 1.0), (_ENERGY, WATT_HOUR_JOULE)):
            there = number_at(strip, found, _available(number, sensor)) != 2  # TruthValue: 2 is false
            scaled = _scaled(strip, found, _values(number, sensor), _digits(number, sensor), unit)
            both.append(scaled if there else None)
        return _channel(both[0], both[1])

    def switch(self, strip: Strip, outlet: int, *, on: bool) -> SnmpSet:  # noqa: ARG002 - other families need the strip
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
