"""Which trees carry whose frames: policies that turn a topology into routes. Pure.

Every policy takes the numbers of the trunks that it may use, and works on any connected topology. A tree needs to
reach the switches that have hosts; branches that end at a switch without one are cut off. Same input, same trees.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from eee_testbed.controller.model.vlans import Route, Tree
from eee_testbed.lab.errors import NoTree, PlanError
from eee_testbed.lab.model import Link
from eee_testbed.lab.topology import Topology


class _Load:
    """How many pairs of hosts already send over each trunk, in each direction, to spread load over equal paths."""

    def __init__(self) -> None:
        self._pairs: defaultdict[tuple[int, str], int] = defaultdict(int)

    def cost(self, link: Link, sender: str) -> tuple[float, float, int, int]:
        ahead = self._pairs[link.number, sender]
        both = ahead + self._pairs[link.number, link.other(sender).device]
        return ahead / link.rate_mbps, both / link.rate_mbps, -link.rate_mbps, link.number

    def add(self, topology: Topology, tree: Tree, host_count: int) -> None:
        came = topology.ways(tree.root, tree.links)
        for there in came:
            pairs = host_count * len(topology.residents[there])
            at = there
            while at != tree.root:
                at, link = came[at]
                self._pairs[link.number, at] += pairs


def _homes(topology: Topology) -> tuple[str, ...]:
    return tuple(name for name in topology.switches if topology.residents[name])


def _levels(topology: Topology, root: str, links: Collection[int]) -> dict[str, int]:
    level = {root: 0}
    for there, (here, _) in topology.ways(root, links).items():
        level[there] = level[here] + 1
    return level


def _prune(topology: Topology, root: str, links: set[int]) -> frozenset[int]:
    """Cut off branches that end at a switch without hosts."""
    while True:
        near = topology.neighbours(links)
        bare = {
            found[0][1].number
            for name, found in near.items()
            if len(found) == 1 and name != root and not topology.residents[name]
        }
        if not bare:
            return frozenset(links)
        links -= bare


def shortest_tree(topology: Topology, root: str, links: Collection[int], load: _Load | None = None) -> Tree:
    """A tree of shortest paths from `root`, of equal ones the least loaded; NoTree if a host is out of reach."""
    load = load or _Load()
    level = _levels(topology, root, links)
    unreached = [name for name in _homes(topology) if name not in level]
    if unreached:
        raise NoTree(root, unreached)
    near = topology.neighbours(links)
    chosen: set[int] = set()
    for there, depth in level.items():
        if there != root:
            uplinks = [(here, link) for here, link in near[there] if level[here] == depth - 1]
            chosen.add(min(uplinks, key=lambda up: load.cost(up[1], up[0]))[1].number)
    return Tree(root, _prune(topology, root, chosen))


def shortest_routes(topology: Topology, links: Collection[int], trees_per_switch: int = 1) -> tuple[Route, ...]:
    """A shortest-path tree for each switch with hosts, spread over parallel links and equal paths.

    With more than one tree per switch its hosts are dealt out to them in turn, so that more parallel links carry
    traffic, at the price of more VLANs.
    """
    if trees_per_switch < 1:
        raise PlanError("a switch needs at least one tree: give a number of 1 or more.")
    load = _Load()
    routes = []
    for turn in range(trees_per_switch):
        for name in _homes(topology):
            hosts = topology.residents[name][turn::trees_per_switch]
            if hosts:
                tree = shortest_tree(topology, name, links, load)
                load.add(topology, tree, len(hosts))
                routes.append(Route(hosts, tree))
    return tuple(routes)


def star_routes(topology: Topology, links: Collection[int], roots: Sequence[str]) -> tuple[Route, ...]:
    """One shortest-path tree per given root; each switch takes that of the nearest root, of equals the least used."""
    if not roots or len(set(roots)) != len(roots) or not set(roots) <= set(topology.switches):
        names = ", ".join(topology.switches)
        raise PlanError(f"roots have to be one or more different switches: choose from {names}.")
    load = _Load()
    trees = []
    for root in roots:
        trees.append(shortest_tree(topology, root, links, load))
        load.add(topology, trees[-1], max(1, len(topology.hosts) // len(roots)))
    levels = [_levels(topology, tree.root, tree.links) for tree in trees]
    users: list[list[str]] = [[] for _ in trees]
    for name in _homes(topology):
        number = min(range(len(trees)), key=lambda n: (levels[n][name], len(users[n]), n))
        users[number] += topology.residents[name]
    return tuple(Route(tuple(hosts), tree) for hosts, tree in zip(users, trees, strict=True) if hosts)


def one_tree(topology: Topology, links: Collection[int], root: str | None = None) -> tuple[Route, ...]:
    """All hosts on one shortest-path tree; without `root` the switch nearest to all hosts is the root."""
    if root is None:
        root = min(topology.switches, key=lambda name: _remoteness(topology, name, links))
    return star_routes(topology, links, [root])


def _remoteness(topology: Topology, root: str, links: Collection[int]) -> tuple[int, int]:
    level = _levels(topology, root, links)
    beyond = sum(len(topology.residents[name]) for name in topology.switches if name not in level)
    return beyond, sum(depth * len(topology.residents[name]) for name, depth in level.items())


def written_routes(topology: Topology, written: Iterable[tuple[Sequence[str], Collection[int]]]) -> tuple[Route, ...]:
    """Routes from a person's own trees, each given as the switches whose hosts send over it, and its trunks.

    PlanError if a tree has a loop or an unknown cable, or if a switch with hosts is in no tree or in two; NoTree if
    one does not reach every host.
    """
    routes = []
    users: dict[str, int] = {}
    for place, (senders, links) in enumerate(written, start=1):
        if not senders or not set(senders) <= set(topology.switches):
            raise PlanError(f"tree {place}: name the switches whose hosts send over it, as the inventory does.")
        if not set(links) <= topology.trunks.keys():
            raise PlanError(f"tree {place}: only cables between two switches can be part of a tree.")
        came = topology.ways(senders[0], links)
        unreached = [name for name in _homes(topology) if name not in came and name != senders[0]]
        if unreached:
            raise NoTree(senders[0], unreached)
        if {link.number for _, link in came.values()} != set(links):
            raise PlanError(f"tree {place}: its cables close a loop or lie apart; leave out what is not needed.")
        for name in senders:
            if users.setdefault(name, place) != place:
                raise PlanError(f"{name} is in trees {users[name]} and {place}: its hosts can send over one only.")
        hosts = tuple(host for name in dict.fromkeys(senders) for host in topology.residents[name])
        routes.append(Route(hosts, Tree(senders[0], frozenset(links))))
    left_out = [name for name in _homes(topology) if name not in users]
    if left_out:
        raise PlanError(f"the hosts of {', '.join(left_out)} are in no tree: add their switch to one.")
    return tuple(route for route in routes if route.hosts)
