"""Whether flow control (802.3x) can stop a lab for ever: channels of its trees that wait for each other. Pure.

Every plan is judged by the state that it ends in (`controller.planning.proof`). Simplification: not by the moment in
which hosts move from some trees to others. For the milliseconds in which frames of both are under way, a circle over
old and new trees together is possible; a run of frames that never ends after a plan would show it.
"""

from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.desired import live_trees
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.regulation.deadlock import cycle_of, dependencies
from eee_testbed.regulation.network import Channel, Network, Ways, tree_ways

_SHORTEST_CIRCLE = 3
"""Trunks of the smallest circle: of two channels that follow each other on a tree, none leads back to a switch."""


def waiting_circle(lab: Lab, state: State) -> tuple[Channel, ...]:
    """Channels that would wait for each other in a circle, each for the one behind it; empty if none do.

    A trunk pauses its sender if flow control is on at both ends, on any of its cables. Only VLANs that are trees of a
    plan, and that hosts send into, are looked at.
    """
    topology = Topology.of(lab)

    def pauses(number: int) -> bool:
        return any(
            all(state.port(end.device, end.port).flow_control for end in (cable.a, cable.b))
            for cable in topology.cables[number]
        )

    pausing = frozenset(filter(pauses, topology.trunks))
    if len(pausing) < _SHORTEST_CIRCLE:
        return ()
    network = Network.of(topology)
    live = live_trees(lab, state)
    trees: dict[tuple[str, int], Ways] = {}
    for end in topology.homes.values():
        port = state.port(end.device, end.port)
        if port.admin_up and port.pvid in live and (end.device, port.pvid) not in trees:
            trees[end.device, port.pvid] = tree_ways(network, end.device, live[port.pvid])
    return cycle_of(dependencies(list(trees.values()), pausing.__contains__))


def require_no_circle(lab: Lab, state: State) -> None:
    """PlanError that shows the circle, if there is one."""
    _refuse(lab, waiting_circle(lab, state))


def require_no_new_circle(lab: Lab, before: State, after: State) -> None:
    """PlanError that shows the circle if `after` has one and `before` has none: a plan may leave what it found."""
    circle = waiting_circle(lab, after)
    if circle and not waiting_circle(lab, before):
        _refuse(lab, circle)


def _refuse(lab: Lab, circle: tuple[Channel, ...]) -> None:
    if not circle:
        return
    topology = Topology.of(lab)
    around = [*(sender for _, sender in circle), circle[0][1]]
    names = ", ".join(topology.trunks[number].name for number, _ in circle)
    raise PlanError(
        f"with flow control (802.3x) on, full switches could wait for each other forever ({' -> '.join(around)} over "
        f"{names}): choose trees without this circle, such as one tree, or turn flow control off there."
    )
