"""Searches for plans that lock a switch out: all small graphs, all entries, a switch that restarted, every step.

`python -m tests.support.labs.lockouts 4` searches all connected graphs of four switches, with every tree that the VLAN
of management can have; `python -m tests.support.labs.lockouts 3 2` those of three with up to two cables between two
switches, and `4 1 rest` only those labs in which no plan was under way. It prints what it found, and ends with status 1
if a plan locks a switch out.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, product

import networkx as nx

from eee_testbed.controller.model.state import Draft, State, factory_state, replay
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.rollback import Position, position, rollback_plan
from eee_testbed.controller.planning.steps import Plan, Step
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab
from tests.support.graph_lab import graph_lab
from tests.support.labs.management_walk import Lockout, first_lockout

Edges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A lab as found, and the plan that is asked for."""

    lab: Lab
    management: Management
    found: State
    place: Position
    target: State

    def plan(self) -> Plan:
        """The rollback; PlanError if it is refused."""
        return rollback_plan(self.lab, self.found, self.place, self.target, self.management)


def graphs(count: int, most: int = 1) -> Iterator[Edges]:
    """Every connected graph of so many switches with up to `most` cables between two; one of each shape."""
    pairs = list(combinations(range(count), 2))
    seen: list[nx.Graph] = []
    for cables in product(range(most + 1), repeat=len(pairs)):
        graph = nx.Graph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from((*pair, {"cables": own}) for pair, own in zip(pairs, cables, strict=True) if own)
        same = nx.isomorphism.numerical_edge_match("cables", 0)
        if nx.is_connected(graph) and not any(nx.is_isomorphic(graph, other, edge_match=same) for other in seen):
            seen.append(graph)
            yield tuple(pair for pair, own in zip(pairs, cables, strict=True) for _ in range(own))


def trees(edges: Edges) -> Iterator[frozenset[int]]:
    """Every tree that joins all switches, as places of its cables in `edges`."""
    count = 1 + max(map(max, edges))
    for chosen in combinations(range(len(edges)), count - 1):
        graph = nx.Graph(edges[place] for place in chosen)
        if len(graph) == count and nx.is_connected(graph):
            yield frozenset(chosen)


def on_tree(lab: Lab, tree: frozenset[int], *, stp: bool = False) -> State:
    """VLAN 1 on the cables of a tree, every other trunk shut."""
    state = factory_state(lab)
    shut = {
        (end.device, end.port)
        for place, link in enumerate(lab.trunks())
        for end in (link.a, link.b)
        if place not in tree
    }
    return State(
        {
            name: replace(
                switch,
                stp=stp,
                ports={port: replace(s, admin_up=(name, port) not in shut) for port, s in switch.ports.items()},
            )
            for name, switch in state.switches.items()
        }
    )


def routed(lab: Lab, start: State, management: Management) -> ProvedPlan:
    """The plan from a state to a shortest-path tree for each switch, VLAN 1 as it is."""
    after = multi_tree(lab, start, lambda topology, links: shortest_routes(topology, links, 1), keep=(1,))[1]
    return make_plan(lab, start, after, management)


def restarted(state: State, startup: State, names: Iterable[str]) -> State:
    """A lab some of whose switches came back with their startup configuration."""
    return State({**state.switches, **{name: startup.switches[name] for name in names}})


def after_restarts(lab: Lab, management: Management, home: State, startup: State, together: int = 1) -> Iterator[Case]:
    """A lab at rest; so many of its switches come back with their startup configuration."""
    for names in combinations([switch.name for switch in lab.switches], together):
        yield Case(lab, management, restarted(home, startup, names), Position(home, home, ()), home)


def during_an_apply(lab: Lab, management: Management, start: State, startup: State | None = None) -> Iterator[Case]:
    """A plan that stops after any round, or with one switch behind; with `startup`, one switch restarts then."""
    steps = routed(lab, start, management).steps
    names = [switch.name for switch in lab.switches]
    for sent in range(steps[-1].round + 1):
        for late in ("", *names):
            done = [step for step in steps if step.round < sent or (step.round == sent and step.change.switch != late)]
            state = replay((step.change for step in done), start)
            place = position(lab, start, steps, sent, sent - 1 if late else sent, backward=True)
            if startup is None:
                yield Case(lab, management, state, place, start)
            elif not late:
                yield from (Case(lab, management, restarted(state, startup, [n]), place, start) for n in names)


def passed(found: State, steps: Sequence[Step]) -> list[State]:
    """The states that the steps pass, in their order and, in each round, with any of its switches done first."""
    draft, states = Draft(found), [found]
    for _, group in groupby(steps, key=lambda step: step.round):
        changes = [step.change for step in group]
        names = sorted({change.switch for change in changes})
        before = states[-1]
        for size in range(1, len(names)):
            states += [
                replay((change for change in changes if change.switch in first), before)
                for first in combinations(names, size)
            ]
        states += [draft.apply(change).freeze() for change in changes]
    return states


def judge(case: Case) -> tuple[str, Lockout | None]:
    """`safe`, `refused` or `lock-out`, which is shown."""
    try:
        plan = case.plan()
    except PlanError:
        return "refused", None
    entry = case.management.entry, case.management.vid
    lockout = first_lockout(case.lab, passed(case.found, plan.steps), entry)
    return ("lock-out" if lockout else "safe"), lockout


def at_rest(lab: Lab, management: Management, tree: frozenset[int]) -> Iterator[tuple[str, Case]]:
    """A routed lab one or two of whose switches restart."""
    start = on_tree(lab, tree)
    home = replay(routed(lab, start, management).changes, start)
    for kind, startup, together in (
        ("factory settings at rest", factory_state(lab), 1),
        ("startup configuration at rest", start, 1),
        ("two switches at once", factory_state(lab), 2),
    ):
        for case in after_restarts(lab, management, home, startup, together):
            yield kind, case


def under_way(lab: Lab, management: Management, tree: frozenset[int]) -> Iterator[tuple[str, Case]]:
    """An apply from spanning tree to routes that fails, and one of whose switches restarts then."""
    start = on_tree(lab, tree, stp=True)
    for case in during_an_apply(lab, management, start):
        yield "failed apply", case
    for startup in (factory_state(lab), start):
        for case in during_an_apply(lab, management, start, startup):
            yield "restart during an apply", case


def all_cases(count: int, most: int, *, only_at_rest: bool = False) -> Iterator[tuple[str, Case]]:
    """Each kind of case, of every graph, tree and entry."""
    for edges in graphs(count, most):
        lab = graph_lab(count, edges, [1] * count)
        for switch, tree in product(lab.switches, trees(edges)):
            management = Management(switch.name, 1)
            yield from at_rest(lab, management, tree)
            if not only_at_rest:
                yield from under_way(lab, management, tree)


def main(arguments: Sequence[str]) -> int:
    """Search, print and count."""
    count, most = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 1
    found: Counter[tuple[str, str]] = Counter()
    for kind, case in all_cases(count, most, only_at_rest="rest" in arguments):
        verdict, lockout = judge(case)
        found[kind, verdict] += 1
        if lockout is not None:
            print(kind, [link.name for link in case.lab.trunks()], case.management.entry, lockout)
    for (kind, verdict), number in sorted(found.items()):
        print(f"{number:6} {kind}: {verdict}")
    return int(any(verdict == "lock-out" for _, verdict in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
