"""The law of drivers for the two Dell dialects, on a toy switch that obeys the manuals' words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from eee_testbed.controller.drivers.driver import ASPECTS, Driver, Line
from eee_testbed.controller.drivers.fastpath.driver import DELL_N_SERIES, DELL_POWERCONNECT_62XX
from eee_testbed.controller.model.state import PortChange, PortState, State, SwitchState, diff, replay
from eee_testbed.lab.errors import NotExpressible, Unreadable
from tests.support.laws import law
from tests.support.switches.drawn_states import VIDS, between, targets
from tests.support.switches.text_back import put_text_back, text_of
from tests.support.switches.toy_dell import ToyDell, ToyPort

ALL = frozenset(ASPECTS)
DIALECTS: list[tuple[Driver, bool]] = [(DELL_POWERCONNECT_62XX, True), (DELL_N_SERIES, False)]
pytestmark = pytest.mark.parametrize(("driver", "old"), DIALECTS, ids=["62xx", "n-series"])


def read(toy: ToyDell) -> SwitchState:
    return toy.driver.parse(toy.switch, ALL, toy.ask(toy.driver.queries(toy.switch, ALL)), None)


@st.composite
def start_ports(draw: Any, vids: list[int], *, old: bool) -> ToyPort:
    """A port from which general mode can be reached: in it, as from the factory, shut, or with lines that wait."""
    port = ToyPort(shut=draw(st.booleans()), stp=draw(st.booleans()), eee=not old and draw(st.booleans()))
    port.mode = draw(st.sampled_from(["access", "general", "trunk"]))
    some = st.sets(st.sampled_from(vids))
    if port.mode == "general":
        port.general = {vid: draw(st.booleans()) for vid in draw(some)}
        port.pvid = draw(st.sampled_from(vids))
        port.tagged_only, port.filters = draw(st.booleans()), draw(st.booleans())
        return port
    if port.mode == "access":
        port.access = draw(st.sampled_from(vids)) if port.shut or not old else 1
    else:
        port.trunk = draw(some) | {1}
        port.shut = port.shut or old
    if not old:
        waiting = {1} | (port.trunk if port.mode == "trunk" else {port.access})
        port.general = {vid: draw(st.booleans()) for vid in draw(st.sets(st.sampled_from(sorted(waiting))))}
        port.pvid = draw(st.sampled_from(vids))
        port.tagged_only = draw(st.booleans())
    return port


@law(25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_rendered_leads_from_before_to_after(driver: Driver, old: bool, data: Any) -> None:  # noqa: FBT001
    toy = ToyDell(driver, old=old)
    toy.vids |= data.draw(st.sets(st.sampled_from(VIDS)), label="vids")
    for name in toy.names:
        toy.ports[name] = data.draw(start_ports(sorted(toy.vids), old=old), label=name)
    toy.stp = data.draw(st.booleans())
    before, lines = read(toy), toy.running_config()
    wanted = text_of(driver, toy.switch, toy.ask)
    further: dict[str, Any] = {
        "admin_up": (True, False),
        "speed_mbps": (None, 10, 100) if old else (None, 100, 1000),
        "stp": (True, False),
    }
    further |= {} if old else {"eee": (True, False)}
    after = data.draw(targets(before, dict.fromkeys(toy.names, further), toy.names), label="after")
    state = State({"sw1": before})
    changes = diff(state, State({"sw1": after}))
    for change in changes:
        state = replay([change], state)
        for order in driver.render(toy.switch, [change]):
            toy.execute([order])
            for name, port in state.switches["sw1"].ports.items():
                wire = toy.ports[name].works(toy.vids)
                mine = isinstance(change, PortChange) and change.port == name
                seen = change if mine else PortChange("sw1", name, port, port)
                shut = toy.ports[name].shut and isinstance(change, PortChange) and not change.before.admin_up
                assert shut or between(seen, wire), (order, name)
    assert read(toy) == after
    toy.execute(driver.render(toy.switch, [change.inverse for change in reversed(changes)]))
    assert read(toy) == before
    met = [lambda port=port: port.works(toy.vids) for port in toy.ports.values()]  # type: ignore[misc]
    shut = [port.shut for port in toy.ports.values()]
    frames = lambda: [None if off else works() for off, works in zip(shut, met, strict=True)]  # noqa: E731
    put_text_back(driver, toy.switch, toy.ask, toy.execute, wanted, frames)
    assert read(toy) == before
    assert toy.running_config() == lines


def test_a_change_of_mode_through_vlan_1_is_refused_while_frames_pass(driver: Driver, old: bool) -> None:  # noqa: FBT001
    toy = ToyDell(driver, old=old)
    toy.vids |= {11}
    toy.ports[toy.names[0]] = ToyPort(access=11)
    if old:
        with pytest.raises(Unreadable, match="passes through VLAN 1: shut it first"):
            read(toy)
        toy.ports[toy.names[0]].shut = True
    assert read(toy).ports[toy.names[0]].untagged_vids == {11}


def test_trunks_that_join_every_vlan(driver: Driver, old: bool) -> None:  # noqa: FBT001
    toy = ToyDell(driver, old=old)
    toy.ports[toy.names[0]] = ToyPort(mode="trunk", trunk={1, 99}, shut=True)
    if old:
        assert read(toy).ports[toy.names[0]].tagged_vids == {1}
    else:
        with pytest.raises(Unreadable, match="would join every new VLAN"):
            read(toy)


def test_a_port_leaves_its_lag_and_joins_it_as_it_was(driver: Driver, old: bool) -> None:  # noqa: FBT001
    toy = ToyDell(driver, old=old)
    for port in (toy.ports[name] for name in toy.names[1:3]):
        port.lag, port.lag_mode = 1, "active"
    start = read(toy)
    name = toy.names[2]
    up = start.ports[name]
    assert up == PortState(lag=1, lag_mode="active", flow_control=True)
    shut = replace(up, admin_up=False)
    out = replace(shut, lag=None, lag_mode="")
    for port in (shut, out, shut, up, out, up):
        now = read(toy)
        toy.execute(driver.render(toy.switch, (PortChange("sw1", name, now.ports[name], port),)))
        assert read(toy) == replace(now, ports={**now.ports, name: port})


def test_what_the_dells_cannot_say(driver: Driver, old: bool) -> None:  # noqa: FBT001
    toy = ToyDell(driver, old=old)
    wrong = [PortState(flow_control=True), PortState(hold_us=600), PortState(speed_mbps=10_000)]
    for after in [*wrong, *([PortState(eee=True)] if old else [])]:
        with pytest.raises(NotExpressible, match=toy.family):
            driver.render(toy.switch, [PortChange("sw1", toy.names[0], PortState(), after)])


def test_save_identity_and_refusals(driver: Driver, old: bool) -> None:  # noqa: FBT001
    toy = ToyDell(driver, old=old)
    (save,) = driver.save(toy.switch)
    assert isinstance(save, Line)
    toy.execute([save])
    assert toy.saved == toy.running_config()
    assert driver.refusal(save, "\n\nConfiguration Not Saved!\n")
    who = driver.identity(toy.switch, toy.ask(driver.identity_queries(toy.switch)))
    assert who.model == ("PowerConnect 6224P" if old else "Dell Networking N2024")
    assert who.firmware == ("3.3.7.3" if old else "6.2.7.2")
    assert driver.refusal(Line("x"), toy.type("shizzle"))
    toy.execute([Line("configure")])
    assert toy.type("interface ethernet 1/g1" if old else "interface Gi1/0/1") == ""
    shown = toy.type("switchport general allowed vlan add 1 tagged")
    assert bool(driver.refusal(Line("x"), shown)) == old  # of another mode
    toy.type("switchport mode general")
    shown = toy.type("switchport general allowed vlan add 1 tagged")
    assert ("Warning" in shown) == old
    assert not driver.refusal(Line("x"), shown)
    assert driver.eee(toy.switch, {}) if old else driver.eee_queries(toy.switch)
