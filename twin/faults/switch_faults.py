"""Faults of one switch: what each does, and how it is undone. `twin.faults.faults` decides when it starts."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.device_faults import Garbler


def _nothing() -> None:
    pass


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class SwitchFault:
    """One fault. `undo` is None for a fault that lasts no time; `ended` says whether it has ended by itself.

    `at_once` runs inside the change of configuration at which the fault starts, in the thread that makes the change;
    `after` runs in the daemon's loop once the change is made.
    """

    sentence: str
    at_once: Callable[[], None] = _nothing
    after: Callable[[], None] = _nothing
    undo: Callable[[], None] | None = None
    ended: Callable[[], bool] = _never


def _ending_sessions(
    device: SwitchDevice, sentence: str, act: Callable[[], None], undo: Callable[[], None] | None
) -> SwitchFault:
    """A fault that ends sessions: the present line is executed, and its answer never comes."""

    def withhold_answer() -> None:
        device.faults.hang_next = True

    def after() -> None:
        device.faults.hang_next = False
        act()

    return SwitchFault(sentence, withhold_answer, after, undo)


def drop(device: SwitchDevice, _: Mapping[str, Any]) -> SwitchFault:
    """Drop every session."""
    return _ending_sessions(device, f"{device.name}'s command-line sessions are dropped", device.drop_sessions, None)


def reboot(device: SwitchDevice, _: Mapping[str, Any]) -> SwitchFault:
    """Restart the switch from its startup configuration."""
    if not device.powered:
        raise LabError(f"{device.name} has no power: `eeectl lab fault power {device.name} on` first.")
    return _ending_sessions(device, f"{device.name} reboots, and takes {device.spec.boot_s:g} s", device.reload, None)


def lose_power(device: SwitchDevice, plug: Callable[[bool], None]) -> SwitchFault:
    """Cut the switch off from the mains."""
    return _ending_sessions(device, f"{device.name}'s plug is pulled", lambda: plug(False), lambda: plug(True))


def ignore(device: SwitchDevice, _: Mapping[str, Any]) -> SwitchFault:
    """Accept changes and do not make them."""
    faults = device.faults

    def start() -> None:
        faults.ignore_writes = True

    def undo() -> None:
        faults.ignore_writes = False

    return SwitchFault(f"{device.name} accepts changes and ignores them", start, undo=undo)


def hang(device: SwitchDevice, _: Mapping[str, Any]) -> SwitchFault:
    """Let a session execute a line and never answer."""
    faults = device.faults

    def start() -> None:
        faults.hang_next = True

    def undo() -> None:
        faults.hang_next = False
        device.answer_again()

    def ended() -> bool:
        return not faults.hang_next and not any(session.stuck for session in device.sessions)

    return SwitchFault(f"{device.name} executes a line and never answers", start, undo=undo, ended=ended)


def garble(device: SwitchDevice, request: Mapping[str, Any]) -> SwitchFault:
    """Garble answers."""
    faults = device.faults
    count = request.get("answers")
    if count is not None and int(count) < 1:
        raise LabError("--answers must be at least 1.")
    garbler = Garbler(device.name, None if count is None else int(count))

    def start() -> None:
        faults.garbler = garbler

    def undo() -> None:
        faults.garbler = None

    many = "" if count is None else f"{count} of "
    return SwitchFault(f"{many}{device.name}'s answers are garbage", start, undo=undo, ended=lambda: garbler.done)


def page(device: SwitchDevice, _: Mapping[str, Any]) -> SwitchFault:
    """Stop answers at each page."""
    faults = device.faults

    def start() -> None:
        faults.page_always = True

    def undo() -> None:
        faults.page_always = False

    return SwitchFault(f"{device.name} pages even where paging was switched off", start, undo=undo)


def password(device: SwitchDevice, _: Mapping[str, Any]) -> SwitchFault:
    """Replace its passwords by one that nobody knows."""
    faults = device.faults

    def start() -> None:
        faults.password = secrets.token_hex(16)

    def undo() -> None:
        faults.password = None

    return SwitchFault(f"{device.name}'s passwords have changed", start, undo=undo)


KINDS: Mapping[str, Callable[[SwitchDevice, Mapping[str, Any]], SwitchFault]] = {
    "drop": drop,
    "reboot": reboot,
    "ignore": ignore,
    "hang": hang,
    "garble": garble,
    "page": page,
    "password": password,
}
"""Faults that need nothing but the switch."""
