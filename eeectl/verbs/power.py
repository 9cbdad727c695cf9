"""`eeectl power ...`: read the lab's power, and switch its outlets on and off."""

import json
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.strips.family import Channel, StripReading
from eee_testbed.controller.strips.outlet_names import wrong_names
from eee_testbed.controller.strips.outlets import Meter, Switched, outlets_named
from eee_testbed.eeectl.exit_status import DONE, Unsuccessful
from eee_testbed.eeectl.lab_name import LabName, known_lab, require_up
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.model import Lab, Outlet, Strip

power_app = App(name="power", help="Metered power strips: read watts and joules, switch outlets.")

_Json = Annotated[bool, Parameter(name="--json", negative="")]
_Yes = Annotated[bool, Parameter(negative="")]
_STATES = {True: "on", False: "off", None: "?"}


@power_app.command
def read(outlet: str = "", /, *, lab: LabName = "", as_json: _Json = False) -> int:
    """Show what outlets and strips draw now, and the resolution of their meters.

    A strip that cannot be read is named, and the others are shown all the same; the exit status is 1 then.

    Parameters
    ----------
    outlet
        STRIP:NUMBER, or a device: all outlets that feed it. Default: all strips and every outlet in use.
    lab
        Name of a lab, or a folder.
    as_json
        Print JSON.

    """
    lab_model = known_lab(lab)
    outlets_shown = set(outlets_named(lab_model, outlet)) if outlet else set(lab_model.outlets)
    require_up(lab_model)
    strips = [strip for strip in lab_model.strips if not outlet or strip.name in {one.strip for one in outlets_shown}]
    readings: dict[str, StripReading] = {}
    failures: dict[str, str] = {}
    for strip in strips:
        try:
            readings[strip.name] = _read(strip)
        except LabError as error:
            failures[strip.name] = str(error)
    shown = sorted(outlets_shown, key=lambda one: (one.strip, one.number))
    shown = [one for one in shown if one.strip in readings]
    remarks = [
        sentence
        for name, reading in readings.items()
        for sentence in (*_unknown_total(name, reading), *wrong_names(lab_model, name, reading))
    ]
    if as_json:
        answer = _as_json(readings, shown, totals=not outlet)
        print(json.dumps({**answer, "failed": failures, "remarks": remarks}, indent=1))
    elif readings:
        _print(readings, shown, totals=not outlet)
    for sentence in () if as_json else remarks:
        print(sentence, file=sys.stderr)
    if failures:
        raise Unsuccessful(failures.values())
    return DONE


def _read(strip: Strip) -> StripReading:
    meter = Meter(strip)
    try:
        return meter.read()
    finally:
        meter.close()


def _unknown_total(name: str, reading: StripReading) -> tuple[str, ...]:
    if reading.excess_watt:
        sentence = (
            f"{name}: its outlets draw {reading.excess_watt:.0f} W more than the {reading.total.power_watt:g} W of the "
            "whole strip: one of the two is misread, perhaps in a chain of strips; compare them with its web page."
        )
        return (sentence,)
    if not reading.unread:
        return ()
    silent = ", ".join(reading.unread)
    return (f"{name}: {silent} shows no power, so what the whole strip draws is not known.",)


@power_app.command
def on(outlet: str, /, *, lab: LabName = "", as_json: _Json = False) -> int:
    """Switch an outlet on, and wait until the strip reports it.

    Parameters
    ----------
    outlet
        STRIP:NUMBER, or a device: all outlets that feed it.
    lab
        Name of a lab, or a folder.
    as_json
        Print JSON.

    """
    lab_model = known_lab(lab)
    chosen = outlets_named(lab_model, outlet)
    with _held(lab_model, f"power on {outlet}"):
        done = each_outlet(lab_model, chosen, lambda one: _switch(lab_model, one, on=True))
    return _print_switched(done, as_json=as_json)


@power_app.command
def off(outlet: str, /, *, lab: LabName = "", yes: _Yes = False, as_json: _Json = False) -> int:
    """Switch an outlet off, and wait until the strip reports it.

    Parameters
    ----------
    outlet
        STRIP:NUMBER, or a device: all outlets that feed it.
    lab
        Name of a lab, or a folder.
    yes
        Switch without confirmation.
    as_json
        Print JSON.

    """
    lab_model = known_lab(lab)
    chosen = outlets_named(lab_model, outlet)
    _confirm(chosen, "off", yes=yes)
    with _held(lab_model, f"power off {outlet}"):
        done = each_outlet(lab_model, chosen, lambda one: _switch(lab_model, one, on=False))
    return _print_switched(done, as_json=as_json)


@power_app.command
def cycle(outlet: str, /, *, lab: LabName = "", off_s: float = 5.0, yes: _Yes = False, as_json: _Json = False) -> int:
    """Switch an outlet off and, after a pause, on again; it is switched on even if interrupted.

    Parameters
    ----------
    outlet
        STRIP:NUMBER, or a device: all outlets that feed it, one after the other.
    lab
        Name of a lab, or a folder.
    off_s
        Length of the pause, seconds.
    yes
        Switch without confirmation.
    as_json
        Print JSON.

    """
    if not 0 <= off_s <= 3_600:
        raise LabError(f"--off-s {off_s:g} is out of range: use 0 to 3600.")
    lab_model = known_lab(lab)
    chosen = outlets_named(lab_model, outlet)
    _confirm(chosen, "off and on again", yes=yes)

    def cycle_one(one: Outlet) -> Switched:
        meter = Meter(lab_model.strip(one.strip))
        try:
            return meter.cycle(one, off_s)
        finally:
            meter.close()

    with _held(lab_model, f"power cycle {outlet}"):
        done = each_outlet(lab_model, chosen, cycle_one)
    return _print_switched(done, as_json=as_json)


def _held(lab: Lab, command: str) -> Lock:
    """The lock of a lab in reach: nobody's measurement or change loses its power."""
    require_up(lab)
    return Lock(StateFolder.of(lab), command, warn=lambda sentence: print(f"eeectl: {sentence}", file=sys.stderr))


def _switch(lab: Lab, outlet: Outlet, *, on: bool) -> Switched:
    meter = Meter(lab.strip(outlet.strip))
    try:
        return meter.switch(outlet, on=on)
    finally:
        meter.close()


def each_outlet(
    lab: Lab, chosen: Sequence[Outlet], act: Callable[[Outlet], Switched], read: Callable[[Strip], StripReading] = _read
) -> list[Switched]:
    """Act on outlets one after the other. What is switched stays so: if that is cut short, strips are read once more.

    KeyboardInterrupt, or the LabError of one of several outlets, then says what they show.
    """
    try:
        return [act(one) for one in chosen]
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(_shown(lab, chosen, read)) from error
    except LabError as error:
        if len(chosen) == 1:
            raise
        raise LabError(f"{error} Now {_shown(lab, chosen, read)}") from error


def _shown(lab: Lab, chosen: Sequence[Outlet], read: Callable[[Strip], StripReading]) -> str:
    words = []
    for one in chosen:
        try:
            on = read(lab.strip(one.strip)).outlet(one.number).on
            words.append(f"{_name(one)} is {'neither on nor off' if on is None else _STATES[on]}")
        except LabError:
            words.append(f"{_name(one)} cannot be read")
    return f"{', '.join(words)}."


def _name(outlet: Outlet) -> str:
    return f"{outlet.strip}:{outlet.number}" + (f" ({outlet.feeds})" if outlet.feeds else "")


def _confirm(outlets: tuple[Outlet, ...], what: str, *, yes: bool) -> None:
    """Require confirmation before power is cut: --yes, or an answer at the terminal; LabError without it."""
    if yes:
        return
    names = ", ".join(map(_name, outlets))
    if not sys.stdin.isatty():
        raise LabError(
            f"{names} would be switched {what}, which needs confirmation: give --yes, or run this at a terminal."
        )
    if input(f"switch {names} {what}? [y/N] ").strip().lower() not in {"y", "yes"}:
        raise LabError("not confirmed: nothing was switched.")


def _print_switched(done: list[Switched], *, as_json: bool) -> int:
    if as_json:
        rows = [
            {
                "strip": one.outlet.strip,
                "outlet": one.outlet.number,
                "feeds": one.outlet.feeds,
                "on": one.on,
                "acknowledged_s": (one.acknowledged_ns - one.sent_ns) / 1e9,
                "seen_s": (one.seen_ns - one.sent_ns) / 1e9,
            }
            for one in done
        ]
        print(json.dumps(rows, indent=1))
        return 0
    for one in done:
        print(f"{_name(one.outlet)} is {_STATES[one.on]}, {(one.seen_ns - one.sent_ns) / 1e9:.2f} s after the command.")
    return 0


def _channel_json(channel: Channel) -> dict[str, Any]:
    return {
        "power_watt": channel.power_watt,
        "power_step_watt": channel.power_step_watt,
        "energy_joule": channel.energy_joule,
        "energy_step_joule": channel.energy_step_joule,
    }


def _as_json(readings: dict[str, StripReading], outlets: list[Outlet], *, totals: bool) -> dict[str, Any]:
    rows = []
    for one in outlets:
        reading = readings[one.strip].outlet(one.number)
        row = {"strip": one.strip, "outlet": one.number, "feeds": one.feeds, "name": reading.name, "on": reading.on}
        rows.append({**row, **_channel_json(reading.meter)})
    fields: dict[str, Any] = {"outlets": rows}
    if totals:
        fields["strips"] = {
            name: {**_channel_json(reading.total), "summed": reading.summed, "unread": reading.unread}
            for name, reading in readings.items()
        }
    return fields


def _cells(channel: Channel) -> tuple[str, str]:
    watt, step, joule = channel.power_watt, channel.power_step_watt, channel.energy_joule
    power = "-" if watt is None or step is None else f"{watt:.{_digits(step)}f} W in steps of {step:.2g}"
    return power, "-" if joule is None else f"{joule:.0f}"


def _digits(step: float) -> int:
    return 0 if step >= 1 else 1 if step >= 0.1 else 2


def _print(readings: dict[str, StripReading], outlets: list[Outlet], *, totals: bool) -> None:
    table = Table("OUTLET", "FEEDS", "NAME", "STATE", "POWER", "ENERGY, J", box=None)
    for one in outlets:
        reading = readings[one.strip].outlet(one.number)
        name = Text(reading.name)
        table.add_row(f"{one.strip}:{one.number}", one.feeds, name, _STATES[reading.on], *_cells(reading.meter))
    if totals:
        for strip, whole in readings.items():
            table.add_row(strip, "all", Text(" + ".join(whole.summed)), "", *_cells(whole.total))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    print_table(console, table)
