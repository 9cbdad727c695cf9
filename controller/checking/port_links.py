"""Which ports of a switch are shut, and which have link: ifAdminStatus, ifOperStatus and ifHighSpeed (RFC 2863). Pure.

A switch whose SNMP agent does not answer has no states; EEE that is in force proves that a port has link.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from eee_testbed.controller.drivers.driver import Answers, SnmpValue, Walk
from eee_testbed.controller.drivers.mib_rows import rows_of
from eee_testbed.controller.drivers.places import FINDERS, IF_ADMIN_STATUS, IF_OPER_STATUS, places
from eee_testbed.lab.model import Switch

IF_HIGH_SPEED: Final = Walk("1.3.6.1.2.1.31.1.1.1.15", "ifHighSpeed")

QUERIES: Final = (*FINDERS, IF_ADMIN_STATUS, IF_OPER_STATUS, IF_HIGH_SPEED)

_UP: Final = 1

State = Literal["up", "down", "shut", "unknown"]
"""Unknown: neither end shows a state."""


@dataclass(frozen=True, slots=True)
class PortLink:
    """State of a port, and its speed in Mb/s while it is up, else 0."""

    state: State
    rate_mbps: int = 0


NO_STATE: Final = PortLink("unknown")


def read_port_links(switch: Switch, answers: Answers) -> Mapping[str, PortLink]:
    """State of each port by its name in the inventory, from the answers to `QUERIES`.

    PortMismatch if a port cannot be found in the answers.
    """
    columns = [rows_of(answers, walk) for walk in (IF_ADMIN_STATUS, IF_OPER_STATUS, IF_HIGH_SPEED)]
    return {
        place.name: _port_link(*(column.get(str(place.if_index)) for column in columns))
        for place in places(switch, answers)
    }


def of_ends(ends: Sequence[PortLink]) -> PortLink:
    """State of a link from its ends: shut if one is, up if all known ends are up."""
    reported = [end for end in ends if end.state != "unknown"]
    if not reported:
        return NO_STATE
    for state in ("shut", "down"):
        if any(end.state == state for end in reported):
            return PortLink(state)
    return PortLink("up", min(end.rate_mbps for end in reported))


def _port_link(admin: SnmpValue | None, oper: SnmpValue | None, rate: SnmpValue | None) -> PortLink:
    if admin is None or oper is None:
        return NO_STATE
    if admin != _UP:
        return PortLink("shut")
    return PortLink("up", rate if isinstance(rate, int) else 0) if oper == _UP else PortLink("down")
