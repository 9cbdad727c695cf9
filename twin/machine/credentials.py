"""Passwords and communities of a running lab: made anew at each `lab up`, readable by root alone."""

import secrets
from dataclasses import dataclass

from twin.machine.statedir import StateDir

SNMP_USER = "eee"
"""Name of the SNMPv3 user of every device."""


SWITCH_KEY_USER = "lab"
"""Login at the switches that the lab's SSH key opens. The inventory's user has a password only: a PowerConnect lets
password users in without SSH authentication and asks inside the session, which is what drivers expect of it, and
could not offer the same user a key as well."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What opens the lab's switches and strips. The SNMPv3 user has SHA authentication and AES privacy."""

    cli_password: str
    snmp_read_community: str
    snmp_write_community: str
    snmp_auth_password: str
    snmp_priv_password: str


def make_credentials(state: StateDir) -> Credentials:
    """Draw them and write each into its file under `secrets/`."""
    made = Credentials(*(secrets.token_hex(6) for _ in range(5)))
    for name in Credentials.__dataclass_fields__:
        state.write_secret(f"secrets/{name}", getattr(made, name))
    return made
