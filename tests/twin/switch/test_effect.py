"""Effects on the real engine: from any configuration to any other, the engine holds exactly the new one."""

from typing import Any

import pytest
from eee_engine import VirtualEngine
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.twin.switch.effect import PortEffect, SwitchEffect, VlanEffect, apply_effect
from tests.support.laws import law

PORTS, LAGS, VIDS = (1, 2, 3, 4), (5, 6), (1, 11, 12)
MACS = (bytes.fromhex("02ee00000001"), bytes.fromhex("02ee00000002"))


@st.composite
def effects(draw: Any) -> SwitchEffect:
    joined = {p: draw(st.sampled_from((None, *LAGS))) for p in PORTS}
    vids = draw(st.sets(st.sampled_from(VIDS), min_size=1))
    free = [p for p in (*PORTS, *LAGS) if joined.get(p) is None]
    vlans = {}
    for vid in vids:
        members = draw(st.sets(st.sampled_from(free))) if free else set()
        untagged = draw(st.sets(st.sampled_from(sorted(members)))) if members else set()
        vlans[vid] = VlanEffect(frozenset(members), frozenset(untagged))
    ports = {
        p: PortEffect(
            admin_up=draw(st.booleans()),
            advertised_mbps=draw(st.sampled_from(((1000,), (10, 100, 1000), (100,)))),
            flow_control=draw(st.booleans()),
            eee=draw(st.booleans()),
            pvid=draw(st.sampled_from(sorted(vids))),
            acceptable=draw(st.sampled_from(("all", "tagged", "untagged"))),
            ingress_filtering=draw(st.booleans()),
        )
        for p in (*PORTS, *LAGS)
    }
    keys = st.tuples(st.sampled_from(sorted(vids)), st.sampled_from(MACS))
    statics = draw(st.dictionaries(keys, st.sampled_from(free or LAGS), max_size=3))
    lags = {lag: tuple(p for p in PORTS if joined[p] == lag) for lag in LAGS}
    return SwitchEffect(ports, vlans, statics, lags, float(draw(st.integers(10, 400))))


@pytest.mark.slow
@given(st.lists(effects(), min_size=1, max_size=4))
@law(150)
def test_the_engine_ends_up_with_the_last_effect(chain: list[SwitchEffect]) -> None:
    engine = VirtualEngine(seed=1)
    handle = engine.add_switch(
        "sw", phys=["1000BASE-T"] * 4, port_names=list("abcd"), base_mac=bytes(6), lag_count=len(LAGS)
    )
    engine_port = dict(enumerate((*handle["ports"], *handle["lags"]), 1))
    switch, before = handle["switch"], None
    for effect in chain:
        apply_effect(engine, switch, engine_port, before, effect)
        before = effect
    wanted = chain[-1]
    assert {v: (sorted(m), sorted(u)) for v, (m, u) in engine.vlans(switch).items()} == {
        vid: (sorted(engine_port[m] for m in vlan.members), sorted(engine_port[u] for u in vlan.untagged))
        for vid, vlan in wanted.vlans.items()
    }
    assert {(e["vid"], e["mac"]): e["port"] for e in engine.fdb(switch)} == {
        key: engine_port[port] for key, port in wanted.statics.items()
    }
    for number, port in wanted.ports.items():
        now = engine.port(engine_port[number])
        assert (now["pvid"], now["acceptable"], now["ingress_filtering"]) == (
            port.pvid,
            port.acceptable,
            port.ingress_filtering,
        )
        if number in PORTS:
            assert (now["admin_up"], now["eee_admin"]) == (port.admin_up, port.eee)
            assert tuple(now["advertised_mbps"]) == port.advertised_mbps
            lag = next((engine_port[n] for n, members in wanted.lags.items() if number in members), None)
            assert now["lag"] == lag
