"""The first contact with a switch from its box: set it up with the factory's account, log in anew, and then save.

The address comes last, as a session over the network may end at it. Nothing is saved before the switch has let us in at
its new address with the inventory's credentials and has answered over SNMP: until then, switching its power off and on
gives back the switch from the box.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from eee_testbed.controller.drivers.driver import Identity
from eee_testbed.controller.drivers.factory.dialogue import Account
from eee_testbed.controller.drivers.factory.lines import Setup, check_word
from eee_testbed.controller.drivers.makers import SYSTEM, said_of, wrong_maker
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.transports.first_contact import FactoryLine, Way, open_factory_line, seen_key
from eee_testbed.controller.transports.host_keys import fingerprint, known_hosts_of
from eee_testbed.controller.transports.kept_keys import HostKey, keep_key, kept_keys
from eee_testbed.controller.transports.session import Session
from eee_testbed.controller.transports.switches import open_session
from eee_testbed.lab.credentials import read_secret
from eee_testbed.lab.errors import HostKeyChanged, LabError, Unreachable
from eee_testbed.lab.model import NO_SECRET, Secret, Switch

PATIENCE_S: Final = 60.0
"""How long the new address may take to answer: some switches make their SSH keys first."""

_MOVE_S: Final = 5.0
"""Silence after which a session counts as ended by the change of its address."""


@dataclass(frozen=True, slots=True)
class Met:
    """A switch that was set up: what it says of itself, and over SNMP; `snmp` is empty without SNMP."""

    identity: Identity
    snmp: str
    changed_password: bool


@dataclass(frozen=True, slots=True)
class Contact:
    """One first contact, every secret read. `key` is the one at the factory address, None without SSH."""

    switch: Switch
    setup: Setup
    way: Way
    login: Account
    secrets: Mapping[str, str] = field(repr=False)
    key: HostKey | None
    netmiko_type: str

    def hide(self, text: str) -> str:
        """A text with stars for secrets; the factory's published password is none."""
        secrets = {*self.secrets.values(), self.login.password} - {"", self.setup.known.password}
        for secret in sorted(secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def prepare(switch: Switch, setup: Setup, way: Way, login: Account) -> Contact:
    """Read secrets, and see the host key; nobody logs in.

    LabError for what the inventory lacks, HostKeyChanged if another key than the one seen is trusted for the switch.
    """
    login_row = driver_of(switch).login
    if login_row is None:
        raise LabError(
            f"{switch.name} is a {switch.family}, a Linux machine that its own installer sets up: --print shows what a "
            "lab needs of it."
        )
    where: dict[str, Secret] = {"PASSWORD": switch.password, "COMMUNITY": switch.community}
    if switch.snmp_user is not None:
        where |= {"AUTHKEY": switch.snmp_user.auth_key, "PRIVKEY": switch.snmp_user.privacy_key}
    secrets: dict[str, str] = {}
    for word in setup.secret_words():
        reference = where.get(word, NO_SECRET)
        if not reference:
            raise LabError(f"{switch.name}: a first contact gives it a password: add password_file to the inventory.")
        secrets[word] = read_secret(reference, switch.name)
        check_word(switch.name, f"the secret in {reference}", secrets[word])
    key = seen_key(switch.name, way.where, way.tcp_port) if way.kind == "ssh" else None
    if key is not None:
        _check_kept(switch, key)
    return Contact(switch, setup, way, login, secrets, key, login_row.netmiko_type)


def _check_kept(switch: Switch, key: HostKey) -> bool:
    """Whether the key is trusted for the switch already; HostKeyChanged if only others are."""
    kept = kept_keys(switch)
    if kept and key not in kept:
        raise HostKeyChanged(
            switch.name,
            f"shows the SSH host key {fingerprint(key)}, but {known_hosts_of(switch)} trusts "
            f"{', '.join(map(fingerprint, kept))}: remove that line if the switch was replaced or reset.",
        )
    return bool(kept)


def meet(
    contact: Contact,
    confirm: Callable[[HostKey], bool],
    say: Callable[[str], None],
    patience_s: float = PATIENCE_S,
) -> Met:
    """Set the switch up, log in anew, ask who it is, save.

    `confirm` is asked about a host key that nobody has seen yet. DeviceError or LabError if anything fails; nothing was
    saved then.
    """
    switch = contact.switch
    wanted = Account(switch.user, contact.secrets["PASSWORD"])
    say(f"logging in at {contact.way}")
    with open_factory_line(
        switch.name,
        contact.netmiko_type,
        contact.way,
        contact.login,
        wanted,
        key=contact.key,
        hide=contact.hide,
    ) as line:
        for template in contact.setup.before:
            _type(contact, line, template)
        _move(contact, line)
    say(f"waiting for {switch.address}:{switch.ssh_port}")
    key = seen_key(switch.name, switch.address, switch.ssh_port, patience_s)
    if not _check_kept(switch, key):
        if key != contact.key and not confirm(key):
            raise HostKeyChanged(switch.name, f"its SSH host key {fingerprint(key)} was not confirmed.")
        keep_key(switch, key)
    session = open_session(switch)
    try:
        return _known(contact, session, changed_password=line.changed_password)
    finally:
        session.close()


def _type(contact: Contact, line: FactoryLine, template: str) -> None:
    line.type(contact.setup.line(template, contact.secrets), contact.setup.masked(template))


def _move(contact: Contact, line: FactoryLine) -> None:
    """Give the switch its address; a session over the network may end at that line, and at no line before it."""
    if contact.way.kind != "serial":
        line.hasten(_MOVE_S)
    moved = False
    for template in contact.setup.address:
        moved = moved or "ADDRESS" in template
        try:
            _type(contact, line, template)
        except Unreachable:
            if not moved or contact.way.kind == "serial":
                raise
            return


def _known(contact: Contact, session: Session, *, changed_password: bool) -> Met:
    """Who the switch is, over both services; then its configuration is saved."""
    switch = contact.switch
    driver = driver_of(switch)
    identity = driver.identity(switch, session.ask(driver.identity_queries(switch)))
    description = ""
    if switch.snmp_user is not None or switch.community:
        object_id, description = said_of(session.ask((SYSTEM,)))
        wrong = wrong_maker(switch, object_id, description)
        if wrong:
            raise LabError(f"{switch.name}: {wrong}")
    for command in driver.save(switch):
        session.send(command)
    return Met(identity, description, changed_password)
