"""The lines that give a switch from its box an account, SSH, SNMP, LLDP and its address, with their words filled in.

Lines are templates: WORDS IN CAPITALS stand for what the inventory says. Words of secrets stay as they are in what is
shown; only what is typed has the secrets. Each block of lines begins and ends in privileged mode.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Final, Literal, TypeVar

from eee_testbed.controller.drivers.driver import Line
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab, SnmpAuthProtocol, SnmpPrivacyProtocol, Switch

_Protocol = TypeVar("_Protocol", bound=str)
Service = Literal["ssh", "snmp", "lldp"]
SERVICES: Final[tuple[Service, ...]] = ("ssh", "snmp", "lldp")

SECRETS: Final = ("PASSWORD", "COMMUNITY", "AUTHKEY", "PRIVKEY")
_PLACEHOLDERS: Final = re.compile(
    r"\b(ADDRESS|MASK|GATEWAY|USER|SNMPUSER|PORTS|AUTH|PRIV|PASSWORD|COMMUNITY|AUTHKEY|PRIVKEY)\b"
)
_UNSAFE: Final = re.compile(r"[^\x21-\x7e]|[?\"'\\!]")
"""What a command line takes for its own: blanks, help, quotes, comments; and what is not printable ASCII."""

_NO_GATEWAY: Final = "0.0.0.0"  # noqa: S104 - no address to listen at: FASTPATH's word for none


@dataclass(frozen=True, slots=True)
class FactoryLines:
    """A family's lines, by what they set up; `save` is for a person, as the program saves through its own login."""

    source: str
    """Where the lines are from, in words."""

    account: Sequence[str]
    """The account with its password, and SSH."""

    address: Sequence[str]
    """The management address. A session that came over the network may end at it."""

    community: Sequence[str]
    snmp_v3: Sequence[str]
    lldp: Sequence[str]
    save: Sequence[str]
    user: str = ""
    """The factory's account; empty: the console asks for none."""

    password: str = ""
    """Its published password."""

    privileged: Sequence[str] = ("enable",)
    """How a person enters privileged mode."""

    replies: tuple[tuple[str, str], ...] = ()
    """Questions that the lines may lead to, as in `Line`."""

    auth: Mapping[SnmpAuthProtocol, str] = field(default_factory=dict)
    """The family's words for SNMPv3's protocols."""

    privacy: Mapping[SnmpPrivacyProtocol, str] = field(default_factory=dict)

    bridge: Callable[[Switch], Sequence[str]] | None = None
    """What makes a switch of a Linux machine."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What is typed at one switch, as templates: `before` the address, and with it. `words` has those of no secrets."""

    known: FactoryLines
    before: tuple[str, ...]
    address: tuple[str, ...]
    words: Mapping[str, str]

    def shown(self) -> tuple[str, ...]:
        """Every line for a person, from the login to saving; secrets are words in capitals."""
        lines = (*self.known.privileged, *self.before, *self.address, *self.known.save)
        return tuple(self.masked(line) for line in lines)

    def masked(self, template: str) -> str:
        """A line without secrets."""
        return _filled(template, self.words)

    def secret_words(self) -> tuple[str, ...]:
        """The secrets that the lines need, as words of `SECRETS`."""
        placeholders = {word for line in (*self.before, *self.address) for word in _PLACEHOLDERS.findall(line)}
        return tuple(word for word in SECRETS if word in placeholders)

    def line(self, template: str, secrets: Mapping[str, str]) -> Line:
        """A line as it is typed."""
        return Line(_filled(template, {**self.words, **secrets}), self.known.replies)


def setup_of(
    lab: Lab, switch: Switch, known: FactoryLines, services: Sequence[Service] = SERVICES, gateway: str = ""
) -> Setup:
    """The lines for some services of a switch; those of SNMP are v3's where the inventory has a user of it.

    LabError if the family has no word for a protocol, or a value would not survive a command line.
    """
    user = switch.snmp_user
    words = {
        "ADDRESS": switch.address,
        "MASK": str(IPv4Network(lab.management_network).netmask),
        "GATEWAY": gateway or _NO_GATEWAY,
        "USER": switch.user,
        "PORTS": _listed([port.name for port in switch.ports]),
    }
    before: list[str] = []
    if "ssh" in services:
        before += known.account
        before += known.bridge(switch) if known.bridge is not None else ()
    if "snmp" in services and user is not None:
        before += known.snmp_v3
        words["SNMPUSER"] = user.name
        if known.snmp_v3:
            words["AUTH"] = _protocol(switch, "authentication", user.auth_protocol, known.auth)
            words["PRIV"] = _protocol(switch, "privacy", user.privacy_protocol, known.privacy)
            if not (user.auth_key and user.privacy_key):
                raise LabError(f"{switch.name}: the lines for SNMPv3 need both keys: add them to snmp_v3.")
    elif "snmp" in services and switch.community:
        before += known.community
    if "lldp" in services:
        before += known.lldp
    for word in ("USER", "SNMPUSER"):
        if word in words:
            check_word(switch.name, f"the user '{words[word]}'", words[word])
    return Setup(known, tuple(before), tuple(known.address) if "ssh" in services else (), words)


def check_word(device: str, what: str, value: str) -> None:
    """LabError if a command line would not take the value as one word; `what` names it without its secret."""
    if not value or _UNSAFE.search(value):
        raise LabError(
            f"{device}: {what} has blanks, quotes, ? ! \\ or letters beyond ASCII, which the switch may interpret: "
            "choose another."
        )


def _protocol(switch: Switch, what: str, wanted: _Protocol, known: Mapping[_Protocol, str]) -> str:
    if wanted not in known:
        raise LabError(
            f"{switch.name}: SNMPv3 {what} by {wanted} cannot be set up on {switch.family}, only by "
            f"{', '.join(known)}: change snmp_v3, or set it up by hand."
        )
    return known[wanted]


def _filled(template: str, words: Mapping[str, str]) -> str:
    return _PLACEHOLDERS.sub(lambda found: words.get(found[0], found[0]), template)


def _listed(names: Sequence[str]) -> str:
    """Names of ports as a list of ranges, such as 1/0/1-1/0/24,1/0/26."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _after(runs[-1][-1]) == name:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _after(name: str) -> str:
    """The name with its last number one higher."""
    return re.sub(r"\d+$", lambda found: str(int(found[0]) + 1), name)
