"""Networks to simulate: a topology's sizes, or a lab's inventory, in the form that the engine takes."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.topology import Topology as LabTopology
from eee_testbed.simulation.part import ChannelCycles, Form, Index, Part, Size, SmallSize

_MOST_DIMENSIONS: Final = 26
"""Of two routers each: no network is larger."""

Dimensions = Annotated[list[Size], Field(min_length=1, max_length=_MOST_DIMENSIONS)]
"""Routers in each dimension."""


class Torus(Part):
    """k-ary n-cube, or mesh: a ring, or a row, in each dimension."""

    kind: Literal["torus", "mesh"]
    """A mesh lacks the links around."""

    radix: Dimensions
    """Routers in each dimension."""

    concentration: SmallSize = 1
    """Nodes at each router."""

    trunk: SmallSize = 1
    """Parallel links between neighbours."""

    link_latency: ChannelCycles = 1
    """Cycles of a channel between routers."""

    def form(self) -> Form:
        """For the engine."""
        return {**self.model_dump(), "kind": "torus", "wraps": self.kind == "torus"}


class KAryTree(Part):
    """k-ary n-tree (Petrini, Vanneschi 1997): `levels` levels of switches, k to the power of `levels` nodes."""

    kind: Literal["k_ary_tree"]
    k: SmallSize
    """Children of each switch, and parents of each switch below the top."""

    levels: Annotated[int, Field(ge=1, le=_MOST_DIMENSIONS)]
    """Of switches."""

    link_latency: ChannelCycles = 1
    """Cycles of a channel between routers."""

    def form(self) -> Form:
        """For the engine."""
        parents = [1] + [self.k] * (self.levels - 1)
        return _tree([self.k] * self.levels, parents, self.link_latency)


class Tree(Part):
    """Extended generalised fat tree (Öhring et al. 1995): children and parents of each level, from the leaves up.

    Georgakoudis's tree of 4,608 nodes is `children: [24, 24, 8]` with `parents: [1, 24, 24]`.
    """

    kind: Literal["tree"]
    children: Dimensions
    """Of a switch of each level."""

    parents: Dimensions
    """Of a node, which is 1, of a leaf switch, and so on: as many numbers as `children`."""

    link_latency: ChannelCycles = 1
    """Cycles of a channel between routers."""

    @model_validator(mode="after")
    def _agrees(self) -> "Tree":
        if len(self.parents) != len(self.children):
            raise ValueError(
                f"{len(self.children)} levels have {len(self.parents)} numbers of parents: write as many parents as "
                "children, the first of them 1"
            )
        if self.parents[0] != 1:
            raise ValueError(f"a node has one parent, not {self.parents[0]}: write 1 as the first of parents")
        return self

    def form(self) -> Form:
        """For the engine."""
        return _tree(self.children, self.parents, self.link_latency)


class FatTree(Part):
    """Three-level fat tree of switches with `ports` ports (Al-Fares et al. 2008)."""

    kind: Literal["fat_tree"]
    ports: Annotated[int, Field(ge=2, le=1024, multiple_of=2)]
    """Of each switch."""

    link_latency: ChannelCycles = 1
    """Cycles of a channel between routers."""

    def form(self) -> Form:
        """For the engine."""
        half = self.ports // 2
        return _tree([half, half, self.ports], [1, half, half], self.link_latency)


class Dragonfly(Part):
    """Dragonfly (Kim et al. 2008): a group of one dimension is canonical, one of two has rows and columns."""

    kind: Literal["dragonfly"]
    concentration: SmallSize
    """Nodes at each router."""

    group: Dimensions
    """Routers in each dimension of a group."""

    global_links: SmallSize
    """Of each router."""

    groups: Size
    """Every two have the same number of links between them."""

    link_latency: ChannelCycles = 1
    """Cycles of a channel between routers."""
    global_latency: ChannelCycles | None = None
    """Cycles of a channel between groups; else those of all."""

    def form(self) -> Form:
        """For the engine."""
        return {**self.model_dump(exclude={"global_links"}, exclude_none=True), "global": self.global_links}


class HyperX(Part):
    """HyperX (Ahn et al. 2009); with equal sizes a flattened butterfly, with one dimension a complete graph."""

    kind: Literal["hyperx"]
    sizes: Dimensions
    """Routers in each dimension; all that differ in one coordinate are linked."""

    concentration: SmallSize = 1
    """Nodes at each router."""

    trunk: SmallSize = 1
    """Parallel links between two routers."""

    link_latency: ChannelCycles = 1
    """Cycles of a channel between routers."""

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()


class Graph(Part):
    """Any graph: the router of each node, and links between routers; parallel links are allowed."""

    kind: Literal["graph"]
    routers: Size
    """How many; their numbers begin with 0."""

    nodes: list[Index]
    """The router of each node."""

    links: list[tuple[Index, Index]]
    """The two routers of each link."""

    link_latency: ChannelCycles = 1
    """Cycles of a channel between routers."""

    def form(self) -> Form:
        """For the engine."""
        edges = [(one, other, self.link_latency) for one, other in self.links]
        return {"kind": "graph", "routers": self.routers, "nodes": self.nodes, "edges": edges}


class LabTree(Part):
    """Hosts of a lab, and the tree that what they send follows: a VLAN of multi-tree routing (Koibuchi et al. 2011)."""

    hosts: list[str]
    """Names; each host of the lab is in one tree."""

    links: list[Size]
    """Numbers of cables in cables.csv. Of a trunk of several cables the tree takes the first."""


class OfLab(Part):
    """The switches, hosts and trunks of a lab's inventory; every cable of a trunk is a link."""

    kind: Literal["lab"]
    lab: str
    """A lab's name or folder."""

    trees: list[LabTree] | None = None
    """For `routing: trees`, as `eeectl regulate` writes them into a run's levels."""

    off: list[Size] = Field(default_factory=list)
    """Trunks that are off: numbers of cables in cables.csv."""

    link_latency: ChannelCycles = 1
    """Cycles of a channel between routers."""

    def form(self) -> Form:
        """For the engine. InventoryError if the inventory is wrong, LabError if trees or trunks do not fit it."""
        topology = LabTopology.of(load_lab(find_lab(self.lab)))
        number = {name: index for index, name in enumerate(topology.switches)}
        unknown = sorted(
            {*self.off, *(link for tree in self.trees or () for link in tree.links)} - topology.trunks.keys()
        )
        if unknown:
            raise LabError(f"{self.lab} has no trunks {', '.join(map(str, unknown))}: take numbers of cables.csv.")
        trunks = [trunk for trunk in sorted(topology.trunks) if trunk not in self.off]
        cables = [
            (trunk, (number[link.a.device], number[link.b.device], self.link_latency))
            for trunk in trunks
            for link in topology.cables[trunk]
            if link.a.device != link.b.device
        ]
        nodes = [number[topology.homes[host].device] for host in topology.hosts]
        form: Form = {
            "kind": "graph", "routers": len(number), "nodes": nodes, "edges": [edge for _, edge in cables]
        }  # fmt: skip
        if self.trees is None:
            return form
        first = {trunk: index for index, (trunk, _) in reversed(list(enumerate(cables)))}
        return form | _trees(self.trees, first, list(topology.hosts))


def _trees(trees: list[LabTree], edge_of: Mapping[int, int], hosts: list[str]) -> Form:
    """The trees by their edges, and the tree of each host; LabError if a trunk is off or a host has no tree."""
    tree_of: dict[str, int] = {}
    for place, tree in enumerate(trees):
        lacking = [link for link in tree.links if link not in edge_of]
        if lacking:
            raise LabError(
                f"tree {place + 1} has trunks {', '.join(map(str, lacking))}, which are off: leave them out."
            )
        for host in tree.hosts:
            if tree_of.setdefault(host, place) != place:
                raise LabError(f"{host} is in trees {tree_of[host] + 1} and {place + 1}: name it in one.")
    homeless = [host for host in hosts if host not in tree_of]
    if homeless:
        raise LabError(f"{', '.join(homeless)} are in no tree: name each host of the lab in one.")
    return {
        "trees": [[edge_of[link] for link in tree.links] for tree in trees],
        "tree_of_node": [tree_of[host] for host in hosts],
    }


def _tree(children: list[int], parents: list[int], link_latency: int) -> Form:
    return {"kind": "tree", "children": children, "parents": parents, "link_latency": link_latency}


Network = Annotated[Torus | KAryTree | FatTree | Tree | Dragonfly | HyperX | Graph | OfLab, Field(discriminator="kind")]
