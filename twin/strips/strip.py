"""A power strip: outlets that switch, channels that measure, and its MIB over SNMP.

Commands do not switch at once: they are scheduled with a due time and executed by `run_due`, which the owner calls in
its own thread. SETs come from the agent's thread; `lock` serialises both.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.power.meters import Meter, MeterTraits
from eee_testbed.twin.power.wander import stream
from eee_testbed.twin.strips.mib import SYSTEM, Agent, Face, SystemGroup, Writable, refusal
from eee_testbed.twin.truth.truth import StripTruth

if TYPE_CHECKING:
    from eee_engine import VarBind


_EARLY_S = 1e-3
"""Tolerance: the owner's timer may fire this much too early."""


@dataclass(frozen=True, slots=True)
class Step:
    """A scheduled switching of an outlet."""

    due_s: float
    on: bool


@dataclass(slots=True)
class Outlet:
    """One outlet. Delays are seconds that a SET can change; -1 means never (APC)."""

    number: int
    name: str
    meter: Meter
    on: bool = True
    power_on_s: int = 0
    power_off_s: int = 0
    reboot_s: int = 5
    repower_s: int = 0
    wake_up: int = 0  # the family's code of what the outlet does when the strip gets power
    switch_count: int = 0
    commanded: bool = False  # whether a command has switched it since power-on
    queued: int = 0  # Sentry's queued action
    plan: tuple[Step, ...] = ()
    rebooting: bool = False  # the schedule is off and on again


@dataclass(frozen=True, slots=True)
class StripModel:
    """A model of a family.

    `groups` are the channels that measure several outlets at once (device, cord, bank), by outlet number; the first one
    also measures the strip's own draw. `meters_outlets` says whether each outlet is measured too. `code` is the number
    that the model has in the family's MIB, if it has one. Nothing trips above `rated_ampere`: the twin's strips
    have no breakers.
    """

    name: str
    outlet_count: int
    groups: tuple[tuple[int, ...], ...]
    meters_outlets: bool
    code: int = 0
    rated_ampere: int = 16


@dataclass(frozen=True, slots=True)
class StripFamily:
    """A family of strips: a row of the table in `twin.strips`. `relay_s` is the time from command to contact."""

    name: str
    models: tuple[StripModel, ...]
    outlet_traits: MeterTraits
    group_traits: MeterTraits
    relay_s: float
    outlet_name: Callable[[int], str]
    system: Callable[[StripModel, str], SystemGroup]
    face: "Callable[[Strip], Face]"

    def model(self, name: str) -> StripModel:
        """Return the model of that name; LabError lists the known ones."""
        for model in self.models:
            if model.name == name:
                return model
        names = ", ".join(model.name for model in self.models)
        raise LabError(f"the twin has no {self.name} strip of model {name}: take one of {names}")


@dataclass(slots=True)
class Electricity:
    """The mains at the strip: constant here, whereas real mains vary by volts."""

    voltage_volt: float
    power_factor_ratio: float
    frequency_hz: float = 50.0

    def current_ampere(self, watt: float) -> float:
        """Current of a load at the strip's voltage and power factor."""
        return watt / (self.voltage_volt * self.power_factor_ratio)


@dataclass(slots=True)
class Nameplate:
    """Texts and numbers of the strip that a SET can change."""

    name: str
    location: str = "Unknown"
    contact: str = "Unknown"
    serial: str = ""
    other: dict[str, int] = field(default_factory=dict)


class Strip:
    """One strip on the network; time is in seconds since start."""

    def __init__(
        self,
        name: str,
        family: StripFamily,
        model: StripModel,
        truth: StripTruth,
        *,
        seed: int = 0,
        clock_s: Callable[[], float],
    ) -> None:
        self.name = name
        self.family = family
        self.model = model
        self.truth = truth
        self.lock = threading.RLock()
        self.clock_s = clock_s
        self.mains = Electricity(truth.voltage_volt, truth.power_factor_ratio)
        serial = stream(seed, "serial", name).integers(10**6, 10**7)
        self.plate = Nameplate(name=name, serial=f"ZA{serial:07d}")
        self.system = family.system(model, name)
        outlet_traits, group_traits = family.outlet_traits.with_truth(truth), family.group_traits.with_truth(truth)
        self.outlets = {
            number: Outlet(
                number, family.outlet_name(number), Meter(outlet_traits, stream(seed, name, f"outlet{number}"))
            )
            for number in range(1, model.outlet_count + 1)
        }
        self.groups = tuple(
            Meter(group_traits, stream(seed, name, f"group{index}")) for index in range(len(model.groups))
        )
        self.wake: Callable[[float], None] = lambda _delay_s: None
        self._agent: Agent | None = None
        self._published: dict[str, VarBind] = {}
        self._configured = True  # names, delays and the like have changed since the last publish
        self._changed = True  # readings or states have changed since then
        self._face = family.face(self)
        self._writable: Mapping[str, Writable] = {**self.system.writable(), **self._face.writable()}

    def bind(self, agent: Agent) -> None:
        """Publish on this agent from now on."""
        with self.lock:
            self._agent = agent
            self._published = {}
            self._configured = True
            self.publish(self.clock_s())

    def publish(self, now_s: float) -> None:
        """Put the objects that have changed into the agent."""
        with self.lock:
            if self._agent is None:
                return
            changed: list[VarBind] = [(f"{SYSTEM}.3.0", "ticks", int(now_s * 100))]
            parts: list[Iterator[VarBind]] = []
            if self._configured:
                parts += [self.system.varbinds(), self._face.constants()]
            if self._configured or self._changed:
                parts.append(self._face.readings())
            for varbind in chain.from_iterable(parts):
                if self._published.get(varbind[0]) != varbind:
                    self._published[varbind[0]] = varbind
                    changed.append(varbind)
            self._configured = self._changed = False
            self._agent.put(changed)

    def on_set(self, varbinds: "Sequence[VarBind]") -> tuple[int, int]:
        """Execute a SET completely or not at all; return (error-status, error-index)."""
        with self.lock:
            requested = [(oid.lstrip("."), kind, value) for oid, kind, value in varbinds]
            for index, varbind in enumerate(requested, start=1):
                status = refusal(self._writable, self._published, varbind)
                if status:
                    return status, index
            for oid, _, value in requested:
                self._writable[oid].write(value)
            self._configured = True
            self.publish(self.clock_s())
        self.wake(self.due_in_s())
        return 0, 0

    def plan(self, outlet: Outlet, *steps: tuple[float, bool]) -> None:
        """Replace the schedule of an outlet; steps are (delay in seconds, on)."""
        now_s = self.clock_s()
        slow_s = {True: self.truth.on_delay_s, False: self.truth.off_delay_s}
        relay_s = self.family.relay_s
        outlet.rebooting = len(steps) > 1
        outlet.plan = tuple(Step(now_s + delay_s + slow_s[on] + relay_s, on) for delay_s, on in steps)

    def due_in_s(self) -> float:
        """Seconds until the next scheduled step; infinite if none is scheduled."""
        due_s = [outlet.plan[0].due_s for outlet in self.outlets.values() if outlet.plan]
        return max(0.0, min(due_s) - self.clock_s()) if due_s else float("inf")

    def run_due(self, now_s: float) -> list[Outlet]:
        """Switch what is due; return the outlets whose state changed."""
        changed = []
        for outlet in self.outlets.values():
            was_on = outlet.on
            while outlet.plan and outlet.plan[0].due_s <= now_s + _EARLY_S:
                step, *rest = outlet.plan
                outlet.plan = tuple(rest)
                outlet.commanded = True
                if step.on != outlet.on:
                    outlet.on = step.on
                    outlet.switch_count += 1
            if outlet.on != was_on:
                changed.append(outlet)
        self._changed = self._changed or bool(changed)
        return changed

    def measure(self, watt_by_outlet: Mapping[int, float], since_s: float, until_s: float) -> None:
        """Feed every channel with true watts over an interval."""
        with self.lock:
            for number, outlet in self.outlets.items():
                self._changed |= outlet.meter.feed(watt_by_outlet.get(number, 0.0), since_s, until_s)
            for index, (members, meter) in enumerate(zip(self.model.groups, self.groups, strict=True)):
                own_watt = self.truth.own_watt if index == 0 else 0.0
                total_watt = own_watt + sum(watt_by_outlet.get(number, 0.0) for number in members)
                self._changed |= meter.feed(total_watt, since_s, until_s)

    def freeze(self, *, on: bool, outlet: int | None = None) -> None:
        """Freeze all readings, or one outlet's (a fault), or end that."""
        with self.lock:
            if outlet is not None:
                self.outlets[outlet].meter.frozen = on
                return
            for meter in (*self.groups, *(held.meter for held in self.outlets.values())):
                meter.frozen = on
