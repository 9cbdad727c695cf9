"""The law of the Linux driver: what its orders make of a toy switch is what it reads there afterwards."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.drivers.driver import ASPECTS, Answers, Aspect, Line, Query, Show, aspects_of
from eee_testbed.controller.drivers.linux_bridge.driver import FAMILY
from eee_testbed.controller.drivers.table import FAMILIES
from eee_testbed.controller.model.port_forms import without_bare_pvid
from eee_testbed.controller.model.state import (
    PortChange,
    PortState,
    State,
    StaticsChange,
    StpChange,
    SwitchState,
    VlanChange,
    diff,
    replay,
)
from eee_testbed.lab.errors import NotExpressible, Unreadable
from eee_testbed.lab.model import Port, Switch
from tests.support.laws import law
from tests.support.switches.lag_steps import lag_set_up, lag_taken_down
from tests.support.switches.toy_ethtool import Failed, Nic
from tests.support.switches.toy_linux import ToyLinux

PORTS = ("swp1", "swp2", "swp3", "swp4")
ALL = frozenset(ASPECTS)
DRIVER = FAMILY.driver


def a_switch(**quirks: bool | int | str) -> Switch:
    ports = tuple(Port("sw1", name, n, 1000) for n, name in enumerate(PORTS, 1))
    return Switch("sw1", "linux_bridge", "Debian", "127.0.0.1", 22, 161, "root", "", "", ports, quirks=quirks)


def a_toy(*, lag: bool = False) -> ToyLinux:
    nics = {name: Nic() for name in PORTS}
    if lag:
        nics["swp3"].master = nics["swp4"].master = "bond7"
        nics["bond7"] = Nic(modes=())
    return ToyLinux(nics)


def ask(toy: ToyLinux, queries: tuple[Query, ...]) -> Answers:
    return {query: toy.run(query.command) for query in queries if isinstance(query, Show)}


def read(
    toy: ToyLinux, switch: Switch, aspects: frozenset[Aspect] = ALL, base: SwitchState | None = None
) -> SwitchState:
    return DRIVER.parse(switch, aspects, ask(toy, DRIVER.queries(switch, aspects)), base)


vids = st.integers(1, 7)


@st.composite
def port_states(draw: st.DrawFn, *, physical: bool, hold: bool) -> PortState:
    inside = draw(st.frozensets(vids, max_size=6))
    untagged = draw(st.frozensets(st.sampled_from(sorted(inside)))) if inside else frozenset()
    eee = physical and draw(st.booleans())
    return without_bare_pvid(
        PortState(
            admin_up=draw(st.booleans()),
            speed_mbps=draw(st.sampled_from((None, 100, 1000))) if physical else None,
            eee=eee,
            hold_us=draw(st.integers(10, 900)) if eee and hold else None,
            untagged_vids=untagged,
            tagged_vids=inside - untagged,
            pvid=draw(vids),
            flow_control=physical and draw(st.booleans()),
        )
    )


@st.composite
def switch_states(draw: st.DrawFn, *, lag: bool, hold: bool) -> SwitchState:
    """States that a Linux switch can have; entries where a port is a member, as the kernel wants it."""
    ports = {}
    for name in PORTS:
        state = draw(port_states(physical=True, hold=hold))
        if lag and name in {"swp3", "swp4"}:
            fields = ("untagged_vids", "tagged_vids", "pvid", "acceptance")
            state = replace(state, **{f: getattr(PortState(), f) for f in fields}, lag=7)  # type: ignore[arg-type]
        ports[name] = state
    if lag:
        ports["lag7"] = draw(port_states(physical=False, hold=hold))
    statics: dict[int, dict[bytes, str]] = {}
    for name, port in ports.items():
        if port.lag is None and port.vids:
            for vid in draw(st.frozensets(st.sampled_from(sorted(port.vids)), max_size=2)):
                statics.setdefault(vid, {})[bytes((2, 0, 0, 0, 0, draw(st.integers(0, 3))))] = name
    held = frozenset[int]().union(*(port.vids for port in ports.values()))
    return SwitchState(ports, held | draw(st.frozensets(vids)) | {1}, statics, draw(st.booleans()))


@pytest.mark.parametrize(("lag", "hold"), [(False, False), (True, True)])
@given(data=st.data())
@law(30)
def test_orders_lead_from_any_state_to_any_other(*, data: st.DataObject, lag: bool, hold: bool) -> None:
    switch = a_switch(hold=True) if hold else a_switch()
    toy = a_toy(lag=lag)
    state = read(toy, switch)
    for _ in range(2):
        wanted = data.draw(switch_states(lag=lag, hold=hold))
        for change in diff(State({"sw1": state}), State({"sw1": wanted})):
            before, state = state, replay([change], State({"sw1": state})).switches["sw1"]
            for order in DRIVER.render(switch, [change]):
                assert isinstance(order, Line)
                assert DRIVER.refusal(order, toy.run(order.text)) == ""
            if not isinstance(change, PortChange | StaticsChange):
                assert read(toy, switch, aspects_of(change), before) == state
        assert read(toy, switch) == state == wanted


def test_a_lag_comes_to_be_with_its_first_port_and_goes_with_its_last() -> None:
    """A bond without ports that is there by another's hand is made anew."""
    switch, toy = a_switch(), a_toy()
    toy.nics["bond7"] = Nic(master="", vlans={5: set()}, modes=())
    toy.run("bridge vlan add dev br0 vid 3 self")
    bare = {"lag7": PortState()}
    state = read(toy, switch)
    state = replace(state, ports=state.ports | bare)
    for port, wanted in (*lag_set_up("swp3", "swp4"), *lag_taken_down("swp3", "swp4")):
        change = PortChange("sw1", port, state.ports[port], wanted)
        for order in DRIVER.render(switch, [change]):
            assert isinstance(order, Line)
            toy.run(order.text)
        before, state = state, replay([change], State({"sw1": state})).switches["sw1"]
        for found in (read(toy, switch), read(toy, switch, aspects_of(change), before)):
            assert replace(found, ports=bare | dict(found.ports)) == state, (port, wanted)
        has_members = any(held.lag == 7 for held in state.ports.values())
        assert ("lag7" in read(toy, switch).ports) is has_members
        assert not has_members or toy.nics["bond7"].master == "br0"
    assert "bond7" not in toy.nics


def test_a_factory_state_is_read() -> None:
    assert read(a_toy(), a_switch()) == SwitchState({name: PortState() for name in PORTS})
    assert FAMILIES["linux_bridge"].driver is DRIVER


def lines(change: PortChange | VlanChange | StaticsChange | StpChange, **quirks: bool) -> list[str]:
    return [order.text for order in DRIVER.render(a_switch(**quirks), [change]) if isinstance(order, Line)]


def test_a_host_port_of_many_trees_in_words() -> None:
    after = PortState(untagged_vids=frozenset({1, 11, 12, 13, 14}), pvid=14)
    assert lines(PortChange("sw1", "swp1", PortState(), after)) == [
        "bridge vlan add dev swp1 vid 14 pvid untagged && bridge vlan add dev swp1 vid 11-13 untagged"
    ]


def test_a_pvid_moves_in_one_command() -> None:
    """Nothing comes in untagged between two commands, so the new one must come first, and the old one not again."""
    one = PortState(untagged_vids=frozenset({11, 12}), pvid=11)
    assert lines(PortChange("sw1", "swp1", one, replace(one, pvid=12))) == [
        "bridge vlan add dev swp1 vid 12 pvid untagged"
    ]


def test_a_port_is_shut_first_and_opened_last() -> None:
    up, down = (
        PortState(),
        PortState(admin_up=False, untagged_vids=frozenset(), tagged_vids=frozenset({5}), acceptance="tagged"),
    )
    shut, opened = (lines(PortChange("sw1", "swp1", *pair)) for pair in ((up, down), (down, up)))
    assert shut[0].startswith("ip link set dev swp1 down && ")
    assert opened[0].endswith(" && ip link set dev swp1 up")


def test_a_vlan_that_its_last_port_leaves_exists_on() -> None:
    toy, switch = a_toy(), a_switch()
    toy.nics["swp1"].vlans[20] = set()
    before = read(toy, switch)
    assert before.vids == {1, 20}
    (order,) = lines(PortChange("sw1", "swp1", before.ports["swp1"], PortState()))
    toy.run(order)
    assert read(toy, switch).vids == {1, 20}
    toy.run(*lines(VlanChange("sw1", 20, before=True, after=False)))
    assert read(toy, switch).vids == {1}


def test_entries_of_a_port_that_has_left_are_flushed() -> None:
    toy, switch = a_toy(), a_switch()
    toy.run("bridge vlan add dev swp2 vid 5")
    entries = {bytes((2, 0, 0, 0, 0, 1)): "swp2"}
    toy.run(*lines(StaticsChange("sw1", 5, {}, entries)))
    toy.run("bridge vlan del dev swp2 vid 5")
    with pytest.raises(Failed):
        toy.run("bridge fdb del 02:00:00:00:00:01 dev swp2 master vlan 5")
    assert read(toy, switch).statics == {5: entries}
    toy.run(*lines(StaticsChange("sw1", 5, entries, {})))
    assert read(toy, switch).statics == {}


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        (PortChange("sw1", "swp1", PortState(), PortState(pvid=5)), "PVID without membership"),
        (PortChange("sw1", "swp1", PortState(), PortState(ingress_filtering=False)), "no ingress filtering"),
        (PortChange("sw1", "swp1", PortState(), PortState(stp=False)), "spanning tree on port swp1"),
        (
            PortChange("sw1", "swp1", PortState(), PortState(lag=2)),
            "change of the LAG of port swp1 while",
        ),
        (PortChange("sw1", "swp1", PortState(eee=True), PortState(eee=True, hold_us=60)), "hold time"),
        (PortChange("sw1", "lag7", PortState(), PortState(eee=True)), "EEE of the LAG lag7"),
        (VlanChange("sw1", 1, before=True, after=False), "VLAN 1"),
    ],
)
def test_what_the_kernel_cannot_hold_is_not_expressible(change: PortChange | VlanChange, feature: str) -> None:
    with pytest.raises(NotExpressible, match=feature):
        DRIVER.render(a_switch(), [change])


def test_a_port_leaves_its_bond_for_the_bridge_and_joins_it_again() -> None:
    toy, switch = a_toy(lag=True), a_switch()
    toy.nics["bond7"].vlans[5] = set()
    start = read(toy, switch)
    up = start.ports["swp4"]
    assert up == PortState(lag=7)
    shut = replace(up, admin_up=False)
    out = replace(shut, lag=None)
    for port in (shut, out, shut, up, out, up):
        now = read(toy, switch)
        for order in DRIVER.render(switch, [PortChange("sw1", "swp4", now.ports["swp4"], port)]):
            assert isinstance(order, Line)
            toy.run(order.text)
        assert read(toy, switch) == replace(now, ports={**now.ports, "swp4": port})
        assert toy.nics["swp4"].master == ("bond7" if port.lag else "br0")


def test_virtual_nics_have_neither_eee_nor_speed() -> None:
    toy, switch = a_toy(), a_switch()
    toy.nics["swp1"] = Nic(modes=())
    assert read(toy, switch).ports["swp1"] == PortState()
    eee = DRIVER.eee(switch, ask(toy, DRIVER.eee_queries(switch)))
    assert (eee["swp1"].supported, eee["swp2"].supported) == (False, True)
    with pytest.raises(Failed, match="not supported"):
        toy.run(*lines(PortChange("sw1", "swp1", PortState(), PortState(eee=True))))


def broken(toy: ToyLinux, replacement: Mapping[str, str]) -> Answers:
    answers = dict(ask(toy, DRIVER.queries(a_switch(), ALL)))
    for query in answers:
        if isinstance(query, Show):
            for start, text in replacement.items():
                if query.command.startswith(start):
                    answers[query] = text
    return answers


@pytest.mark.parametrize(
    ("start", "text"),
    [
        ("ip -j", "[]"),
        ("ip -j", "Device is busy"),
        ("ip -j", '[{"ifname": "br0"'),
        ("bridge -j vlan", '[{"ifname": "swp1", "vlans": [{"vlan": "eleven"}]}]'),
        ("bridge -j fdb", '[{"mac": "zz", "ifname": "swp1", "vlan": 1, "master": "br0", "state": "static"}]'),
        ("for p in", "bash: syntax error"),
    ],
)
def test_garbage_is_unreadable(start: str, text: str) -> None:
    with pytest.raises(Unreadable, match="sw1"):
        DRIVER.parse(a_switch(), ALL, broken(a_toy(), {start: text}), None)


def test_a_bridge_without_filtering_or_without_a_port_is_unreadable() -> None:
    toy = a_toy()
    toy.filtering = False
    with pytest.raises(Unreadable, match="vlan_filtering 1"):
        read(toy, a_switch())
    toy = a_toy()
    toy.nics["swp2"].master = ""
    with pytest.raises(Unreadable, match="swp2 is not in br0"):
        read(toy, a_switch())
    with pytest.raises(Unreadable, match="no bridge br7"):
        read(a_toy(), a_switch(bridge="br7"), frozenset({"stp"}))


RECORDED_LINKS = (
    '[{"ifindex":3,"link":"q1","ifname":"swp1","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":1500,'
    '"qdisc":"noqueue","master":"br0","operstate":"UP","linkmode":"DEFAULT","linkinfo":{"info_kind":"veth",'
    '"info_slave_kind":"bridge","info_slave_data":{"state":"learning","priority":32,"cost":2,"hairpin":false}}},'
    '{"ifindex":8,"ifname":"br0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"linkinfo":{"info_kind":"bridge",'
    '"info_data":{"forward_delay":200,"stp_state":1,"vlan_filtering":1,"vlan_protocol":"802.1Q"}}}]'
)
RECORDED_VLANS = (
    '[{"ifname":"swp1","vlans":[{"vlan":1,"flags":["Egress Untagged"]},{"vlan":12,"flags":["PVID","Egress Untagged"]},'
    '{"vlan":13}]},{"ifname":"br0","vlans":[{"vlan":1,"flags":["PVID","Egress Untagged"]},{"vlan":11}]}]'
)
RECORDED_ENTRIES = (
    '[{"mac":"02:00:00:00:00:01","ifname":"swp1","vlan":12,"flags":[],"master":"br0","state":"static"},'
    '{"mac":"66:1e:ad:5e:9b:c4","ifname":"swp1","vlan":12,"flags":[],"master":"br0","state":"permanent"},'
    '{"mac":"01:00:5e:00:00:01","ifname":"swp1","flags":["self"],"state":"permanent"},'
    '{"mac":"02:00:00:00:00:02","ifname":"swp1","vlan":12,"flags":["self"],"state":"static"}]'
)
RECORDED_NIC = (
    "== swp1\nSettings for swp1:\n\tSupports auto-negotiation: No\n\tSpeed: 10000Mb/s\n\tAuto-negotiation: off\n"
)


def test_a_recorded_session() -> None:
    """As iproute2 6.1 and ethtool 6.1 printed it on Debian's kernel 6.1, shortened; the last entry is made up."""
    switch = replace(a_switch(), ports=(Port("sw1", "swp1", 1, 10_000),))
    said = (RECORDED_LINKS, RECORDED_NIC + "netlink error: Operation not supported\n", RECORDED_VLANS, RECORDED_ENTRIES)
    eee = "== swp1\nnetlink error: Operation not supported\n"
    answers = dict(zip(DRIVER.queries(switch, ALL), (*said, eee), strict=True))
    assert DRIVER.parse(switch, ALL, answers, None) == SwitchState(
        {"swp1": PortState(untagged_vids=frozenset({1, 12}), tagged_vids=frozenset({13}), pvid=12)},
        frozenset({1, 11, 12, 13}),
        {12: {bytes((2, 0, 0, 0, 0, 1)): "swp1"}},
        stp=True,
    )
