"""What a lab consists of: switches, hosts, cables, metered power strips. Frozen values without I/O.

Names are unique over a whole lab. Addresses are text in dotted form; a MAC address is six bytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

SwitchFamily = Literal[
    "dell_powerconnect_55xx",
    "cisco_sg",
    "netgear_m4300",
    "dell_powerconnect_62xx",
    "dell_n_series",
    "cisco_ios",
    "linux_bridge",
    "openvswitch",
]
StripFamily = Literal[
    "apc_rpdu",
    "apc_rpdu2",
    "servertech_sentry3",
    "servertech_sentry4",
    "raritan_px",
    "eaton_g3",
    "cyberpower_epdu",
    "cyberpower_epdu2",
    "gude",
]
CableKind = Literal["copper", "dac", "fibre"]
SnmpAuthProtocol = Literal["md5", "sha", "sha224", "sha256", "sha384", "sha512"]
SnmpPrivacyProtocol = Literal["des", "aes", "aes192", "aes256"]

RATES_MBPS = (10, 100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000)
"""Every rate of Ethernet that a port or cable may have."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a switch. `rate_mbps` is the fastest that it can do.

    `number` is its place in the inventory, from 1, or if `numbered` the bridge port that the inventory states.
    """

    switch: str
    name: str
    number: int
    rate_mbps: int
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret is: in a file or in an environment variable, one of the two. Never the secret itself."""

    file: str = ""
    variable: str = ""

    def __bool__(self) -> bool:
        """Whether there is one."""
        return bool(self.file or self.variable)

    def __str__(self) -> str:
        return self.file or f"${self.variable}"


NO_SECRET = Secret()


@dataclass(frozen=True, slots=True)
class SnmpUser:
    """A user of SNMPv3's user-based security model (RFC 3414). Without a key: no authentication, or no privacy."""

    name: str
    auth_protocol: SnmpAuthProtocol
    auth_key: Secret
    privacy_protocol: SnmpPrivacyProtocol
    privacy_key: Secret


Quirks = Mapping[str, bool | int | str]
"""What sets one switch apart from its family, as `lab.quirks` allows it."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A managed switch, and how to reach it. Secrets are known by where they are (`lab.credentials`).

    Login is by `password`, by `key_file`, or by a key of the running SSH agent; `enable` is the password for
    privileged mode, where the switch asks for another. `known_hosts_file` empty: the user's own. SNMP is v3 if there
    is an `snmp_user`, else v2c with the `community`; neither: no SNMP. `snmp_write` False: SNMP only reads.
    """

    name: str
    family: SwitchFamily
    model: str
    address: str
    ssh_port: int
    snmp_port: int
    user: str
    password_file: str
    community_file: str
    ports: tuple[Port, ...]
    password_variable: str = ""
    community_variable: str = ""
    enable: Secret = NO_SECRET
    key_file: str = ""
    ssh_agent: bool = False
    known_hosts_file: str = ""
    snmp_user: SnmpUser | None = None
    snmp_write: bool = True
    quirks: Quirks = field(default_factory=dict, hash=False)

    @property
    def password(self) -> Secret:
        """Where the password for the command line is."""
        return Secret(self.password_file, self.password_variable)

    @property
    def community(self) -> Secret:
        """Where the community of SNMP v2c is."""
        return Secret(self.community_file, self.community_variable)

    def port(self, name: str) -> Port:
        """The port of that name; KeyError if there is none."""
        for port in self.ports:
            if port.name == name:
                return port
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Host:
    """A node of the cluster: one NIC on the data network, one on the management network.

    `ssh_arguments` are for `ssh`, as Ansible passes them on; `key_file` empty: ssh's own choice. `pops_tags`: the node
    takes frames of any VLAN tag as if they had none, which switches need that untag a port in one VLAN only.
    `agent_python` runs agents there; one with CAP_NET_RAW lets them see frames without being root.
    """

    name: str
    user: str
    management_address: str
    ssh_port: int
    data_address: str
    mac: bytes
    interface: str
    rate_mbps: int
    mtu_byte: int
    ssh_arguments: str = ""
    key_file: str = ""
    pops_tags: bool = False
    agent_python: str = "python3"


@dataclass(frozen=True, slots=True, order=True)
class End:
    """One end of a cable: a port of a switch, or the NIC of a host."""

    device: str
    port: str

    def __str__(self) -> str:
        return f"{self.device}:{self.port}"


@dataclass(frozen=True, slots=True)
class Link:
    """A cable, or a LAG: several cables between two switches that work as one.

    `number` is a cable's line in cables.csv, from 1. A LAG has the number of its first cable, and its ends are the
    ports `lagN`. Only a `switchable` link may be turned off.
    """

    number: int
    a: End
    b: End
    rate_mbps: int
    kind: CableKind
    switchable: bool

    @property
    def name(self) -> str:
        """Both ends, as people write them on the command line."""
        return f"{self.a}--{self.b}"

    def other(self, device: str) -> End:
        """The end that is not at `device`."""
        return self.b if self.a.device == device else self.a


@dataclass(frozen=True, slots=True)
class Lag:
    """A static link aggregation group (802.1AX without LACP): `link` is what it is as one, `members` are its cables."""

    number: int
    link: Link
    members: tuple[Link, ...]

    @property
    def port(self) -> str:
        """Name of the aggregate's port at both switches."""
        return lag_port(self.number)

    def ports_at(self, switch: str) -> tuple[str, ...]:
        """Names of the member ports at one of the two switches."""
        return tuple(end.port for cable in self.members for end in (cable.a, cable.b) if end.device == switch)


def lag_port(number: int) -> str:
    """Name of the port that a LAG is at each of its switches."""
    return f"lag{number}"


@dataclass(frozen=True, slots=True)
class Outlet:
    """An outlet of a strip, from 1, and the device that it feeds."""

    strip: str
    number: int
    feeds: str


@dataclass(frozen=True, slots=True)
class Strip:
    """A metered power strip that speaks SNMP; one that only meters its inlets has no outlets.

    `unit`: which one of a daisy chain behind one address it is, from 0.
    """

    name: str
    family: StripFamily
    model: str
    address: str
    snmp_port: int
    community_file: str
    outlet_count: int
    community_variable: str = ""
    snmp_user: SnmpUser | None = None
    unit: int = 0

    @property
    def community(self) -> Secret:
        """Where the community of SNMP v2c is."""
        return Secret(self.community_file, self.community_variable)


@dataclass(frozen=True, slots=True)
class Lab:
    """A whole lab, in the order of its files. Networks are in CIDR form, `folder` is where the files are.

    `links` are all cables, those of LAGs too. `way_in` is in-band management, as the switch where the controller is
    plugged in and the VLAN that its frames are in; None: the switches are managed over a network of their own.
    `watts_note` is a sentence that stands beside every figure of watts; empty: none is needed.
    """

    name: str
    folder: str
    management_network: str
    data_network: str
    switches: tuple[Switch, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...]
    strips: tuple[Strip, ...]
    outlets: tuple[Outlet, ...]
    lags: tuple[Lag, ...] = ()
    way_in: tuple[str, int] | None = None
    watts_note: str = ""

    def switch(self, name: str) -> Switch:
        """The switch of that name; KeyError if there is none."""
        return {switch.name: switch for switch in self.switches}[name]

    def host(self, name: str) -> Host:
        """The host of that name; KeyError if there is none."""
        return {host.name: host for host in self.hosts}[name]

    def strip(self, name: str) -> Strip:
        """The strip of that name; KeyError if there is none."""
        return {strip.name: strip for strip in self.strips}[name]

    def trunk_cables(self) -> Iterator[Link]:
        """The cables between two switches, each by itself."""
        switches = {switch.name for switch in self.switches}
        return (link for link in self.links if {link.a.device, link.b.device} <= switches)

    def trunks(self) -> Iterator[Link]:
        """The links between two switches, as forwarding sees them: each LAG once, and the cables that are in none."""
        held = {cable.number: lag for lag in self.lags for cable in lag.members}
        for cable in self.trunk_cables():
            if cable.number not in held:
                yield cable
            elif held[cable.number].link.number == cable.number:
                yield held[cable.number].link

    def cables_of(self, link: Link) -> tuple[Link, ...]:
        """The cables that a link of `trunks` consists of."""
        return next((lag.members for lag in self.lags if lag.link == link), (link,))

    def links_of(self, device: str) -> Iterator[Link]:
        """The links with an end at that device."""
        return (link for link in self.links if device in (link.a.device, link.b.device))

    def find_link(self, text: str) -> Link:
        """The link named by its number, its name, an end (`sw1:gi1/0/11`) or its host (`n01`); KeyError if none."""
        hosts = {host.name for host in self.hosts}
        for link in self.links:
            names = {str(link.number), link.name, f"{link.b}--{link.a}", str(link.a), str(link.b)}
            if text in names | ({link.a.device, link.b.device} & hosts):
                return link
        raise KeyError(text)

    def find_trunk(self, text: str) -> Link:
        """The trunk of that name, as in `find_link`; each cable of a LAG is the LAG, by any end; KeyError if none."""
        for lag in self.lags:
            if text in {lag.link.name, f"{lag.link.b}--{lag.link.a}", str(lag.link.a), str(lag.link.b)}:
                return lag.link
        cable = self.find_link(text)
        return next((lag.link for lag in self.lags if cable in lag.members), cable)
