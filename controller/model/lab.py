"""What a lab consists of: switches, hosts, cables, metered power strips. Frozen values without I/O.

Names are unique over a whole lab. Addresses are text in dotted form; a MAC address is six bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
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
StripFamily = Literal["apc_rpdu2", "servertech_sentry4", "gude"]
CableKind = Literal["copper", "dac", "fibre"]

RATES_MBPS = (10, 100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000)
"""Every rate of Ethernet that a port or cable may have."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a switch. `number` is its bridge port, from 1; `rate_mbps` the fastest that it can do."""

    switch: str
    name: str
    number: int
    rate_mbps: int


@dataclass(frozen=True, slots=True)
class Switch:
    """A managed switch, and how to reach it. Secrets stay in files: only their paths are known here."""

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

    def port(self, name: str) -> Port:
        """The port of that name; KeyError if there is none."""
        for port in self.ports:
            if port.name == name:
                return port
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Host:
    """A node of the cluster: one NIC on the data network, one on the management network."""

    name: str
    user: str
    management_address: str
    ssh_port: int
    data_address: str
    mac: bytes
    interface: str
    rate_mbps: int
    mtu_byte: int


@dataclass(frozen=True, slots=True, order=True)
class End:
    """One end of a cable: a port of a switch, or the NIC of a host."""

    device: str
    port: str

    def __str__(self) -> str:
        return f"{self.device}:{self.port}"


@dataclass(frozen=True, slots=True)
class Link:
    """A cable. `number` is its line in cables.csv, from 1; only a `switchable` one may be turned off by us."""

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
class Outlet:
    """An outlet of a strip, from 1, and the device that it feeds."""

    strip: str
    number: int
    feeds: str


@dataclass(frozen=True, slots=True)
class Strip:
    """A metered, switched power strip that speaks SNMP."""

    name: str
    family: StripFamily
    model: str
    address: str
    snmp_port: int
    community_file: str
    outlet_count: int


@dataclass(frozen=True, slots=True)
class Lab:
    """A whole lab, in the order of its files. Networks are in CIDR form, `folder` is where the files are."""

    name: str
    folder: str
    management_network: str
    data_network: str
    switches: tuple[Switch, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...]
    strips: tuple[Strip, ...]
    outlets: tuple[Outlet, ...]

    def switch(self, name: str) -> Switch:
        """The switch of that name; KeyError if there is none."""
        return {switch.name: switch for switch in self.switches}[name]

    def host(self, name: str) -> Host:
        """The host of that name; KeyError if there is none."""
        return {host.name: host for host in self.hosts}[name]

    def strip(self, name: str) -> Strip:
        """The strip of that name; KeyError if there is none."""
        return {strip.name: strip for strip in self.strips}[name]

    def trunks(self) -> Iterator[Link]:
        """The links between two switches."""
        switches = {switch.name for switch in self.switches}
        return (link for link in self.links if {link.a.device, link.b.device} <= switches)

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

    def outlets_of(self, device: str) -> Iterator[Outlet]:
        """The outlets that feed a device."""
        return (outlet for outlet in self.outlets if outlet.feeds == device)
