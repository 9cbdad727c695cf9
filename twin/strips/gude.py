"""Gude Expert Power Control 8226 and 8221: GUDEADS-EPC8226-MIB (1.3.6.1.4.1.28507.58), -EPC8221-MIB (.56).

Twelve outlets in two banks of six. Each bank is metered; the 8226 meters each outlet too (single port channels). Power
is shown in whole watts, but mA x V x power factor gives fractions. Objects, units, ranges and codes are from the MIB;
rows count from 1 (so the index's range in the MIB; a description there counts from 0). From memory, to be checked on a
device: sysDescr, the refresh period and the lag. Left out: traps, environment sensors.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from eee_testbed.twin.power.meters import Meter, MeterTraits
from eee_testbed.twin.strips.mib import SystemGroup, Writable, number, text
from eee_testbed.twin.strips.strip import Outlet, Strip, StripFamily, StripModel

if TYPE_CHECKING:
    from eee_engine import VarBind

_GUDE = "1.3.6.1.4.1.28507"
_OUTLETS, _BANKS = 12, ((1, 2, 3, 4, 5, 6), (7, 8, 9, 10, 11, 12))
_WH_JOULE = 3_600.0
_LONGEST_S = range(2**31)


def _system(model: StripModel, name: str) -> SystemGroup:
    return SystemGroup(
        description=model.name,
        object_id=f"{_GUDE}.{model.code}",
        contact="",
        name=name,
        location="",
    )


class GudeFace:
    """The EPC 8226 tables of one strip."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        strip.plate.other = {"buzzer": 0}
        self._root = f"{_GUDE}.{strip.model.code}.1"
        self._port = f"{self._root}.3.1.2.1"
        self._channels = {f"{self._root}.5.1.2.1.%d.{n}": meter for n, meter in enumerate(strip.groups, start=1)}
        if strip.model.meters_outlets:
            single = f"{self._root}.5.5.2.1"
            self._channels |= {f"{single}.%d.{n}": outlet.meter for n, outlet in strip.outlets.items()}

    def constants(self) -> "Iterator[VarBind]":
        """Port table's configuration, channel counts and indexes."""
        yield f"{self._root}.3.1.1.0", "int", _OUTLETS
        yield f"{self._root}.3.10.0", "int", self._strip.plate.other["buzzer"]
        yield f"{self._root}.5.1.1.0", "uint", len(_BANKS)
        if self._strip.model.meters_outlets:
            yield f"{self._root}.5.5.1.0", "uint", _OUTLETS
        for n, outlet in self._strip.outlets.items():
            yield f"{self._port}.1.{n}", "int", n
            yield f"{self._port}.2.{n}", "octets", outlet.name.encode()
            yield f"{self._port}.5.{n}", "int", outlet.wake_up
            yield f"{self._port}.6.{n}", "int", outlet.power_on_s
            yield f"{self._port}.7.{n}", "int", outlet.repower_s
        for column in self._channels:
            yield column % 1, "int", int(column.rpartition(".")[2])
            yield column % 2, "int", 1
        for n in range(1, len(_BANKS) + 1):
            yield f"{self._root}.5.2.1.1.{n}", "int", n
            yield f"{self._root}.5.2.1.2.{n}", "int", 1

    def readings(self) -> "Iterator[VarBind]":
        """Relay states and all channels."""
        for n, outlet in self._strip.outlets.items():
            yield f"{self._port}.3.{n}", "int", 1 if outlet.on else 0
            yield f"{self._port}.4.{n}", "int", outlet.switch_count
        for column, meter in self._channels.items():
            yield from self._channel(column, meter)

    def _channel(self, column: str, meter: Meter) -> "Iterator[VarBind]":
        mains, watt = self._strip.mains, meter.shown_watt
        factor = mains.power_factor_ratio if watt else 1.0
        apparent, angle = watt / factor, math.acos(factor)
        reactive = watt * math.tan(angle)
        energy, since_reset = int(meter.shown_joule / _WH_JOULE), int(meter.shown_since_reset_joule / _WH_JOULE)
        reactive_energy, reactive_since = (round(value * math.tan(angle)) for value in (energy, since_reset))
        yield column % 3, "uint", energy
        yield column % 4, "int", round(watt)
        yield column % 5, "uint", round(mains.current_ampere(watt) * 1000)
        yield column % 6, "uint", round(mains.voltage_volt)
        yield column % 7, "uint", round(mains.frequency_hz * 100)
        yield column % 8, "int", round(factor * 1000)
        yield column % 9, "int", -round(math.degrees(angle) * 10)  # a supply's filter is capacitive
        yield column % 10, "int", round(apparent)
        yield column % 11, "int", -round(reactive)
        yield column % 12, "uint", reactive_energy
        yield column % 13, "uint", since_reset
        yield column % 14, "uint", reactive_since
        yield column % 15, "uint", int(self._strip.clock_s() - meter.reset_at_s)
        forward = (energy, reactive_energy, since_reset, reactive_since, 0, 0, 0, 0)
        for offset, value in enumerate(forward):
            yield column % (16 + offset), "uint", value

    def writable(self) -> Mapping[str, Writable]:
        """Return relay states, names, start-up and re-power, the resettable energy counters, the buzzer."""
        strip = self._strip
        buzzer = number(f"{self._root}.3.10.0", (0, 1), lambda value: strip.plate.other.update(buzzer=value))
        for n, outlet in strip.outlets.items():
            buzzer |= {
                **text(f"{self._port}.2.{n}", 15, partial(setattr, outlet, "name")),
                **number(f"{self._port}.3.{n}", (0, 1), partial(self._switch, outlet)),
                **number(f"{self._port}.5.{n}", range(3), partial(setattr, outlet, "wake_up")),
                **number(f"{self._port}.6.{n}", _LONGEST_S, partial(setattr, outlet, "power_on_s")),
                **number(f"{self._port}.7.{n}", range(65_536), partial(setattr, outlet, "repower_s")),
            }
        for column, meter in self._channels.items():
            buzzer[column % 13] = Writable("uint", lambda value: value == 0, partial(self._reset, meter))
        return buzzer

    def _switch(self, outlet: Outlet, state: int) -> None:
        again = ((float(outlet.repower_s), True),) if state == 0 and outlet.repower_s else ()
        self._strip.plan(outlet, (0.0, state == 1), *again)

    def _reset(self, meter: Meter, _zero: int) -> None:
        meter.reset_energy(self._strip.clock_s())


FAMILY = StripFamily(
    name="gude",
    models=(
        StripModel("Expert Power Control 8226", _OUTLETS, _BANKS, meters_outlets=True, code=58),
        StripModel("Expert Power Control 8221", _OUTLETS, _BANKS, meters_outlets=False, code=56),
    ),
    outlet_traits=MeterTraits(refresh_s=1.0, lag_s=0.5, register_joule=_WH_JOULE),
    group_traits=MeterTraits(refresh_s=1.0, lag_s=0.5, register_joule=_WH_JOULE),
    relay_s=0.02,
    outlet_name=lambda number: f"Power Port {number}",
    system=_system,
    face=GudeFace,
)
