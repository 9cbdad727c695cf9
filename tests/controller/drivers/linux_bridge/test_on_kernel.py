"""The driver on a real kernel: plans of real planners, sent over SSH, and real frames over the trees that they make."""

import random
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby

import pytest

from eee_testbed.controller.applying.observe import observe_switch
from eee_testbed.controller.drivers.driver import Line, aspects_of
from eee_testbed.controller.drivers.linux_bridge.driver import FAMILY
from eee_testbed.controller.model.port_forms import without_bare_pvid
from eee_testbed.controller.model.state import (
    Change,
    PortChange,
    PortState,
    State,
    SwitchState,
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
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.controller.planning.wishes import LinkOff
from eee_testbed.controller.transports.switches import SwitchSession
from eee_testbed.lab.errors import Rejected
from eee_testbed.lab.model import Lab
from tests.support.qemu.machine import Machine
from tests.support.qemu.small_lab import login, reachable, small_lab, spare_switch
from tests.support.qemu.traffic import Traffic, missed, path
from tests.support.switches.lag_steps import Steps, lag_set_up, lag_taken_down

Sessions = Mapping[str, SwitchSession]
PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def lab(machine: Machine) -> Lab:
    return reachable(small_lab(), machine)


@pytest.fixture(scope="module")
def sessions(lab: Lab) -> Iterator[Sessions]:
    made = {switch.name: SwitchSession(switch, FAMILY.driver, patience_s=PATIENCE_S) for switch in lab.switches}
    yield made
    for session in made.values():
        session.close()


def observe(lab: Lab, sessions: Sessions) -> State:
    with ThreadPoolExecutor() as pool:
        shown = pool.map(lambda switch: observe_switch(switch, sessions[switch.name]), lab.switches)
        return State({switch.name: state for switch, state in zip(lab.switches, shown, strict=True)})


def read_back(lab: Lab, sessions: Sessions, changes: tuple[Change, ...], before: State) -> State:
    """The state before, with what the changes touch as it is now."""

    def look(name: str) -> SwitchState:
        aspects = frozenset(aspect for change in changes if change.switch == name for aspect in aspects_of(change))
        return observe_switch(lab.switch(name), sessions[name], aspects, before.switches[name])

    names = {change.switch for change in changes}
    with ThreadPoolExecutor() as pool:
        return State({**before.switches, **dict(zip(names, pool.map(look, names), strict=True))})


def send(lab: Lab, sessions: Sessions, changes: tuple[Change, ...]) -> None:
    """All switches at once, as an apply does."""

    def work(name: str) -> None:
        for order in FAMILY.driver.render(lab.switch(name), [change for change in changes if change.switch == name]):
            sessions[name].send(order)

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(work, name) for name in {change.switch for change in changes}]:
            done.result()


def walk(lab: Lab, sessions: Sessions, state: State, plan: Plan, traffic: Traffic) -> State:
    """Go through a plan; after each round all is as it should be, everybody reaches everybody, and nothing circles."""
    for _, steps in groupby(plan.steps, key=lambda step: step.round):
        changes = tuple(step.change for step in steps)
        send(lab, sessions, changes)
        before, state = state, replay(changes, state)
        assert diff(read_back(lab, sessions, changes, before), state) == ()
        everybody_reaches_everybody(traffic, at_once=not any(switch.stp for switch in state.switches.values()))
    return state


def everybody_reaches_everybody(traffic: Traffic, *, at_once: bool) -> None:
    """Exactly one copy each. A spanning tree may think first (its ports listen and learn for two seconds each)."""
    pairs = traffic.broadcasts() + traffic.all_pairs()
    deadline = time.monotonic() + PATIENCE_S
    while True:
        heard = traffic.send(pairs)
        assert max(heard.at_hosts.values(), default=0) <= 1, "a frame came twice"
        lost = missed(heard, pairs, traffic.lab.hosts)
        if not lost:
            return
        assert not at_once, f"lost: {sorted(lost)[:5]}"
        assert time.monotonic() < deadline, f"lost for {PATIENCE_S:g} s: {sorted(lost)[:5]}"


@pytest.mark.night
def test_a_multi_tree_plan_is_carried_out_and_carries_frames(machine: Machine, lab: Lab, sessions: Sessions) -> None:
    traffic = Traffic(machine, lab)
    abilities = abilities_of(lab, lambda _: FAMILY.driver.capabilities)
    start = observe(lab, sessions)
    assert diff(start, factory_state(lab)) == ()
    everybody_reaches_everybody(traffic, at_once=False)

    vlans, aim = multi_tree(lab, start, shortest_routes, abilities=abilities)
    plan = make_plan(lab, start, aim, abilities=abilities)
    assert walk(lab, sessions, start, plan, traffic) == aim == observe(lab, sessions)
    assert len({vlan.links for vlan in vlans.vlans}) == len(lab.switches)

    heard = traffic.send(traffic.broadcasts())
    for pair in traffic.broadcasts():
        vid, links = path(lab, vlans, pair)
        assert {key[1:]: copies for key, copies in heard.on_cables.items() if key[0] == pair} == {
            (link, vid): 1 for link in links
        }
    heard = traffic.send(traffic.all_pairs())
    assert heard.at_hosts == {(pair, pair[1]): 1 for pair in traffic.all_pairs()}, "lost, doubled, or flooded to others"
    for pair in traffic.all_pairs():
        vid, links = path(lab, vlans, pair)
        assert {key[1:]: copies for key, copies in heard.on_cables.items() if key[0] == pair} == {
            (link, vid): 1 for link in links
        }

    (link,) = (link for link in lab.trunks() if {link.a.device, link.b.device} == {"sw1", "sw2"})
    off = plan_for(Site(lab, abilities=abilities), aim, LinkOff(link.name))
    gone = walk(lab, sessions, aim, off, traffic)
    assert not any(link.number == number for (_, number, _) in traffic.send(traffic.all_pairs()).on_cables)

    assert walk(lab, sessions, gone, invert(lab, aim, off), traffic) == aim == observe(lab, sessions)


def any_state(lots: random.Random, before: SwitchState) -> SwitchState:
    """Settings of the spare switch that the kernel can hold; entries only where a port is a member."""
    vids = {1, *lots.sample(range(2, 12), 5)}
    ports = {}
    for name in before.ports:
        inside = lots.sample(sorted(vids), lots.randint(0, len(vids)))
        cut = lots.randint(0, len(inside))
        ports[name] = without_bare_pvid(
            PortState(
                admin_up=lots.random() < 0.7,
                untagged_vids=frozenset(inside[:cut]),
                tagged_vids=frozenset(inside[cut:]),
                pvid=lots.choice(sorted(vids)),
            )
        )
    statics: dict[int, dict[bytes, str]] = {}
    for name, port in ports.items():
        for vid in port.vids:
            if lots.random() < 0.5:
                statics.setdefault(vid, {})[bytes((2, 0, 0, 0, vid, lots.randint(1, 3)))] = name
    return SwitchState(ports, frozenset(vids), statics, stp=lots.random() < 0.5)


@pytest.mark.slow
def test_any_change_leads_where_it_says_and_a_saved_state_comes_back(machine: Machine) -> None:
    switch = login(spare_switch(), machine)
    session = SwitchSession(switch, FAMILY.driver, patience_s=PATIENCE_S)
    lots = random.Random(11)  # noqa: S311  # a seed, so that a failure comes back
    state = observe_switch(switch, session)
    first = state
    for _ in range(3):
        wanted = any_state(lots, state)
        changes = diff(State({switch.name: state}), State({switch.name: wanted}))
        for order in FAMILY.driver.render(switch, changes):
            session.send(order)
        assert observe_switch(switch, session) == wanted
        state = wanted
    for order in FAMILY.driver.save(switch):
        session.send(order)
    for order in FAMILY.driver.render(switch, diff(State({switch.name: state}), State({switch.name: first}))):
        session.send(order)
    assert observe_switch(switch, session) == first
    session.send(Line("sh -e /etc/eee-testbed/br0.sh"))
    assert observe_switch(switch, session) == state
    with pytest.raises(Rejected, match="Invalid argument"):
        session.send(Line("bridge fdb replace 02:00:00:00:00:09 dev swp1 master static vlan 4000"))
    session.close()


@pytest.mark.night
def test_a_lag_comes_to_be_with_its_first_port_is_saved_and_goes_with_its_last(machine: Machine) -> None:
    switch = login(spare_switch(), machine)
    session = SwitchSession(switch, FAMILY.driver, patience_s=PATIENCE_S)
    factory = SwitchState({port.name: PortState() for port in switch.ports})

    def reset() -> None:
        now = observe_switch(switch, session)
        for order in FAMILY.driver.render(switch, diff(State({switch.name: now}), State({switch.name: factory}))):
            session.send(order)
        assert observe_switch(switch, session) == factory

    reset()
    session.send(Line("bridge vlan add dev br0 vid 3 self"))
    bare = {"lag7": PortState()}
    state = replace(factory, ports=factory.ports | bare, vids=frozenset({1, 3}))

    def go(steps: Steps) -> SwitchState:
        now = state
        for port, settings in steps:
            change = PortChange(switch.name, port, now.ports[port], settings)
            for order in FAMILY.driver.render(switch, [change]):
                session.send(order)
            now = replay([change], State({switch.name: now})).switches[switch.name]
            found = observe_switch(switch, session)
            assert replace(found, ports=bare | dict(found.ports)) == now, (port, settings)
        return now

    state = go(lag_set_up("swp1", "swp2"))
    session.send(Line("ip -d link show bond7 | grep -q 'bond mode balance-xor .* xmit_hash_policy layer3+4'"))
    for order in FAMILY.driver.save(switch):
        session.send(order)
    set_up = observe_switch(switch, session)
    go(lag_taken_down("swp1", "swp2"))
    session.send(Line("! ip link show dev bond7 2>/dev/null"))
    session.send(Line("sh -e /etc/eee-testbed/br0.sh"))
    assert observe_switch(switch, session) == set_up
    go(lag_taken_down("swp1", "swp2"))
    reset()
    session.close()


@pytest.mark.slow
def test_what_the_kernel_says_that_it_is(machine: Machine) -> None:
    switch = login(spare_switch(), machine)
    session = SwitchSession(switch, FAMILY.driver, patience_s=PATIENCE_S)
    driver = FAMILY.driver
    identity = driver.identity(switch, session.ask(driver.identity_queries(switch)))
    assert identity.firmware.startswith("Linux ")
    assert identity.model
    eee = driver.eee(switch, session.ask(driver.eee_queries(switch)))
    assert {status.supported for status in eee.values()} == {False}  # virtual NICs have none
    session.close()
