"""How a device's SNMP agent is reached, and what opens it."""

from dataclasses import dataclass

from eee_testbed.lab.errors import AccessDenied
from eee_testbed.lab.model import Secret, SnmpUser, Strip, Switch


@dataclass(frozen=True, slots=True)
class SnmpAccess:
    """An agent's address and what opens it; with `user` SNMPv3, else v2c with `community`."""

    device: str
    address: str
    port: int
    community: Secret
    user: SnmpUser | None


def access_of(device: Switch | Strip) -> SnmpAccess:
    """How a device's agent is reached; AccessDenied if the inventory has no credentials for it."""
    community = Secret(device.community_file, device.community_variable)
    if device.snmp_user is None and not community:
        raise AccessDenied(device.name, "the inventory gives neither snmp_v3 nor a community: add one.")
    return SnmpAccess(device.name, device.address, device.snmp_port, community, device.snmp_user)
