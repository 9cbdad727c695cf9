"""Plans for Linux switches ask for nothing that the kernel refuses: whatever order, on the way there and back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count, groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.drivers.driver import ASPECTS, Line, Show
from eee_testbed.controller.drivers.linux_bridge.driver import FAMILY
from eee_testbed.controller.model.lag_ports import with_lag_ports
from eee_testbed.controller.model.port_forms import without_bare_pvid
from eee_testbed.controller.model.state import (
    Change,
    Draft,
    PortChange,
    PortState,
    State,
    StaticsChange,
    diff,
    factory_state,
    replay,
)
from eee_testbed.controller.planning.limits import abilities_of
from eee_testbed.controller.planning.plan import invert, make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.controller.planning.wishes import LinkOff, LinkOn, LinkSpeed, SetUpLag, TakeDownLag
from eee_testbed.lab.model import End, Host, Lab, Link, Port, Switch
from tests.support.graph_lab import graph_lab
from tests.support.switches.toy_ethtool import Nic
from tests.support.switches.toy_linux import ToyLinux

NAMES = ("sw1", "sw2", "sw3", "sw4")


def linux_lab() -> Lab:
    """Each switch cabled to each other and with two hosts."""
    free = {name: count(1) for name in NAMES}
    pairs = [(name, f"{name}h{n}") for name in NAMES for n in (1, 2)]
    ends = [(End(name, f"swp{next(free[name])}"), End(host, "eth0")) for name, host in pairs]
    ends += [(End(a, f"swp{next(free[a])}"), End(b, f"swp{next(free[b])}")) for a, b in combinations(NAMES, 2)]
    switches = []
    for name in NAMES:
        ports = tuple(Port(name, f"swp{n}", n, 1000) for n in range(1, next(free[name])))
        switches.append(Switch(name, "linux_bridge", "", "127.0.0.1", 22, 161, "root", "", "", ports))
    return Lab(
        name="linux",
        folder="",
        management_network="127.0.0.0/8",
        data_network="198.18.0.0/24",
        switches=tuple(switches),
        hosts=tuple(
            Host(host, "root", "127.0.0.1", 22, f"198.18.0.{n}", bytes((2, 0, 0, 0, 0, n)), "eth0", 1000, 1500)
            for n, (_, host) in enumerate(pairs, 1)
        ),
        links=tuple(Link(n, a, b, 1000, "copper", switchable=True) for n, (a, b) in enumerate(ends, 1)),
        strips=(),
        outlets=(),
    )


LAB = linux_lab()
CAN = abilities_of(LAB, lambda _: FAMILY.driver.capabilities)


def require_taken(start: State, changes: Sequence[Change]) -> State:
    """What the kernel wants: no PVID without its VLAN, entries set and deleted only where the port is a member."""
    draft = Draft(start)
    for change in changes:
        match change:
            case PortChange():
                assert change.after == without_bare_pvid(change.after)
            case StaticsChange():
                entries = set(change.before.items()) ^ set(change.after.items())
                for _, port in entries:
                    assert change.vid in draft.ports[change.switch][port].vids, change
        draft.apply(change)
        FAMILY.driver.render(LAB.switch(change.switch), [change])
    return draft.freeze()


def there_and_back(start: State, plan: Plan) -> State:
    end = require_taken(start, plan.changes)
    back = invert(LAB, start, plan)
    assert diff(require_taken(end, back.changes), start) == ()
    return end


@pytest.mark.parametrize("statics", ["needed", "all"])
def test_plans_and_their_ways_back_are_taken(statics: str) -> None:
    factory = factory_state(LAB)
    _, aim = multi_tree(LAB, factory, shortest_routes, statics=statics, abilities=CAN)  # type: ignore[arg-type]
    trees = there_and_back(factory, make_plan(LAB, factory, aim, abilities=CAN))
    link = next(iter(LAB.trunks()))
    off = there_and_back(trees, plan_for(Site(LAB, abilities=CAN), trees, LinkOff(link.name)))
    there_and_back(off, plan_for(Site(LAB, abilities=CAN), off, LinkOn(link.name)))
    there_and_back(trees, plan_for(Site(LAB, abilities=CAN), trees, LinkSpeed((link.name,), 100)))
    _, other = multi_tree(LAB, trees, one_tree, statics=statics, abilities=CAN)  # type: ignore[arg-type]
    there_and_back(trees, make_plan(LAB, trees, other, abilities=CAN))


def carry_out(lab: Lab, toys: Mapping[str, ToyLinux], start: State, plan: Plan) -> State:
    """Send a plan round by round to toys, and read each round back."""
    state = start
    for _, steps in groupby(plan.steps, key=lambda step: step.round):
        changes = [step.change for step in steps]
        for change in changes:
            for order in FAMILY.driver.render(lab.switch(change.switch), [change]):
                assert isinstance(order, Line)
                toys[change.switch].run(order.text)
        state = replay(changes, state)
        assert diff(observe(lab, toys), state) == ()
    return state


def observe(lab: Lab, toys: Mapping[str, ToyLinux]) -> State:
    driver, found = FAMILY.driver, {}
    for switch in lab.switches:
        queries = driver.queries(switch, frozenset(ASPECTS))
        answers = {query: toys[switch.name].run(query.command) for query in queries if isinstance(query, Show)}
        shown = driver.parse(switch, frozenset(ASPECTS), answers, None)
        found[switch.name] = with_lag_ports(lab, switch.name, shown, driver.capabilities)
    return State(found)


def test_a_lag_is_set_up_and_taken_down_by_plans() -> None:
    """From spanning tree with all cables up, to trees over the LAG, without it, and back."""
    graph = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1], lag_cables={0: 2})
    lab = replace(graph, switches=tuple(replace(switch, family="linux_bridge") for switch in graph.switches))
    toys = {switch.name: ToyLinux({port.name: Nic() for port in switch.ports}) for switch in lab.switches}
    start, lag = observe(lab, toys), lab.lags[0]
    plan = plan_for(Site(lab, abilities=CAN), start, SetUpLag(lag.link.name))
    state = carry_out(lab, toys, start, plan)
    assert [state.port("sw1", port).lag for port in lag.ports_at("sw1")] == [lag.number] * 2
    _, aim = multi_tree(lab, state, shortest_routes, abilities=CAN)
    trees = carry_out(lab, toys, state, make_plan(lab, state, aim, abilities=CAN))
    off = carry_out(lab, toys, trees, plan_for(Site(lab, abilities=CAN), trees, TakeDownLag(lag.link.name)))
    assert not any(name.startswith("bond") for name in toys["sw1"].nics)
    on = carry_out(lab, toys, off, plan_for(Site(lab, abilities=CAN), off, SetUpLag(lag.link.name)))
    assert all(port.admin_up for port in (on.port("sw1", name) for name in lag.ports_at("sw1"))) is False
    carry_out(lab, toys, on, plan_for(Site(lab, abilities=CAN), on, LinkOn(lag.link.name)))


vids = st.integers(1, 4)


@given(st.frozensets(vids), st.frozensets(vids), vids, st.sampled_from(("all", "tagged")))
def test_the_same_frames_get_in_without_a_bare_pvid(
    untagged: frozenset[int], tagged: frozenset[int], pvid: int, acceptance: str
) -> None:
    port = PortState(untagged_vids=untagged, tagged_vids=tagged - untagged, pvid=pvid, acceptance=acceptance)  # type: ignore[arg-type]
    held = without_bare_pvid(port)
    assert held.vids == port.vids
    assert without_bare_pvid(held) == held
    assert {v for v in range(1, 5) if _enters(port, v)} == {v for v in range(1, 5) if _enters(held, v)}


def _enters(port: PortState, vid: int) -> bool:
    """Whether an untagged frame gets into a VLAN by the port."""
    return port.acceptance == "all" and port.pvid == vid and vid in port.vids
