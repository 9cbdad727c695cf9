"""The networks of Andujar et al. (2023), Tables 3 and 4 (torus, fat tree, dragonfly): counts that power models need.

Counts follow from the parameters in the paper's tables; a test compares all sixteen rows:

* torus of dimensions d1 x d2 x ..., a switch at each point; with trunks each direction has four links and each switch
  four nodes.
* k-ary n-tree. The last stage has no uplinks, so two of its switches are one, with all 2k ports used downwards:
  (n - 1) k^(n-1) + k^(n-1) / 2 switches, as printed.
* dragonfly of groups of `a` switches, `h` global links and `p` nodes at each: a h + 1 groups, all joined.

"Network ports" are all ports of all switches, including those towards nodes.

Mean hops are of shortest paths between two different nodes, all pairs being equally likely. The paper's routing is
adaptive in the torus and not minimal (UGAL) in the dragonfly, where a path may be up to twice as long; a simulation of
the network would show the difference.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Final, Literal

from eee_testbed.lab.errors import LabError

Family = Literal["torus", "fat tree", "dragonfly", "other"]


@dataclass(frozen=True, slots=True)
class Topology:
    """A network of equal switches: numbers of nodes, switches and ports of a switch; all ports are cabled.

    One of other switches has its cabled ports in `ports`.

    `mean_links` is the mean number of links between two different nodes, those of the nodes included. `label` is the
    paper's base name; empty for a network that is not in its tables.
    """

    name: str
    family: Family
    nodes: int
    switches: int
    ports_per_switch: int
    mean_links: float
    label: str = ""
    ports: int = 0

    @property
    def network_ports(self) -> int:
        """Ports of all switches, those towards nodes included."""
        return self.ports or self.switches * self.ports_per_switch


def torus(dimensions: Iterable[int], trunk: int = 1, label: str = "") -> Topology:
    """A torus with a switch at each point; `trunk` links in each direction, and as many nodes at each switch.

    >>> small = torus((4, 4, 4))
    >>> small.nodes, small.switches, small.network_ports
    (64, 64, 448)
    """
    sides = tuple(dimensions)
    if not sides or min(sides) < 3 or trunk < 1:
        raise ValueError("a torus has sides of 3 or more, and at least one link in each direction")
    switches = prod(sides)
    nodes = switches * trunk
    # On a ring of n, offsets 0..n-1 are at distance min(i, n - i); a pair may share its switch, but not its node.
    between = sum(sum(min(i, n - i) for i in range(n)) / n for n in sides) * nodes / (nodes - 1)
    suffix = f"-trunk{trunk}" if trunk > 1 else ""
    name = "torus-" + "x".join(map(str, sides)) + suffix
    return Topology(name, "torus", nodes, switches, 2 * len(sides) * trunk + trunk, 2 + between, label)


def fat_tree(arity: int, stages: int, label: str = "") -> Topology:
    """A k-ary n-tree whose last stage has half as many switches as the others.

    >>> small = fat_tree(4, 3)
    >>> small.nodes, small.switches, small.ports_per_switch
    (64, 40, 8)
    """
    if arity < 2 or arity % 2 or stages < 2:
        raise ValueError("a fat tree here has an even arity and at least two stages")
    nodes = arity**stages
    row = arity ** (stages - 1)
    # arity**s nodes lie below one switch of stage s: a message to one of them, not below stage s-1, passes 2 s links.
    links = sum(2 * stage * (arity**stage - arity ** (stage - 1)) for stage in range(1, stages + 1)) / (nodes - 1)
    switches = (stages - 1) * row + row // 2
    return Topology(f"fattree-k{arity}-n{stages}", "fat tree", nodes, switches, 2 * arity, links, label)


def dragonfly(group: int, global_links: int, nodes_each: int, label: str = "") -> Topology:
    """Groups of `group` switches, all joined within a group; each pair of groups is joined by one link.

    >>> small = dragonfly(4, 2, 2)
    >>> small.nodes, small.switches, small.ports_per_switch
    (72, 36, 7)
    """
    if group < 1 or global_links < 1 or nodes_each < 1:
        raise ValueError("a dragonfly has at least one switch in a group, one global link and one node at each")
    groups = group * global_links + 1
    switches = groups * group
    nodes = switches * nodes_each
    same_group = (group - 1) * nodes_each  # one local link
    # To another group: one global link, with a local one before it and after it unless the switch has that link itself.
    local = (group - 1) / group
    away = (groups - 1) * group * nodes_each * (1 + 2 * local)
    links = 2 + (same_group + away) / (nodes - 1)
    name = f"dragonfly-a{group}-h{global_links}-p{nodes_each}"
    return Topology(name, "dragonfly", nodes, switches, group - 1 + global_links + nodes_each, links, label)


TABLE_3: Final = (
    torus((4, 4, 4), label="3D"),
    torus((4, 4), trunk=4, label="2D"),
    fat_tree(4, 3, label="k4-n3"),
    fat_tree(8, 2, label="k8-n2"),
    dragonfly(4, 2, 2, label="D72"),
    dragonfly(4, 1, 4, label="D80"),
)
"""The paper's first case study: about 64 nodes."""

TABLE_4: Final = (
    torus((4, 4, 4, 4), label="4D"),
    torus((4, 4, 4), trunk=4, label="3D"),
    torus((5, 4, 4, 4), label="4D-320"),
    torus((5, 4, 4), trunk=4, label="3D-320"),
    fat_tree(4, 4, label="k4-n4"),
    fat_tree(16, 2, label="k16-n2"),
    fat_tree(18, 2, label="k18-n2"),
    dragonfly(8, 2, 2, label="D272"),
    dragonfly(6, 2, 4, label="D312"),
    dragonfly(6, 3, 3, label="D342"),
)
"""Its second case study: about 256 nodes."""

TOPOLOGIES: Final[Mapping[str, Topology]] = {one.name: one for one in (*TABLE_3, *TABLE_4)}
"""All sixteen by name."""


def topologies_named(name: str) -> tuple[Topology, ...]:
    """The topology of a name, or those of `table-3`, `table-4`, `all`; LabError names all of them."""
    groups = {"table-3": TABLE_3, "table-4": TABLE_4, "all": (*TABLE_3, *TABLE_4)}
    if name in groups:
        return groups[name]
    if name in TOPOLOGIES:
        return (TOPOLOGIES[name],)
    names_text = ", ".join((*TOPOLOGIES, *groups))
    raise LabError(f"no topology '{name}': use one of {names_text}, or lab:NAME or a simulation's FILE.yaml.")
