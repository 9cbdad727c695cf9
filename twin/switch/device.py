"""One managed switch of the twin: power, boot, running and startup configuration, faults.

Every interface (command line, SNMP, power) works on a `SwitchDevice`. It knows no vendor: a `Personality` (one per
family) keeps the configuration in the vendor's terms, renders and parses the vendor's text, and computes the
`SwitchEffect` for the engine. Interfaces change configuration only inside `SwitchDevice.change()` or through the
neutral operations, so that locking, the engine, observers and injected faults are handled in one place.

Simplification: while a switch boots its ports have no link (real ones may flap their links during self-test); link
flaps at the partner in the first seconds after power-on could show it.
"""

from __future__ import annotations

import copy
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Protocol

from eee_testbed.twin.switch.device_faults import DeviceFaults
from eee_testbed.twin.switch.effect import SwitchEffect, apply_effect
from eee_testbed.twin.switch.lldp import INTERVAL_S, announcement, as_neighbour
from eee_testbed.twin.switch.personality import DeviceSpec, Family, Neighbour, Pace, Port, PortLldp, Refused, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eee_engine import Announcement, _Fabric

Event = Literal["config", "saved", "power", "ready", "sessions", "answers"]


class OpenSession(Protocol):
    """What a device knows of an open command-line session."""

    @property
    def number(self) -> int:
        """From 1."""

    @property
    def peer(self) -> str:
        """Address of the client."""

    @property
    def user(self) -> User | None:
        """None before the login."""

    @property
    def stuck(self) -> bool:
        """Whether a fault makes the session hang."""


class SwitchDevice:
    """A switch. Threads: every public method may be called from any; `lock` serialises them (re-entrant).

    It is made without power: call `power_on`, then `poll` at or after `poll_at_s()`.
    """

    def __init__(
        self,
        spec: DeviceSpec,
        family: Family,
        engine: _Fabric,
        *,
        startup: str = "",
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        plans = family.ports(spec.model)
        lag_plans = family.lags(spec.model)
        handle = engine.add_switch(
            spec.name,
            phys=[p.phy for p in plans],
            port_names=[p.name for p in plans],
            base_mac=spec.base_mac,
            lag_count=len(lag_plans),
            **spec.engine_options,
        )
        self.spec = spec
        self.name = spec.name
        self.family = family.name
        self.engine = engine
        self.switch = handle["switch"]
        ids = [*handle["ports"], *handle["lags"]]
        self.ports: tuple[Port, ...] = tuple(
            Port(n + 1, p.name, p.long_name, p.if_index, ids[n], p.phy, p.speed_mbps, n >= len(plans))
            for n, p in enumerate((*plans, *lag_plans))
        )
        self.engine_port: dict[int, int] = {p.number: p.engine_port for p in self.ports}
        self.lock = threading.RLock()
        self.faults = DeviceFaults()
        self.startup = startup  # text of the startup configuration; "" is factory
        self.rejected_lines: tuple[str, ...] = ()  # of the startup configuration, at the last boot
        self.personality = family.personality(spec, self.ports)
        self.power_watt: Callable[[], float] | None = None  # what it draws, for show commands; set by `twin.lab.rack`
        self._clock_s = clock_s
        self._applied: SwitchEffect | None = None
        self._announced: dict[int, tuple[PortLldp, Announcement]] = {}  # by bridge port
        self._observers: list[Callable[[SwitchDevice, Event], None]] = []
        self._powered = False
        self._ready_at_s: float | None = None  # only while booting
        self._booted_s: float | None = None
        self._blocked: set[int] = set()
        self.sessions: tuple[OpenSession, ...] = ()  # command-line sessions now open
        self._changing = 0
        engine.set_power(self.switch, on=False)

    # -- power and boot ------------------------------------------------------------------------------------------

    @property
    def powered(self) -> bool:
        """Mains present: it draws watts, booting or ready."""
        return self._powered

    @property
    def ready(self) -> bool:
        """Booted: it forwards and answers."""
        return self._booted_s is not None

    @property
    def uptime_s(self) -> float:
        """Seconds since power came or the last reload, boot included; 0 without power (sysUpTime)."""
        return 0.0 if self._booted_s is None else self._clock_s() - self._booted_s + self.spec.boot_s

    def power_on(self) -> None:
        """Mains on: begin to boot. Nothing happens if they were on."""
        with self.lock:
            if self._powered:
                return
            self._powered = True
            self._ready_at_s = self._clock_s() + self.spec.boot_s
            self._notify("power")
            self.poll()

    def power_off(self) -> None:
        """Mains off: links down, running configuration lost, sessions end. Nothing happens if they were off."""
        with self.lock:
            if not self._powered:
                return
            self._powered = False
            self._ready_at_s = None
            self._halt()
            self._notify("power")

    def reload(self) -> None:
        """Restart from the startup configuration, as after a power cycle, with the mains on."""
        with self.lock:
            if not self._powered:
                return
            self._halt()
            self._ready_at_s = self._clock_s() + self.spec.boot_s
            self._notify("power")
            self.poll()

    def poll_at_s(self) -> float | None:
        """Time (of the clock given at construction) at which `poll` has something to do; None: nothing pending."""
        return self._ready_at_s

    def poll(self) -> None:
        """Finish booting if its time has come."""
        with self.lock:
            if self._ready_at_s is None or self._clock_s() < self._ready_at_s:
                return
            self._ready_at_s = None
            self.personality.config = self.personality.factory()
            self.rejected_lines = tuple(self.personality.load(self.startup))
            self.engine.set_power(self.switch, on=True)
            self._apply()
            self._booted_s = self._clock_s()
            self._notify("ready")

    def _halt(self) -> None:
        self.engine.set_power(self.switch, on=False)
        self._booted_s = None
        self._applied = None
        self._announced.clear()
        self._blocked.clear()
        self.personality.config = self.personality.factory()

    # -- configuration -------------------------------------------------------------------------------------------

    @contextmanager
    def change(self) -> Iterator[None]:
        """Change `personality.config` inside the block; at its end the engine and the observers are updated.

        `Refused` (or any error) inside restores the configuration and is raised again. Nested use joins the
        outermost block. With the fault *ignore writes* the change is dropped silently. Observers are called for real
        changes only. Raises `Refused` while the switch has not booted.
        """
        with self.lock:
            if not self.ready:
                raise Refused(f"{self.name} has not booted: wait until it is ready to configure it")
            if self._changing:
                yield
                return
            before = copy.deepcopy(self.personality.config)
            self._changing += 1
            try:
                yield
                if self.personality.config == before:
                    return
                self.faults.changing()
                if self.faults.ignore_writes:
                    self.personality.config = before
                    return
                self._apply()
            except BaseException:
                self.personality.config = before
                self._apply()
                raise
            finally:
                self._changing -= 1
            self._notify("config")

    def _apply(self) -> None:
        after = self.personality.effect()
        if after != self._applied:
            apply_effect(self.engine, self.switch, self.engine_port, self._applied, after)
            self._applied = after
        for port in self.ports:
            if not port.is_lag:
                self._announce(port)

    def _announce(self, port: Port) -> None:
        setting = self.personality.lldp(port.number)
        announced = announcement(self.spec, self.personality, port, setting)
        if self._announced.get(port.number) != (setting, announced):
            self.engine.set_lldp(
                port.engine_port, announced, transmit=setting.transmit, receive=setting.receive, interval_s=INTERVAL_S
            )
            self._announced[port.number] = (setting, announced)

    @property
    def effect(self) -> SwitchEffect:
        """What was applied to the engine; empty while the switch is not ready."""
        return self._applied if self._applied is not None else SwitchEffect()

    def save_startup(self) -> None:
        """Copy the running to the startup configuration."""
        with self.lock:
            if not self.ready:
                raise Refused(f"{self.name} has not booted: it has no running configuration to save")
            if not self.faults.ignore_writes:
                self.startup = self.personality.render()
                self._notify("saved")

    def erase_startup(self) -> None:
        """Factory settings at the next boot."""
        with self.lock:
            if not self.faults.ignore_writes:
                self.startup = ""
                self._notify("saved")

    # -- spanning tree -------------------------------------------------------------------------------------------

    @property
    def blocked(self) -> frozenset[int]:
        """Bridge ports that a spanning tree keeps from forwarding."""
        return frozenset(self._blocked)

    def stp_ports(self) -> frozenset[int]:
        """Bridge ports that take part in a spanning tree."""
        return frozenset(n for n, p in self.effect.ports.items() if p.stp)

    def set_blocked(self, ports: frozenset[int]) -> None:
        """Discard on exactly these bridge ports; `twin.network.tree_keeper` computes them.

        Simplification: no BPDU is sent and no port listens or learns for seconds; the tree is computed over all
        switches at once. The outage after a link change (RSTP: up to seconds) and captured BPDUs could show it.
        """
        with self.lock:
            for number in sorted(self._blocked ^ ports):
                self.engine.set_blocked(self.engine_port[number], blocked=number in ports)
            self._blocked = set(ports)

    # -- LLDP ----------------------------------------------------------------------------------------------------

    def neighbours(self, number: int) -> tuple[Neighbour, ...]:
        """What a physical port hears now, by bridge-port number; usually one neighbour or none."""
        return tuple(as_neighbour(heard) for heard in self.engine.lldp_heard(self.engine_port[number]))

    # -- look-up ------------------------------------------------------------------------------------------------

    def port(self, number: int) -> Port:
        """By bridge-port number; raises `Refused` for one that does not exist."""
        if not 1 <= number <= len(self.ports):
            raise Refused(f"{self.name} has no bridge port {number}", reason="bad-value")
        return self.ports[number - 1]

    def port_named(self, name: str) -> Port | None:
        """By CLI name, as a cable table writes it."""
        return next((p for p in self.ports if p.name == name), None)

    def port_of_engine(self, engine_port: int) -> Port | None:
        """By engine port id (LAGs included)."""
        return next((p for p in self.ports if p.engine_port == engine_port), None)

    def users(self) -> dict[str, User]:
        """Users who may log in: provisioned ones, overridden by those of the configuration."""
        merged = {u.name: u for u in self.spec.users}
        for name, user in self.personality.users().items():
            keys = user.keys or (merged[name].keys if name in merged else ())
            merged[name] = User(name, user.password, user.privilege, keys)
        other = self.faults.password
        if other is not None:
            return {name: replace(user, password=other, keys=()) for name, user in merged.items()}
        return merged

    @property
    def pace(self) -> Pace:
        """The present pace of the command line."""
        return self.faults.pace if self.faults.pace is not None else self.spec.pace

    # -- observers -----------------------------------------------------------------------------------------------

    def observe(self, observer: Callable[[SwitchDevice, Event], None]) -> Callable[[], None]:
        """Call `observer(device, event)` after each event, in the thread that caused it, with `lock` held.

        Events: "config" (running configuration changed), "saved" (startup changed), "power" (went off, or began to
        boot), "ready" (booted), "sessions" (drop them: see `drop_sessions`), "answers" (print withheld ones: see
        `answer_again`). Returns a function that ends the observation.
        """
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def drop_sessions(self) -> None:
        """For a fault: drop every command-line session at once."""
        self._notify("sessions")

    def answer_again(self) -> None:
        """For the end of a fault: hanging sessions print the answer that they withheld."""
        self._notify("answers")

    def _notify(self, event: Event) -> None:
        for observer in tuple(self._observers):
            observer(self, event)
