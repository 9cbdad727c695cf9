"""Ask one address who it is: a switch, a strip, something else. SNMP reads only."""

import re
from dataclasses import dataclass, replace
from typing import Final

from eee_testbed.controller.checking import cabling
from eee_testbed.controller.checking.discovery import switch_ports
from eee_testbed.controller.checking.discovery.found import Device, FoundOther, FoundStrip, FoundSwitch
from eee_testbed.controller.checking.discovery.sweep import PATIENCE
from eee_testbed.controller.drivers.driver import Answers, Walk
from eee_testbed.controller.drivers.makers import SYSTEM, families_of, model_of, said_of
from eee_testbed.controller.drivers.mib_rows import rows_of, text_of
from eee_testbed.controller.strips.makers import strip_families_of
from eee_testbed.controller.strips.outlets import Meter, Silent
from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import SnmpAccess
from eee_testbed.lab.errors import DeviceError, LabError, Unreachable
from eee_testbed.lab.model import NO_SECRET, Port, Secret, SnmpUser, Strip, StripFamily, Switch, SwitchFamily

_OUTLETS_MOST: Final = 64
_NAME_MOST: Final = 32


@dataclass(frozen=True, slots=True)
class Credentials:
    """What opens the agents: with `user` SNMPv3, else v2c with `community`."""

    community: Secret = NO_SECRET
    user: SnmpUser | None = None
    port: int = 161


def ask(address: str, credentials: Credentials) -> Device | None:
    """The device at an address; None if nobody answers. AccessDenied if a secret cannot be read here."""
    access = SnmpAccess(address, address, credentials.port, credentials.community, credentials.user)
    first = Agent(access, PATIENCE)
    try:
        system: Answers = {SYSTEM: first.walk(SYSTEM.oid)}
    except Unreachable:
        return None
    except DeviceError as error:
        return FoundOther("", address, "", str(error))
    finally:
        first.close()
    return _identified(address, credentials, system, Agent(access))


def _identified(address: str, credentials: Credentials, system: Answers, agent: Agent) -> Device:
    object_id, description = said_of(system)
    name = host_name(text_of(rows_of(system, SYSTEM).get("5.0", "")))
    try:
        for family in strip_families_of(object_id):
            found = _strip(address, credentials, family, name, description, agent)
            if found is not None:
                return found
        families = families_of(object_id, description)
        if families:
            return _switch(address, name, families, description, agent)
    except DeviceError as error:
        return FoundOther(name, address, object_id, f"{description} ({error})")
    finally:
        agent.close()
    return FoundOther(name, address, object_id, description)


def host_name(text: str) -> str:
    """A system name as hosts.yml writes names: lower-case letters, digits, dashes; without its domain."""
    short = text.strip().partition(".")[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", short).strip("-")[:_NAME_MOST].strip("-")


def _strip(
    address: str, credentials: Credentials, family: StripFamily, name: str, description: str, agent: Agent
) -> FoundStrip | None:
    """A strip of that family; None if it is of another. One that has no outlets meters what it draws as a whole."""
    model = description or family
    strip = Strip(name, family, model, address, credentials.port, "", _OUTLETS_MOST)
    try:
        reading = Meter(strip, agent, as_many_as_listed=True).read()
    except Silent:
        return None
    real = [outlet for outlet in reading.outlets if outlet.on is not None or outlet.name]
    if not real and reading.total.power_watt is None and not reading.unread:
        return None
    return FoundStrip(name, address, model, family, tuple(outlet.name for outlet in real))


def _switch(address: str, name: str, families: tuple[SwitchFamily, ...], description: str, agent: Agent) -> FoundSwitch:
    walks: tuple[Walk, ...] = (*cabling.QUERIES, *switch_ports.QUERIES)
    answers: Answers = {walk: agent.walk(walk.oid) for walk in dict.fromkeys(walks)}
    found = FoundSwitch(
        name, address, model_of(description), families, description, switch_ports.ports_of(answers),
        stations=switch_ports.stations_of(name, answers),
    )  # fmt: skip
    try:
        return replace(found, sight=cabling.read_sight(as_switch(found), answers))
    except LabError as error:  # its ports cannot be told apart
        return replace(found, problem=str(error))


def as_switch(found: FoundSwitch) -> Switch:
    """The switch as far as reading its tables needs it."""
    ports = tuple(Port(found.name, port.name, n, port.rate_mbps) for n, port in enumerate(found.ports, 1))
    return Switch(found.name, found.families[0], found.model, found.address, 22, 161, "", "", "", ports)
