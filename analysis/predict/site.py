"""A lab for power and traffic models: which ports of which switches are cabled, to what, at which speed. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.named_links import link_named, require_between_switches

Role = Literal["node", "trunk"]


@dataclass(frozen=True, slots=True)
class SitePort:
    """A cabled port of a switch. `peer` is the device at the cable's other end, `link` and `kind` are of the cable."""

    port: str
    role: Role
    peer: str
    rate_mbps: int
    link: int
    kind: str


@dataclass(frozen=True, slots=True)
class Site:
    """`switches` by name, with their cabled ports; `families` by switch; `hosts` are the names of all nodes."""

    name: str
    switches: Mapping[str, tuple[SitePort, ...]]
    families: Mapping[str, str]
    hosts: tuple[str, ...]
    lab: Lab

    @classmethod
    def of(cls, lab: Lab) -> "Site":
        """From an inventory."""
        hosts = {host.name for host in lab.hosts}
        ports_by_switch: dict[str, list[SitePort]] = {switch.name: [] for switch in lab.switches}
        for link in lab.links:
            for end, other in ((link.a, link.b), (link.b, link.a)):
                if end.device in ports_by_switch:
                    role: Role = "node" if other.device in hosts else "trunk"
                    ports_by_switch[end.device].append(
                        SitePort(end.port, role, other.device, link.rate_mbps, link.number, link.kind)
                    )
        families = {switch.name: str(switch.family) for switch in lab.switches}
        ports = {name: tuple(ports) for name, ports in ports_by_switch.items()}
        return cls(lab.name, ports, families, tuple(host.name for host in lab.hosts), lab)

    def only(self, switches: Iterable[str]) -> "Site":
        """The same lab, restricted to the power of some of its switches."""
        kept = set(switches)
        ports = {name: ports for name, ports in self.switches.items() if name in kept}
        return replace(self, switches=ports)

    def links_named(self, names: Iterable[str]) -> tuple[Link, ...]:
        """Links to be turned off; LabError if there is none of a name, or it is a node's only one."""
        links = []
        for name in names:
            links.append(link_named(self.lab, name))
            require_between_switches(self.lab, links[-1])
        return tuple(links)


@dataclass(frozen=True, slots=True)
class Load:
    """Load of a network: how long its busiest link is busy, and how many switches a byte passes on average.

    `cut`: some of the nodes cannot reach each other.
    """

    busiest_s: float
    mean_switches: float
    cut: bool = False


def load_of(
    site: Site, byte_by_pair: Mapping[tuple[str, str], float], off: Iterable[Link] = (), speed_mbps: int | None = None
) -> Load:
    """Traffic over shortest paths, shared evenly by parallel cables, without the links of `off`.

    Simplification: of several shortest paths of a pair one is used, as multi-tree routing does, but not necessarily the
    same; `eeectl plan` shows the paths of an applied routing.
    """
    import networkx as nx  # noqa: PLC0415 - most questions need no path, and it takes a fifth of a second to load

    numbers = {link.number for link in off}
    network: nx.Graph[str] = nx.Graph()
    network.add_nodes_from([*site.families, *site.hosts])
    for link in site.lab.links:
        if link.number not in numbers:
            rate = min(link.rate_mbps, speed_mbps or link.rate_mbps)
            rate_mbps = network.get_edge_data(link.a.device, link.b.device, {"rate_mbps": 0})["rate_mbps"]
            network.add_edge(link.a.device, link.b.device, rate_mbps=rate_mbps + rate)
    busy_s: dict[tuple[str, str], float] = {}
    passed = total = 0.0
    for (source, target), size_byte in byte_by_pair.items():
        if source == target or not size_byte:
            continue
        if not nx.has_path(network, source, target):
            return Load(float("inf"), 0.0, cut=True)
        path = nx.shortest_path(network, source, target)
        passed += size_byte * (len(path) - 2)
        total += size_byte
        for a, b in pairwise(path):
            rate = network.edges[a, b]["rate_mbps"]
            busy_s[a, b] = busy_s.get((a, b), 0.0) + 8 * size_byte / (rate * 1e6)
    return Load(max(busy_s.values(), default=0.0), passed / total if total else 1.0)
