"""Where plans of tests begin: labs in a known state, and switches that can do everything."""

from collections.abc import Iterable
from dataclasses import replace

import networkx as nx

from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.state import State, factory_state
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.lab.model import Lab, Link

CAN = Capabilities(
    multi_untagged=True,
    eee_settable=True,
    hold_settable=True,
    flow_control_settable=True,
    static_entries=None,
    static_entries_per_port=None,
    vlans=None,
)


def tree_state(lab: Lab) -> State:
    """No spanning tree, VLAN 1 on one tree, every other trunk shut: how the shipped labs start."""
    state = factory_state(lab)
    graph = nx.MultiGraph()
    graph.add_nodes_from(switch.name for switch in lab.switches)
    shut: set[tuple[str, str]] = set()
    for link in lab.trunks():
        if nx.has_path(graph, link.a.device, link.b.device):
            shut |= {(end.device, end.port) for end in (link.a, link.b)}
        graph.add_edge(link.a.device, link.b.device)
    return State(
        {
            name: replace(
                switch,
                stp=False,
                ports={port: replace(s, admin_up=(name, port) not in shut) for port, s in switch.ports.items()},
            )
            for name, switch in state.switches.items()
        }
    )


def routed(lab: Lab) -> State:
    """From the factory, after `eeectl apply`."""
    start = factory_state(lab)
    return make_plan(lab, start, multi_tree(lab, start, shortest_routes)[1]).end


def named(links: Iterable[Link]) -> tuple[str, ...]:
    """Links as wishes name them."""
    return tuple(link.name for link in links)
