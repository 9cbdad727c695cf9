"""A lab as a graph: switches, the cables between them, and where each host is plugged in. Frozen, no I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eee_testbed.lab.model import End, Host, Lab, Link


@dataclass(frozen=True, slots=True)
class Topology:
    """Orders are those of the inventory; everything that breaks a tie breaks it by them."""

    switches: tuple[str, ...]
    trunks: Mapping[int, Link]
    """Cables between switches, a LAG as one, by number."""

    cables: Mapping[int, tuple[Link, ...]]
    """Of each trunk the cables that it consists of: itself, or the members of a LAG."""

    lags: Mapping[int, int]
    """Of each trunk that is a LAG the LAG's number."""

    hosts: Mapping[str, Host]
    homes: Mapping[str, End]
    residents: Mapping[str, tuple[str, ...]]
    """Hosts of each switch; every switch has an entry."""

    @classmethod
    def of(cls, lab: Lab) -> "Topology":
        """The graph of a lab; a host without a cable to a switch has no home and no part in any plan."""
        names = tuple(switch.name for switch in lab.switches)
        switches = set(names)
        hosts = {host.name: host for host in lab.hosts}
        homes: dict[str, End] = {}
        residents: dict[str, list[str]] = {name: [] for name in names}
        for link in lab.links:
            for end in (link.a, link.b):
                far = link.other(end.device)
                if end.device in hosts and far.device in switches:
                    homes[end.device] = far
                    residents[far.device].append(end.device)
        trunks = {link.number: link for link in lab.trunks()}
        return cls(
            switches=names,
            trunks=trunks,
            cables={number: lab.cables_of(link) for number, link in trunks.items()},
            lags={lag.link.number: lag.number for lag in lab.lags},
            hosts={name: host for name, host in hosts.items() if name in homes},
            homes=homes,
            residents={name: tuple(host_names) for name, host_names in residents.items()},
        )

    def neighbours(self, links: Iterable[int]) -> dict[str, list[tuple[str, Link]]]:
        """For each switch its neighbours over the given trunks, by link number; a cable back to itself is left out."""
        near: dict[str, list[tuple[str, Link]]] = {name: [] for name in self.switches}
        for number in sorted(links):
            link = self.trunks[number]
            if link.a.device != link.b.device:
                near[link.a.device].append((link.b.device, link))
                near[link.b.device].append((link.a.device, link))
        return near

    def ways(self, start: str, links: Iterable[int]) -> dict[str, tuple[str, Link]]:
        """Breadth-first from `start`: for each switch reached, except itself, where it was reached from and by what."""
        near = self.neighbours(links)
        came: dict[str, tuple[str, Link]] = {}
        queue = [start]
        for switch in queue:
            for neighbour, link in near[switch]:
                if neighbour != start and neighbour not in came:
                    came[neighbour] = switch, link
                    queue.append(neighbour)
        return came
