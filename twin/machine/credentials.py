"""Passwords and communities of a running lab: drawn at each `lab up`, readable by root only."""

import secrets
from dataclasses import dataclass

from eee_testbed.twin.machine.statedir import StateDir

SNMP_USER = "eee"
"""Name of the SNMPv3 user of every device."""


SWITCH_KEY_USER = "lab"
"""User of the switches who logs in with the lab's SSH key. The inventory's user has a password only: a PowerConnect
accepts password users without SSH authentication and asks for the password inside the session, as drivers expect, so
it cannot offer the same user a key as well."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Secrets of the lab's switches and strips. The SNMPv3 user has SHA authentication and AES privacy."""

    cli_password: str
    snmp_read_community: str
    snmp_write_community: str
    snmp_auth_password: str
    snmp_priv_password: str


def make_credentials(state: StateDir) -> Credentials:
    """Draw the secrets and write each into its file under `secrets/`."""
    credentials = Credentials(*(secrets.token_hex(6) for _ in range(5)))
    for name in Credentials.__dataclass_fields__:
        state.write_secret(f"secrets/{name}", getattr(credentials, name))
    return credentials
