"""APC Rack PDU 2G with switched outlets: PowerNet-MIB, rPDU2 (1.3.6.1.4.1.318.1.1.26).

AP8653 and AP8659 also measure each outlet; AP8941 measures the whole strip only, in steps of 10 W. Objects, units and
codes are from the MIB. From memory, to be checked on a device: the name plate (above all the ratings), the refresh
period and lag, that an outlet's power is in watts (the MIB gives no unit), and factory delays and thresholds. Left out:
banks, which the larger models have; dates of peaks, because the twin has no calendar.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from eee_testbed.twin.power.meters import MeterTraits
from eee_testbed.twin.strips.mib import SystemGroup, Writable, number, text
from eee_testbed.twin.strips.strip import Outlet, Strip, StripFamily, StripModel

if TYPE_CHECKING:
    from eee_engine import VarBind

_ROOT = "1.3.6.1.4.1.318.1.1.26"
_OUTLETS, _C13 = 24, 21  # the last three are C19
_FIRMWARE = "v6.9.6"
_TENTH_KWH_JOULE = 360_000.0
_NOMINAL_VOLT = 230
_DELAY = range(-1, 7201)

_WHOLE = (tuple(range(1, _OUTLETS + 1)),)
_NORMAL, _NEAR_OVERLOAD, _OVERLOAD = 2, 3, 4

_ON, _OFF, _REBOOT, _UNKNOWN, _DELAYED_ON, _DELAYED_OFF, _DELAYED_REBOOT, _CANCEL = range(1, 9)
_ALL_ON, _ALL_ON_LATER, _ALL_OFF, _ALL_REBOOT, _ALL_REBOOT_LATER, _ALL_NOTHING, _ALL_OFF_LATER, _ALL_CANCEL = range(
    1, 9
)
_OF_ALL = {
    _ALL_ON: _ON,
    _ALL_ON_LATER: _DELAYED_ON,
    _ALL_OFF: _OFF,
    _ALL_REBOOT: _REBOOT,
    _ALL_REBOOT_LATER: _DELAYED_REBOOT,
    _ALL_OFF_LATER: _DELAYED_OFF,
    _ALL_CANCEL: _CANCEL,
}


def _system(model: StripModel, name: str) -> SystemGroup:
    firmware = _FIRMWARE.replace(".", "").lstrip("v")
    return SystemGroup(
        description=(
            f"APC Web/SNMP Management Card (MB:v4.1.0 PF:{_FIRMWARE} PN:apc_hw05_aos_{firmware}.bin "
            f"AF1:{_FIRMWARE} AN1:apc_hw05_rpdu2g_{firmware}.bin MN:{model.name} HR:05 SN: ZA1400000000 MD:01/01/2014)"
        ),
        object_id="1.3.6.1.4.1.318.1.3.4.6",
        contact="Unknown",
        name=name,
        location="Unknown",
    )


class ApcFace:
    """The rPDU2 tables of one strip, which is number 1 of its group."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip

    def constants(self) -> "Iterator[VarBind]":
        """Identity, properties, configuration and table sizes."""
        plate, metered = self._strip.plate, _OUTLETS if self._strip.model.meters_outlets else 0
        for table, count in (("1", 1), ("3", 1), ("5", 1), ("7", 0), ("9.1", _OUTLETS), ("9.3", metered)):
            yield f"{_ROOT}.{table}.0", "int", count
        ident: tuple[int | str, ...] = (
            *(
                1,
                1,
                plate.name,
                plate.location,
                "05",
                _FIRMWARE,
                "01/01/2014",
                self._strip.model.name,
                plate.serial,
                plate.contact,
            ),
            *("v1.0.9", "", ""),
        )
        yield from _row(f"{_ROOT}.2.1", 1, 1, ident)
        ampere, thresholds = self._strip.model.rated_ampere, (0, *self._overload_tenth_kw())
        config: tuple[int | str, ...] = (1, 1, plate.name, plate.location, 1, 0, *thresholds, 1, 1, 1, 1, plate.contact)
        yield from _row(f"{_ROOT}.4.1.1", 1, 1, config)
        properties = (1, 1, plate.name, _OUTLETS, _OUTLETS, metered, 1, 0, ampere, 2, 1, ampere, thresholds[2])
        yield from _row(f"{_ROOT}.4.2.1", 1, 1, properties)
        yield from _row(f"{_ROOT}.4.3.1", 1, 1, (1, 1, plate.name))
        yield from _row(f"{_ROOT}.4.3.1", 1, 7, ("", ""))
        yield from _row(f"{_ROOT}.4.3.1", 1, 12, (1, 1, 3, ""))
        yield from _row(f"{_ROOT}.4.3.1", 1, 18, (1,))
        yield from _row(f"{_ROOT}.4.4.1", 1, 1, (1, 1, plate.name, _ALL_NOTHING))
        yield from _row(f"{_ROOT}.6.3.1", 1, 1, (1, 1, 1))
        yield from _row(f"{_ROOT}.6.3.1", 1, 11, ("", ""))
        for outlet in self._strip.outlets.values():
            yield from self._outlet_constants(outlet)

    def _overload_tenth_kw(self) -> tuple[int, int]:
        """Return the factory thresholds, 80 and 100 % of the rating."""
        tenth_kw = self._strip.model.rated_ampere * _NOMINAL_VOLT // 100
        return tenth_kw * 8 // 10, tenth_kw

    def _outlet_constants(self, outlet: Outlet) -> "Iterator[VarBind]":
        n, known = outlet.number, (outlet.number, 1, outlet.name, outlet.number)
        delays = (outlet.power_on_s, outlet.power_off_s, outlet.reboot_s)
        yield from _row(f"{_ROOT}.9.2.1.1", n, 1, (*known, *delays, ""))
        yield from _row(f"{_ROOT}.9.2.2.1", n, 1, (*known, 1, 1))
        yield from _row(f"{_ROOT}.9.2.3.1", n, 1, known)
        yield from _row(f"{_ROOT}.9.2.3.1", n, 7, ("",))
        yield from _row(f"{_ROOT}.9.2.4.1", n, 1, known)
        if not self._strip.model.meters_outlets:
            return
        yield from _row(f"{_ROOT}.9.4.1.1", n, 1, (*known, 0, 1840, 2300, ""))
        yield from _row(f"{_ROOT}.9.4.2.1", n, 1, (*known, 1, 2300, 1))
        yield from _row(f"{_ROOT}.9.4.3.1", n, 1, (*known, 2))
        yield from _row(f"{_ROOT}.9.4.3.1", n, 9, ("", ""))
        yield from _row(f"{_ROOT}.9.4.3.1", n, 12, ("IEC C13" if n <= _C13 else "IEC C19", ""))

    def readings(self) -> "Iterator[VarBind]":
        """States, watts, amperes and energy; strip totals in hundredths of kW, outlets in watts."""
        strip, device = self._strip, self._strip.groups[0]
        watt, factor = device.shown_watt, strip.mains.power_factor_ratio
        power, apparent, hundredths = round(watt / 10), round(watt / factor / 10), round(factor * 100)
        pending = 1 if any(outlet.plan for outlet in strip.outlets.values()) else 2
        energy = int(device.shown_since_reset_joule / _TENTH_KWH_JOULE)
        near, over = (tenths * 10 for tenths in self._overload_tenth_kw())
        state = _OVERLOAD if power >= over else _NEAR_OVERLOAD if power >= near else _NORMAL
        yield from _row(f"{_ROOT}.4.3.1", 1, 4, (state, power, round(device.peak_watt / 10)))
        yield from _row(f"{_ROOT}.4.3.1", 1, 9, (energy, "", pending))
        yield from _row(f"{_ROOT}.4.3.1", 1, 16, (apparent, hundredths))
        ampere, volt = round(strip.mains.current_ampere(watt) * 10), round(strip.mains.voltage_volt)
        peak_ampere = round(strip.mains.current_ampere(device.peak_watt) * 10)
        yield from _row(f"{_ROOT}.6.3.1", 1, 4, (state, ampere, volt, power, apparent, hundredths, peak_ampere))
        for n, outlet in strip.outlets.items():
            yield from _row(f"{_ROOT}.9.2.3.1", n, 5, (2 if outlet.on else 1, 1 if outlet.plan else 2))
            yield from _row(f"{_ROOT}.9.2.4.1", n, 5, (_ON if outlet.on else _OFF,))
            if not strip.model.meters_outlets:
                continue
            shown_watt, peak_watt = outlet.meter.shown_watt, outlet.meter.peak_watt
            tenth_ampere = round(strip.mains.current_ampere(shown_watt) * 10)
            energy = int(outlet.meter.shown_since_reset_joule / _TENTH_KWH_JOULE)
            yield from _row(f"{_ROOT}.9.4.3.1", n, 6, (tenth_ampere, round(shown_watt), round(peak_watt)))
            yield from _row(f"{_ROOT}.9.4.3.1", n, 11, (energy,))

    def writable(self) -> Mapping[str, Writable]:
        """Return names, delays, resets, and the control commands."""
        strip = self._strip
        writable = {
            **text(f"{_ROOT}.4.1.1.3.1", 64, lambda value: setattr(strip.plate, "name", value)),
            **text(f"{_ROOT}.4.1.1.4.1", 64, lambda value: setattr(strip.plate, "location", value)),
            **text(f"{_ROOT}.4.1.1.14.1", 64, lambda value: setattr(strip.plate, "contact", value)),
            **number(f"{_ROOT}.4.1.1.10.1", (1, 2), self._reset_device_peak),
            **number(f"{_ROOT}.4.1.1.11.1", (1, 2), self._reset_device_energy),
            **number(f"{_ROOT}.4.1.1.12.1", (1, 2), self._reset_outlets_energy),
            **number(f"{_ROOT}.4.1.1.13.1", (1, 2), self._reset_outlets_peak),
            **number(f"{_ROOT}.4.4.1.4.1", range(1, 9), self._command_all),
        }
        for outlet in strip.outlets.values():
            writable |= self._writable_of(outlet)
        return writable

    def _writable_of(self, outlet: Outlet) -> dict[str, Writable]:
        n, switched, metered = outlet.number, f"{_ROOT}.9.2.1.1", f"{_ROOT}.9.4.1.1"
        commands = (_ON, _OFF, _REBOOT, _DELAYED_ON, _DELAYED_OFF, _DELAYED_REBOOT, _CANCEL)
        name = text(f"{metered}.3.{n}", 64, lambda value: setattr(outlet, "name", value))
        return {
            **(name if self._strip.model.meters_outlets else {}),
            **text(f"{switched}.3.{n}", 64, lambda value: setattr(outlet, "name", value)),
            **number(f"{switched}.5.{n}", _DELAY, lambda value: setattr(outlet, "power_on_s", value)),
            **number(f"{switched}.6.{n}", _DELAY, lambda value: setattr(outlet, "power_off_s", value)),
            **number(f"{switched}.7.{n}", range(5, 61), lambda value: setattr(outlet, "reboot_s", value)),
            **number(f"{_ROOT}.9.2.4.1.5.{n}", commands, lambda value: self._command(outlet, value)),
        }

    def _command(self, outlet: Outlet, command: int) -> None:
        on_s, off_s, reboot_s = outlet.power_on_s, outlet.power_off_s, outlet.reboot_s
        steps: tuple[tuple[float, bool], ...] = {
            _ON: ((0.0, True),),
            _OFF: ((0.0, False),),
            _REBOOT: ((0.0, False), (float(reboot_s), True)),
            _DELAYED_ON: ((float(on_s), True),) if on_s >= 0 else (),
            _DELAYED_OFF: ((float(off_s), False),) if off_s >= 0 else (),
            _DELAYED_REBOOT: ((float(off_s), False), (float(off_s + reboot_s + on_s), True)),
            _CANCEL: (),
        }[command]
        if command == _DELAYED_REBOOT and min(on_s, off_s) < 0:
            steps = ((float(off_s), False),) if off_s >= 0 else ()
        self._strip.plan(outlet, *steps)

    def _command_all(self, command: int) -> None:
        for outlet in self._strip.outlets.values():
            if command != _ALL_NOTHING:
                self._command(outlet, _OF_ALL[command])

    def _reset_device_energy(self, value: int) -> None:
        if value == 2:
            self._strip.groups[0].reset_energy(self._strip.clock_s())

    def _reset_outlets_energy(self, value: int) -> None:
        for outlet in self._strip.outlets.values():
            if value == 2:
                outlet.meter.reset_energy(self._strip.clock_s())

    def _reset_device_peak(self, value: int) -> None:
        if value == 2:
            self._strip.groups[0].reset_peak()

    def _reset_outlets_peak(self, value: int) -> None:
        for outlet in self._strip.outlets.values():
            if value == 2:
                outlet.meter.reset_peak()


def _row(entry: str, index: int, first: int, values: "tuple[int | str, ...]") -> "Iterator[VarBind]":
    """Yield one row: columns from `first` on."""
    for column, value in enumerate(values, start=first):
        oid = f"{entry}.{column}.{index}"
        yield (oid, "octets", value.encode()) if isinstance(value, str) else (oid, "int", value)


FAMILY = StripFamily(
    name="apc_rpdu2",
    models=(
        StripModel("AP8653", _OUTLETS, _WHOLE, meters_outlets=True, rated_ampere=32),
        StripModel("AP8659", _OUTLETS, _WHOLE, meters_outlets=True, rated_ampere=16),
        StripModel("AP8941", _OUTLETS, _WHOLE, meters_outlets=False, rated_ampere=30),
    ),
    outlet_traits=MeterTraits(refresh_s=2.0, lag_s=1.0, resolution_watt=1.0, register_joule=_TENTH_KWH_JOULE),
    group_traits=MeterTraits(refresh_s=2.0, lag_s=1.0, resolution_watt=10.0, register_joule=_TENTH_KWH_JOULE),
    relay_s=0.02,
    outlet_name=lambda number: f"Outlet {number}",
    system=_system,
    face=ApcFace,
)
