"""A switch's own power sensor as ENTITY-SENSOR-MIB (RFC 3433) and ENTITY-MIB (RFC 6933) rows.

The truth file says whether a family has one (`power_sensor`). That a real PowerConnect 55xx or M4300 shows watts this
way is from memory and doubtful; the row number `_INDEX` is invented.
"""

from typing import TYPE_CHECKING

from eee_testbed.twin.power.meters import Meter, MeterTraits
from eee_testbed.twin.power.wander import stream
from eee_testbed.twin.truth.truth import SensorTruth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eee_engine import VarBind

_PHYSICAL = "1.3.6.1.2.1.47.1.1.1.1"
_SENSOR = "1.3.6.1.2.1.99.1.1.1"
_INDEX = 68_000_001
_WATTS, _MILLI, _UNITS, _OK = 6, 8, 9, 1
_CLASS_SENSOR = 8


class PowerSensor:
    """Power of one switch as the switch itself measures it."""

    def __init__(self, switch: str, truth: SensorTruth, *, seed: int = 0) -> None:
        self._truth = truth
        self._meter = Meter(
            MeterTraits(
                refresh_s=truth.refresh_s,
                noise_watt=truth.noise_watt,
                gain_ratio=truth.gain_ratio,
                offset_watt=truth.offset_watt,
                resolution_watt=truth.resolution_watt,
            ),
            stream(seed, switch, "sensor"),
        )

    def measure(self, true_watt: float, since_s: float, until_s: float) -> bool:
        """Measure true AC watts; True if the reading was refreshed."""
        return self._meter.feed(true_watt, since_s, until_s)

    @property
    def shown_watt(self) -> float:
        """Present reading."""
        return self._meter.shown_watt

    def varbinds(self, uptime_s: float) -> "Iterator[VarBind]":
        """Yield the sensor's rows; `uptime_s` is the switch's sysUpTime at the reading."""
        whole = self._truth.resolution_watt >= 1.0
        value = round(self._meter.shown_watt * (1 if whole else 1000))
        yield f"{_PHYSICAL}.2.{_INDEX}", "octets", b"Power consumption"
        yield f"{_PHYSICAL}.4.{_INDEX}", "int", 0
        yield f"{_PHYSICAL}.5.{_INDEX}", "int", _CLASS_SENSOR
        yield f"{_PHYSICAL}.6.{_INDEX}", "int", 1
        yield f"{_PHYSICAL}.7.{_INDEX}", "octets", b"PowerSensor"
        yield f"{_SENSOR}.1.{_INDEX}", "int", _WATTS
        yield f"{_SENSOR}.2.{_INDEX}", "int", _UNITS if whole else _MILLI
        yield f"{_SENSOR}.3.{_INDEX}", "int", 0
        yield f"{_SENSOR}.4.{_INDEX}", "int", value
        yield f"{_SENSOR}.5.{_INDEX}", "int", _OK
        yield f"{_SENSOR}.6.{_INDEX}", "octets", b"Watts" if whole else b"milliWatts"
        yield f"{_SENSOR}.7.{_INDEX}", "ticks", int(uptime_s * 100)
        yield f"{_SENSOR}.8.{_INDEX}", "uint", round(self._truth.refresh_s * 1000)
