"""Reading strips, and switching outlets: every SET is read back until the strip says that it is done."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from eee_testbed.controller.drivers.driver import SnmpSet, SnmpValue
from eee_testbed.controller.strips.family import MeterFamily, StripReading
from eee_testbed.controller.strips.table import METER_FAMILIES
from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import access_of
from eee_testbed.lab.errors import Ignored, LabError
from eee_testbed.lab.model import Lab, Outlet, Strip

_AT_ONCE = 24  # objects of one request: answers of more do not fit into one datagram with every agent
_PATIENCE_S = 15.0
_POLL_EVERY_S = 0.2


class Asked(Protocol):
    """The part of an SNMP agent that is needed here."""

    def walk(self, oid: str, /) -> dict[str, SnmpValue]:
        """The objects below an OID, by the rest of their OIDs."""

    def get(self, oids: Sequence[str], /) -> dict[str, SnmpValue]:
        """Objects by OID; those that do not exist are left out."""

    def put(self, request: SnmpSet, /) -> tuple[int, int]:
        """Set objects; when it was sent and when it was acknowledged, monotonic ns."""

    def close(self) -> None:
        """End it."""


class Silent(LabError):
    """A strip answers, and has none of its family's objects."""

    def __init__(self, strip: Strip) -> None:
        self.strip = strip.name
        super().__init__(
            f"{strip.name} has no object of a {METER_FAMILIES[strip.family].title}: correct its `family` in hosts.yml."
        )


@dataclass(frozen=True, slots=True)
class Switched:
    """An outlet that was switched. Times are of the monotonic clock, in nanoseconds."""

    outlet: Outlet
    on: bool
    sent_ns: int
    acknowledged_ns: int
    seen_ns: int
    """When the strip was first read with the outlet so."""


class Meter:
    """One strip, talked to by one thread. What is read once is kept.

    `as_many_as_listed`: nobody knows yet how many outlets it has; those that it lists count, up to the strip's number.
    """

    def __init__(
        self,
        strip: Strip,
        agent: Asked | None = None,
        patience_s: float = _PATIENCE_S,
        *,
        as_many_as_listed: bool = False,
    ) -> None:
        self.strip = strip
        self._as_many_as_listed = as_many_as_listed
        self._family: MeterFamily = METER_FAMILIES[strip.family].family
        self._agent = Agent(access_of(strip)) if agent is None else agent
        self._patience_s = patience_s
        self._constants: dict[str, SnmpValue] | None = None

    def read(self) -> StripReading:
        """All outlets and the total; Unreachable if the strip is silent, Silent if it is of another family."""
        constants = self._known()
        objects = self._get(self._family.objects(self.strip, constants))
        if not objects:
            raise Silent(self.strip)
        return self._family.reading(self.strip, {**constants, **objects})

    def _known(self) -> dict[str, SnmpValue]:
        """What has to be read once only."""
        if self._constants is None:
            tables = self._family.tables(self.strip)
            constants = {f"{oid}.{index}": value for oid in tables for index, value in self._agent.walk(oid).items()}
            if self._as_many_as_listed:
                listed = self._family.listed_outlets(self.strip, constants)
                most = self.strip.outlet_count
                self.strip = replace(self.strip, outlet_count=most if listed is None else min(most, listed))
            self._constants = constants | self._get(self._family.constants(self.strip, constants))
        return self._constants

    def _get(self, oids: Sequence[str]) -> dict[str, SnmpValue]:
        objects: dict[str, SnmpValue] = {}
        for start in range(0, len(oids), _AT_ONCE):
            objects |= self._agent.get(oids[start : start + _AT_ONCE])
        return objects

    def switch(self, outlet: Outlet, *, on: bool) -> Switched:
        """Switch an outlet and wait until the strip says so; Ignored if it does not come to that."""
        sent_ns, acknowledged_ns = self._agent.put(self._family.switch(self.strip, outlet.number, self._known(), on=on))
        deadline_s = time.monotonic() + self._patience_s
        while (seen := self.read().outlet(outlet.number).on) is not on:
            if time.monotonic() > deadline_s:
                word = {True: "on", False: "off", None: "neither on nor off"}
                raise Ignored(self.strip.name, f"outlet {outlet.number} {word[on]}", word[seen])
            time.sleep(_POLL_EVERY_S)  # a strip does not report when its relay has switched
        return Switched(outlet, on, sent_ns, acknowledged_ns, time.monotonic_ns())

    def cycle(self, outlet: Outlet, off_s: float, wait: Callable[[float], None] = time.sleep) -> Switched:
        """Switch off, wait, and switch on again; an error or interruption between them does not leave it off."""
        try:
            self.switch(outlet, on=False)
            wait(off_s)
        finally:
            switched = self.switch(outlet, on=True)
        return switched

    def close(self) -> None:
        """End it."""
        self._agent.close()


def outlets_named(lab: Lab, name: str) -> tuple[Outlet, ...]:
    """Outlets by `strip:number`, or by the device that they feed; LabError if there are none."""
    strip_name, colon, number = name.rpartition(":")
    if colon:
        for strip in lab.strips:
            if strip.name == strip_name and number.isdecimal() and 1 <= int(number) <= strip.outlet_count:
                used = (outlet for outlet in lab.outlets if (outlet.strip, outlet.number) == (strip_name, int(number)))
                return (next(used, Outlet(strip_name, int(number), "")),)
    outlets = tuple(outlet for outlet in lab.outlets if outlet.feeds == name)
    if not outlets:
        strips = ", ".join(f"{strip.name}:1-{strip.outlet_count}" for strip in lab.strips) or "none"
        raise LabError(
            f"{lab.name} has no outlet {name}: name one as STRIP:NUMBER (it has {strips}) or a device that outlets.csv "
            "says is fed."
        )
    return outlets
