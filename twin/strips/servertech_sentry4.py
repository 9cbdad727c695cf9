"""Server Technology PRO2 switched strip with outlet metering: Sentry4-MIB (1.3.6.1.4.1.1718.4).

Objects, units, ranges and codes are from the MIB (revision 2023-03-10). Rows are indexed unit.cord.outlet, here 1.1.n.
From memory, to be checked on a device: the texts of the name plate, sysDescr, refresh period and lag. Left out: lines,
phases, branches, over-current protectors, event configuration, environment sensors.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from eee_testbed.twin.power.meters import MeterTraits
from eee_testbed.twin.strips.mib import SystemGroup, Writable, number, text
from eee_testbed.twin.strips.strip import Outlet, Strip, StripFamily, StripModel

if TYPE_CHECKING:
    from eee_engine import VarBind

_ROOT = "1.3.6.1.4.1.1718.4.1"
_CONFIG, _UNIT, _CORD, _OUTLET = f"{_ROOT}.1.1", f"{_ROOT}.2", f"{_ROOT}.3", f"{_ROOT}.8"
_OUTLETS = 24
_AMPERE, _VA = 16, 3680
_OUTLET_AMPERE, _OUTLET_VA = 10, 2300
_TENTH_KWH_JOULE, _WH_JOULE = 360_000.0, 3_600.0

_NONE, _ON, _OFF, _REBOOT, _QUEUE_ON, _QUEUE_OFF, _QUEUE_REBOOT = range(7)
_OF_QUEUE = {_QUEUE_ON: _ON, _QUEUE_OFF: _OFF, _QUEUE_REBOOT: _REBOOT}
# st4OutletControlState
_WAKE_OFF, _WAKE_ON, _PEND_ON, _PEND_OFF, _USER_OFF, _USER_ON, _REBOOTING = 4, 5, 8, 9, 10, 11, 12


def _system(_model: StripModel, name: str) -> SystemGroup:
    return SystemGroup(
        description="Sentry Switched PDU",
        object_id="1.3.6.1.4.1.1718.4",
        contact="",
        name=name,
        location="",
    )


class SentryFace:
    """The Sentry4 tables of one strip: unit A with one cord."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        strip.plate.location = ""
        strip.plate.other = {"sequence_s": 2, "reboot_s": 15}

    def constants(self) -> "Iterator[VarBind]":
        """Identity and configuration."""
        plate = self._strip.plate
        names: tuple[int | str, ...] = ("Sentry Switched PDU", plate.location, "Version 8.0v", "", plate.serial[:8], "")
        yield from _columns(_CONFIG, ".0", 1, (*names, 1))
        yield f"{_CONFIG}.21.0", "int", 1
        unit: tuple[int | str, ...] = ("A", plate.name, plate.serial, self._strip.model.name, "", 0)
        yield from _columns(f"{_UNIT}.2.1", ".1", 2, unit)
        yield f"{_UNIT}.2.1.8.1", "octets", b"\x00"
        yield from _columns(f"{_UNIT}.2.1", ".1", 30, (1, 0, 0, 0, 0, 0, 0))
        yield f"{_UNIT}.3.1.1.1", "int", 0
        volt = round(self._strip.mains.voltage_volt * 10)
        yield from _columns(f"{_CORD}.2.1", ".1.1", 2, ("AA", "Cord_A"))
        cord: tuple[int | str, ...] = ("IEC 60309 16A", volt, 200, 240, _AMPERE, _AMPERE, _VA, 95)
        yield from _columns(f"{_CORD}.2.1", ".1.1", 6, cord)
        yield from _columns(f"{_CORD}.2.1", ".1.1", 20, (1, 1, 0, 0, _OUTLETS))
        yield from _columns(f"{_OUTLET}.1", ".0", 10, (plate.other["sequence_s"], plate.other["reboot_s"], 1))
        for outlet in self._strip.outlets.values():
            at = f".1.1.{outlet.number}"
            yield from _columns(f"{_OUTLET}.2.1", at, 2, (f"AA{outlet.number}", outlet.name))
            yield f"{_OUTLET}.2.1.5{at}", "octets", b"\xc0"  # switched, measured per outlet
            yield from _columns(f"{_OUTLET}.2.1", at, 6, ("IEC 60320 C13", _OUTLET_AMPERE, _OUTLET_VA, 0))
            yield from _columns(f"{_OUTLET}.2.1", at, 20, (outlet.wake_up, outlet.power_on_s))

    def readings(self) -> "Iterator[VarBind]":
        """Cord and outlet monitors, and the control states."""
        strip, cord = self._strip, self._strip.groups[0]
        factor, volt = strip.mains.power_factor_ratio, round(strip.mains.voltage_volt * 10)
        watt, apparent = round(cord.shown_watt), round(cord.shown_watt / factor)
        energy = int(cord.shown_joule / _TENTH_KWH_JOULE)
        hundredths, hertz = round(factor * 100), round(strip.mains.frequency_hz * 10)
        monitor = (1, 0, watt, 0, apparent, 0, apparent * 1000 // _VA, hundredths, 0, energy, hertz, 0, 0)
        yield from _columns(f"{_CORD}.3.1", ".1.1", 1, monitor)
        for outlet in strip.outlets.values():
            at, shown_watt = f".1.1.{outlet.number}", outlet.meter.shown_watt
            ampere = strip.mains.current_ampere(shown_watt)
            outlet_monitor = (
                *(1 if outlet.on else 2, 0, round(ampere * 100), 0, round(ampere / _OUTLET_AMPERE * 1000)),
                *(volt if outlet.on else 0, round(shown_watt), 0, round(shown_watt / factor)),
                *(hundredths if shown_watt else 100, 0, 14, 1, int(outlet.meter.shown_joule / _WH_JOULE)),
            )
            yield from _columns(f"{_OUTLET}.3.1", at, 1, outlet_monitor)
            yield from _columns(f"{_OUTLET}.5.1", at, 1, (_control_state(outlet), outlet.queued))
        queued = any(outlet.queued for outlet in strip.outlets.values())
        yield f"{_OUTLET}.6.1.0", "int", 1 if queued else 0

    def writable(self) -> Mapping[str, Writable]:
        """Return names, delays, control and queue."""
        strip, other = self._strip, self._strip.plate.other
        writable = {
            **text(f"{_CONFIG}.2.0", 80, lambda value: setattr(strip.plate, "location", value)),
            **text(f"{_UNIT}.2.1.3.1", 32, lambda value: setattr(strip.plate, "name", value)),
            **number(f"{_OUTLET}.1.10.0", range(16), lambda value: other.update(sequence_s=value)),
            **number(f"{_OUTLET}.1.11.0", range(5, 601), lambda value: other.update(reboot_s=value)),
            **number(f"{_OUTLET}.6.1.0", (0, 1), self._queue),
        }
        for outlet in strip.outlets.values():
            at = f".1.1.{outlet.number}"
            writable |= {
                **text(f"{_OUTLET}.2.1.3{at}", 32, partial(setattr, outlet, "name")),
                **number(f"{_OUTLET}.2.1.20{at}", range(3), partial(setattr, outlet, "wake_up")),
                **number(f"{_OUTLET}.2.1.21{at}", range(901), partial(setattr, outlet, "power_on_s")),
                **number(f"{_OUTLET}.5.1.2{at}", range(7), partial(self._command, outlet)),
            }
        return writable

    def _command(self, outlet: Outlet, action: int) -> None:
        if action in _OF_QUEUE:
            outlet.queued = action
        elif action != _NONE:
            self._act(outlet, action)

    def _act(self, outlet: Outlet, action: int, delay_s: float = 0.0) -> None:
        reboot_s = float(self._strip.plate.other["reboot_s"])
        steps = {
            _ON: ((delay_s, True),),
            _OFF: ((delay_s, False),),
            _REBOOT: ((delay_s, False), (delay_s + reboot_s, True)),
        }[action]
        self._strip.plan(outlet, *steps)

    def _queue(self, action: int) -> None:
        """Clear the queue, or execute all queued actions; outlets switch on one after another."""
        delay_s = 0.0
        for outlet in self._strip.outlets.values():
            if outlet.queued and action == 1:
                order = _OF_QUEUE[outlet.queued]
                self._act(outlet, order, delay_s if order == _ON else 0.0)
                if order == _ON:
                    delay_s += max(self._strip.plate.other["sequence_s"], outlet.power_on_s)
            outlet.queued = _NONE


def _control_state(outlet: Outlet) -> int:
    if outlet.plan and not outlet.plan[0].on:
        return _PEND_OFF
    if outlet.plan:
        return _REBOOTING if outlet.rebooting else _PEND_ON
    if outlet.commanded:
        return _USER_ON if outlet.on else _USER_OFF
    return _WAKE_ON if outlet.on else _WAKE_OFF


def _columns(entry: str, at: str, first: int, values: "tuple[int | str, ...]") -> "Iterator[VarBind]":
    """Yield columns from `first` on of the row (or the scalars) at `at`."""
    for column, value in enumerate(values, start=first):
        oid = f"{entry}.{column}{at}"
        yield (oid, "octets", value.encode()) if isinstance(value, str) else (oid, "int", value)


FAMILY = StripFamily(
    name="servertech_sentry4",
    models=(StripModel("C2WG24SN", _OUTLETS, (tuple(range(1, _OUTLETS + 1)),), meters_outlets=True),),
    outlet_traits=MeterTraits(refresh_s=1.0, lag_s=0.8, resolution_watt=1.0, register_joule=_WH_JOULE),
    group_traits=MeterTraits(refresh_s=1.0, lag_s=0.8, resolution_watt=1.0, register_joule=_TENTH_KWH_JOULE),
    relay_s=0.05,
    outlet_name=lambda number: f"Outlet_AA{number}",
    system=_system,
    face=SentryFace,
)
