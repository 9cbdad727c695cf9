"""Faults of one switch: what each does, and how it is undone. When it strikes is `twin.faults.faults`' business."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lab.errors import LabError
from twin.switch.device import SwitchDevice
from twin.switch.device_faults import Garbler


def _nothing() -> None:
    pass


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Break:
    """One fault. `undo` is None if it is over as soon as it has struck, `over` says whether it has ended by itself.

    `at_once` acts inside the change at which it strikes, in whatever thread that is made; `after` in the daemon's
    loop, when the change is made.
    """

    sentence: str
    at_once: Callable[[], None] = _nothing
    after: Callable[[], None] = _nothing
    undo: Callable[[], None] | None = None
    over: Callable[[], bool] = _never


def _reticent(device: SwitchDevice, sentence: str, act: Callable[[], None], undo: Callable[[], None] | None) -> Break:
    """Something that ends sessions: the line in hand is obeyed, and its answer never comes."""

    def keep_back() -> None:
        device.faults.hang_next = True

    def after() -> None:
        device.faults.hang_next = False
        act()

    return Break(sentence, keep_back, after, undo)


def drop(device: SwitchDevice, _: Mapping[str, Any]) -> Break:
    """Every session dies."""
    return _reticent(device, f"{device.name}'s command-line sessions are dropped", device.drop_sessions, None)


def reboot(device: SwitchDevice, _: Mapping[str, Any]) -> Break:
    """It restarts from its startup configuration."""
    if not device.powered:
        raise LabError(f"{device.name} has no power: `eeectl lab fault power {device.name} on` first.")
    return _reticent(device, f"{device.name} reboots, and takes {device.spec.boot_s:g} s", device.reload, None)


def lose_power(device: SwitchDevice, plug: Callable[[bool], None]) -> Break:
    """Its mains go."""
    return _reticent(device, f"{device.name}'s plug is pulled", lambda: plug(False), lambda: plug(True))


def ignore(device: SwitchDevice, _: Mapping[str, Any]) -> Break:
    """Changes are accepted and not made."""
    faults = device.faults

    def strike() -> None:
        faults.ignore_writes = True

    def undo() -> None:
        faults.ignore_writes = False

    return Break(f"{device.name} accepts changes and ignores them", strike, undo=undo)


def hang(device: SwitchDevice, _: Mapping[str, Any]) -> Break:
    """A session obeys a line and never answers."""
    faults = device.faults

    def strike() -> None:
        faults.hang_next = True

    def undo() -> None:
        faults.hang_next = False
        device.answer_again()

    def over() -> bool:
        return not faults.hang_next and not any(session.stuck for session in device.sessions)

    return Break(f"{device.name} obeys a line and never answers", strike, undo=undo, over=over)


def garble(device: SwitchDevice, request: Mapping[str, Any]) -> Break:
    """Answers come out spoiled."""
    faults = device.faults
    count = request.get("answers")
    if count is not None and int(count) < 1:
        raise LabError("at least one answer is garbled.")
    garbler = Garbler(device.name, None if count is None else int(count))

    def strike() -> None:
        faults.garbler = garbler

    def undo() -> None:
        faults.garbler = None

    many = "" if count is None else f"{count} of "
    return Break(f"{many}{device.name}'s answers are garbage", strike, undo=undo, over=lambda: garbler.done)


def page(device: SwitchDevice, _: Mapping[str, Any]) -> Break:
    """Answers stop at each page."""
    faults = device.faults

    def strike() -> None:
        faults.page_always = True

    def undo() -> None:
        faults.page_always = False

    return Break(f"{device.name} pages although it was told not to", strike, undo=undo)


def password(device: SwitchDevice, _: Mapping[str, Any]) -> Break:
    """Nobody knows its passwords."""
    faults = device.faults

    def strike() -> None:
        faults.password = secrets.token_hex(16)

    def undo() -> None:
        faults.password = None

    return Break(f"{device.name}'s passwords are others", strike, undo=undo)


KINDS: Mapping[str, Callable[[SwitchDevice, Mapping[str, Any]], Break]] = {
    "drop": drop,
    "reboot": reboot,
    "ignore": ignore,
    "hang": hang,
    "garble": garble,
    "page": page,
    "password": password,
}
"""Those that need nothing but the switch."""
