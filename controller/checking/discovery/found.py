"""What a management network holds: switches, strips, other devices with SNMP. Frozen values."""

from dataclasses import dataclass

from eee_testbed.controller.checking.neighbours import Sight
from eee_testbed.lab.model import StripFamily, SwitchFamily


@dataclass(frozen=True, slots=True)
class FoundPort:
    """A port of a switch; its rate is a guess unless the port's name or its link tells it."""

    name: str
    rate_mbps: int
    guessed: bool


@dataclass(frozen=True, slots=True)
class Station:
    """Who announces himself at a port of a switch and is no bridge, as the LLDP-MIB has it; unknown is empty."""

    switch: str
    port: str
    name: str
    mac: bytes
    interface: str
    address: str


@dataclass(frozen=True, slots=True)
class FoundSwitch:
    """A switch; `families` are those that it may be of, likeliest first. `sight` None: it was not understood."""

    name: str
    address: str
    model: str
    families: tuple[SwitchFamily, ...]
    description: str
    ports: tuple[FoundPort, ...]
    sight: Sight | None = None
    stations: tuple[Station, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FoundStrip:
    """A strip; `outlets` are the names that it gives its outlets, from number 1 on."""

    name: str
    address: str
    model: str
    family: StripFamily
    outlets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundOther:
    """A device that answers, and that no family here describes."""

    name: str
    address: str
    object_id: str
    description: str


Device = FoundSwitch | FoundStrip | FoundOther
