"""From loads through outlets to meters: which device has power, and what each strip measures.

The owner calls `tick(now_s)` about once a second and whenever `wake` requests it; everything (sampling, measuring,
switching, publishing) happens in that call, in the caller's thread. SETs arrive in the SNMP agent's thread and only
schedule. A device with several outlets draws equally from those that are on.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.mains.entity_sensor import PowerSensor
from eee_testbed.twin.power.loads import Loads, SwitchLoad
from eee_testbed.twin.strips.mib import Agent
from eee_testbed.twin.strips.strip import Strip


class Mains:
    """A lab's power. `feeds` maps (strip, outlet) to the device behind it; time is in seconds since the lab's start.

    `on_power(device, on)` is called from `tick` after a device's power was switched. `wake(delay_s)` requests a
    `tick` after a delay; it may be called from any thread.
    """

    def __init__(
        self,
        loads: Loads,
        strips: Sequence[Strip],
        feeds: Mapping[tuple[str, int], str],
        *,
        on_power: Callable[[str, bool], None],
        wake: Callable[[float], None] = lambda _delay_s: None,
    ) -> None:
        self._loads = loads
        self._strips = {strip.name: strip for strip in strips}
        self._feeds = dict(feeds)
        self._on_power = on_power
        self._lock = threading.RLock()
        self._sources: dict[str, list[tuple[str, int]]] = {}
        self._wake = wake
        self._unplugged: set[str] = set()
        self._reported_on = dict.fromkeys(loads.names, True)
        self._sensors: dict[str, tuple[PowerSensor, Agent, Callable[[], float]]] = {}
        for source, device in sorted(self._feeds.items()):
            strip, number = source
            if strip not in self._strips or number not in self._strips[strip].outlets:
                raise LabError(f"outlets.csv: {device} is fed by {strip}:{number}, which does not exist; correct it")
            if device not in loads.names:
                raise LabError(
                    f"outlets.csv: {strip}:{number} feeds {device}, which is not a switch or node; correct it"
                )
            self._sources.setdefault(device, []).append(source)
        for strip_ in strips:
            strip_.wake = wake

    def add_sensor(self, switch: str, sensor: PowerSensor, agent: Agent, uptime_s: Callable[[], float]) -> None:
        """Show a switch's own power sensor on its SNMP agent."""
        with self._lock:
            self._sensors[switch] = (sensor, agent, uptime_s)
            agent.put(list(sensor.varbinds(uptime_s())))

    def powered(self, device: str) -> bool:
        """Whether the device is plugged in and one of its outlets is on; one without outlets always has power."""
        if device in self._unplugged:
            return False
        sources = self._sources.get(device)
        return sources is None or any(self._strips[strip].outlets[number].on for strip, number in sources)

    def tick(self, now_s: float) -> None:
        """Sample, measure, switch what is due, publish, call `on_power`."""
        with self._lock:
            since_s = self._loads.now_s
            if now_s > since_s:
                self._loads.advance(now_s)
                self._measure(since_s, now_s)
            changed = self._switch(now_s)
            for strip in self._strips.values():
                strip.publish(now_s)
        for device, on in changed:
            self._on_power(device, on)

    def due_in_s(self) -> float:
        """Seconds until the next outlet switches; infinite if none is scheduled."""
        return min((strip.due_in_s() for strip in self._strips.values()), default=float("inf"))

    def plug(self, device: str, on: bool) -> None:  # noqa: FBT001 - the shape of `on_power`
        """Put a device's plug in or pull it (a fault) at the next tick, which it requests at once."""
        with self._lock:
            if on:
                self._unplugged.discard(device)
            else:
                self._unplugged.add(device)
        self._wake(0.0)

    def freeze(self, strip: str, *, on: bool, outlet: int | None = None) -> None:
        """Freeze a strip's readings (a fault) or end that; KeyError for a strip or outlet that does not exist."""
        self._strips[strip].freeze(on=on, outlet=outlet)

    def report(self) -> dict[str, Any]:
        """Return the true power of all loads over the last sample, and what the strips show, as plain data."""
        with self._lock:
            devices = {name: self._device(name) for name in self._loads.names}
            strips = {name: self._strip(strip) for name, strip in self._strips.items()}
            return {"since_start_s": self._loads.now_s, "devices": devices, "strips": strips}

    def _measure(self, since_s: float, now_s: float) -> None:
        live = {
            device: sum(self._strips[strip].outlets[number].on for strip, number in sources)
            for device, sources in self._sources.items()
        }
        for name, strip in self._strips.items():
            watt_by_outlet = {}
            for number, outlet in strip.outlets.items():
                device = self._feeds.get((name, number))
                if device is not None and outlet.on and self._reported_on[device]:
                    watt_by_outlet[number] = self._loads.power(device).ac_watt / live[device]
            strip.measure(watt_by_outlet, since_s, now_s)
        for switch, (sensor, agent, uptime_s) in self._sensors.items():
            if sensor.measure(self._loads.power(switch).ac_watt, since_s, now_s):
                agent.put(list(sensor.varbinds(uptime_s())))

    def _switch(self, now_s: float) -> list[tuple[str, bool]]:
        for strip in self._strips.values():
            with strip.lock:
                strip.run_due(now_s)
        changed = []
        for device, was_on in self._reported_on.items():
            on = self.powered(device)
            if on != was_on:
                self._reported_on[device] = on
                self._loads.set_powered(device, on=on)
                changed.append((device, on))
        return changed

    def drawn_watt(self, device: str) -> float:
        """Power that a device drew from its outlets at the last tick, W."""
        return self._loads.power(device).ac_watt

    def _device(self, name: str) -> dict[str, Any]:
        power, load = self._loads.power(name), self._loads.load(name)
        return {
            "kind": "switch" if isinstance(load, SwitchLoad) else "node",
            "powered": power.powered,
            "base_watt": power.base_watt,
            "port_watt": power.port_watt,
            "dc_watt": power.dc_watt,
            "wander_watt": power.wander_watt,
            "ac_watt": power.ac_watt,
            "energy_joule": power.energy_joule,
            "watt_by_engine_port": dict(power.watt_by_port),
            "outlets": [f"{strip}:{number}" for strip, number in self._sources.get(name, [])],
            "truth": load.truth.model_dump(mode="json"),
        }

    def _strip(self, strip: Strip) -> dict[str, Any]:
        outlets = {
            number: {
                "name": outlet.name,
                "feeds": self._feeds.get((strip.name, number)),
                "on": outlet.on,
                "shown_watt": outlet.meter.shown_watt if strip.model.meters_outlets else None,
                "shown_joule": outlet.meter.shown_joule if strip.model.meters_outlets else None,
                "frozen": outlet.meter.frozen,
            }
            for number, outlet in strip.outlets.items()
        }
        groups = [{"shown_watt": meter.shown_watt, "shown_joule": meter.shown_joule} for meter in strip.groups]
        return {
            "family": strip.family.name,
            "model": strip.model.name,
            "outlets": outlets,
            "groups": groups,
            "truth": strip.truth.model_dump(mode="json"),
        }
