"""Multi-tree routing as VLANs: the tree of each VLAN, the VLAN of each host's frames, and static entries.

Trees are sets of cables, by their number in the inventory. Frozen values without I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eee_testbed.controller.model.state import StaticTable


@dataclass(frozen=True, slots=True)
class Tree:
    """Cables that connect all switches with hosts without a loop; the paths are shortest from `root`."""

    root: str
    links: frozenset[int]


@dataclass(frozen=True, slots=True)
class Route:
    """Hosts that send over one tree. All of them are plugged into the tree's root, except in hand-written trees."""

    hosts: tuple[str, ...]
    tree: Tree


@dataclass(frozen=True, slots=True)
class Vlan:
    """A VLAN and its cables; `roots` are the switches whose hosts send into it."""

    vid: int
    links: frozenset[int]
    roots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VlanPlan:
    """All VLANs of a lab, the VLAN that each host's frames take (its port's PVID), and static entries.

    `statics` maps switch, VID, MAC address to the port; these prevent endless flooding.
    """

    vlans: tuple[Vlan, ...]
    pvids: Mapping[str, int]
    statics: Mapping[str, Mapping[int, StaticTable]]


@dataclass(frozen=True, slots=True)
class PathLengths:
    """Switches on the path between two hosts.

    `mean_switches` is the paper's average distance (Koibuchi 2011, Table 2): over all ordered pairs of hosts, a host
    paired with itself included, where both at one switch count 1.
    """

    mean_switches: float
    longest_switches: int
