"""Restores the timing of transmitters when a switch loses the configuration that changed it.

The engine keeps LPI timing over a power loss, as hardware keeps its strap settings; what ``green-mode eee
tx-idle-time`` and ``tx-wake-time`` set is lost with the running configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from eee_testbed.twin.families.fastpath.config import PortConfig
from eee_testbed.twin.families.fastpath.wire import hold_us, wake_us

if TYPE_CHECKING:
    from eee_engine import LpiTiming

    from eee_testbed.twin.families.fastpath.personality import FastpathPersonality
    from eee_testbed.twin.switch.device import Event, SwitchDevice


class Transmitters:
    """Observes one device: records the ports with configured times, and resets them when the device goes down."""

    def __init__(self, device: SwitchDevice) -> None:
        self._device = device
        self._held: set[int] = set()
        self._woken: set[int] = set()
        device.observe(self._on_event)
        self._remember()

    def _on_event(self, device: SwitchDevice, event: Event) -> None:
        if event in {"config", "ready"}:
            self._remember()
        elif event == "power" and not device.ready:
            self._restore()

    def _remember(self) -> None:
        for number, port in self._device.effect.ports.items():
            if port.lpi_hold_us is not None:
                self._held.add(number)
            if port.lpi_wake_us is not None:
                self._woken.add(number)

    def _restore(self) -> None:
        device = self._device
        personality = cast("FastpathPersonality", device.personality)
        reset = PortConfig(tx_idle_us=0, tx_wake_us=0)
        for number in sorted(self._held | self._woken):
            timing: LpiTiming = {}
            own_hold_us = hold_us(reset, device.spec)
            own_wake_us = wake_us(reset, device.spec, personality.phy_wake_us.get(device.port(number).phy, 0.0))
            if number in self._held and own_hold_us is not None:
                timing["hold_us"] = own_hold_us
            if number in self._woken and own_wake_us is not None:
                timing["wake_us"] = own_wake_us
            device.engine.set_lpi(device.engine_port[number], timing=timing)
        self._held.clear()
        self._woken.clear()
