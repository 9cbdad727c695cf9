"""`eeectl lab first-contact`: set up a switch as it comes from its box."""

import sys
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from typing import Annotated, Final

from cyclopts import Parameter

from eee_testbed.controller.checking.first_contact import Contact, Met, meet, prepare
from eee_testbed.controller.drivers.factory.dialogue import Account
from eee_testbed.controller.drivers.factory.lines import SERVICES, Service, Setup, setup_of
from eee_testbed.controller.drivers.factory.table import FACTORY
from eee_testbed.controller.transports.first_contact import Way
from eee_testbed.controller.transports.host_keys import fingerprint, known_hosts_of
from eee_testbed.controller.transports.kept_keys import HostKey
from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.interactive import ask_person
from eee_testbed.eeectl.lab_name import NamedLab, known_lab, require_up
from eee_testbed.lab.credentials import read_secret
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Secret, Switch


@Parameter(name="*")
@dataclass(frozen=True)
class FactoryOptions:
    """How the switch is reached, and what opens it, as it comes from its box.

    Parameters
    ----------
    from_address
        Its factory address, for SSH or telnet.
    telnet
        Use telnet instead of SSH. Everything that is sent, passwords too, is then readable on the network.
    serial
        Use its console: the serial device of this machine, such as /dev/ttyUSB0.
    baud
        Rate of the console, in baud.
    port
        TCP port at the factory address; default: the protocol's own.
    user
        Factory account. Default: the usual one of the family.
    password_file
        File with the factory's password, mode 0600; default: the one that the family is known for, or none.
    password_env
        Environment variable with that password.
    gateway
        Default gateway of the management network, for families whose line has one; default: none.

    """

    from_address: Annotated[str, Parameter(name="--from")] = ""
    telnet: Annotated[bool, Parameter(negative="")] = False
    serial: str = ""
    baud: int = 9600
    port: int = 0
    user: str = ""
    password_file: str = ""
    password_env: str = ""
    gateway: str = ""

    def way(self) -> Way:
        """How the switch is reached; LabError if nothing or too much is given."""
        if bool(self.from_address) is bool(self.serial):
            raise LabError(
                "give either --from with the factory address, or --serial with this machine's serial device."
            )
        if self.serial:
            if self.telnet or self.port:
                raise LabError("--telnet and --port belong to --from: a serial console has neither.")
            return Way("serial", self.serial, baud=self.baud)
        return Way("telnet" if self.telnet else "ssh", _address("--from", self.from_address), self.port)

    def login(self, switch: Switch, way: Way) -> Account:
        """The factory's account; LabError if SSH needs a name and none is known."""
        if self.password_file and self.password_env:
            raise LabError("give one of --password-file and --password-env, not both.")
        known = FACTORY[switch.family]
        user = self.user or known.user
        if not user and way.kind == "ssh":
            raise LabError(f"no factory account of {switch.family} is known, and SSH needs one: give --user.")
        if self.password_file or self.password_env:
            return Account(user, read_secret(Secret(self.password_file, self.password_env), switch.name))
        return Account(user, known.password if user == known.user else "")


_NO_OPTIONS: Final = FactoryOptions()


def first_contact(
    lab: NamedLab,
    switch: str,
    *,
    options: FactoryOptions = _NO_OPTIONS,
    print_only: Annotated[bool, Parameter(name="--print", negative="")] = False,
    service: tuple[Service, ...] = (),
    yes: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Set up a switch that has factory settings: account, SSH, SNMP, LLDP, address; then log in again, and save.

    The lines are shown, with placeholders for secrets, and sent after you agree. The switch's SSH host key is shown and
    kept when you confirm it. The configuration is saved after the switch has let eeectl in at its new address and has
    answered over SNMP; until then, switching its power off and on undoes everything. This machine needs an address in
    the network of the factory address, and in the management network.

    Parameters
    ----------
    lab
        Name of a lab, or its folder.
    switch
        The switch, as the inventory names it.
    options
        How the switch is reached, and what opens it.
    print_only
        Print the lines for a person at the switch's console, and send nothing.
    service
        With --print: only the lines of this service; may be given several times.
    yes
        Do not ask, neither about the lines nor about the host key: the key that is seen first is kept, and printed.

    """
    known = known_lab(lab)
    if switch not in {one.name for one in known.switches}:
        raise LabError(f"{known.name} has no switch {switch}: it has {', '.join(one.name for one in known.switches)}.")
    if service and not print_only:
        raise LabError("--service chooses among the lines that --print shows: without --print all are sent.")
    one = known.switch(switch)
    gateway = _address("--gateway", options.gateway) if options.gateway else ""
    setup = setup_of(known, one, FACTORY[one.family], service or SERVICES, gateway)
    if print_only:
        _print_lines(one, setup)
        return DONE
    require_up(known)
    way = options.way()
    contact = prepare(one, setup, way, options.login(one, way))
    if not _agreed(contact, yes=yes):
        raise LabError("nothing was sent.")

    def confirm(key: HostKey) -> bool:
        print(f"{one.name} at {one.address} shows the host key {fingerprint(key)}.")
        return yes or ask_person("is this the switch's key, as its console shows it?")

    try:
        met = meet(contact, confirm, lambda doing: print(f"{one.name}: {doing}", file=sys.stderr))
    except LabError as error:
        text = str(error).rstrip(".")
        raise LabError(f"{text}; nothing was saved: power-cycle the switch to discard them.") from error
    _print_met(contact, met)
    return DONE


def _address(option: str, text: str) -> str:
    try:
        return str(IPv4Address(text))
    except AddressValueError as error:
        raise LabError(f"{option} {text} is not an IPv4 address: write one such as 192.0.2.1.") from error


def _print_lines(switch: Switch, setup: Setup) -> None:
    print(f"At the console of {switch.name} ({setup.known.source}):")
    for line in setup.shown():
        print(line)


def _agreed(contact: Contact, *, yes: bool) -> bool:
    """Show what would be sent, and ask."""
    for line in contact.setup.shown():
        print(f"  {line}")
    user = f"'{contact.login.user}'" if contact.login.user else "no account"
    print(f"These lines ({contact.setup.known.source}) go to {contact.way} with {user}.")
    if contact.way.kind == "telnet":
        print("Telnet: passwords and keys travel readable for everybody on that network.")
    if contact.key is not None:
        print(f"Its SSH host key is {fingerprint(contact.key)}; {known_hosts_of(contact.switch)} is to trust it.")
    return yes or ask_person(f"is this {contact.switch.name}, and shall it be set up so?")


def _print_met(contact: Contact, met: Met) -> None:
    switch = contact.switch
    model = " ".join(filter(None, (met.identity.model, met.identity.firmware))) or switch.family
    snmp = f"over SNMP it is '{met.snmp}'" if met.snmp else "the inventory asks for no SNMP"
    print(f"{switch.name} is set up at {switch.address} and saved: {model}; {snmp}.")
    if contact.login.user not in ("", switch.user):
        state = "has the inventory's password now" if met.changed_password else "still has its factory password"
        print(f"The factory's account '{contact.login.user}' {state}: remove it, or give it a password.")
