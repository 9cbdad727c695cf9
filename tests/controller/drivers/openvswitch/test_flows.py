"""What the driver makes of answers that it can and cannot read; no Open vSwitch needed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.drivers import ethtool
from eee_testbed.controller.drivers.driver import Line, Show
from eee_testbed.controller.drivers.openvswitch.flows import ForeignFlowError, all_flows, edits, read_flows
from eee_testbed.controller.model.config_text import LostLine
from eee_testbed.controller.model.state import PortChange, PortState, StaticsChange, SwitchState
from eee_testbed.lab.errors import NotExpressible, Unreadable
from tests.support.switches.ovs_rack import DRIVER, ovs_lab

SWITCH = ovs_lab(1, (), (2,)).switches[0]
NUMBERS = {"h1": 1, "h2": 2}
vids = st.frozensets(st.integers(1, 4094), max_size=5)


@st.composite
def states(draw: st.DrawFn) -> SwitchState:
    ports = {}
    for name in NUMBERS:
        untagged = draw(vids)
        ports[name] = PortState(
            untagged_vids=untagged,
            tagged_vids=draw(vids) - untagged,
            pvid=draw(st.integers(1, 4094)),
            acceptance=draw(st.sampled_from(("all", "tagged"))),
            ingress_filtering=draw(st.booleans()),
        )
    macs = st.binary(min_size=6, max_size=6)
    table = st.dictionaries(macs, st.sampled_from(sorted(NUMBERS)), min_size=1, max_size=3)
    return SwitchState(ports, draw(vids), draw(st.dictionaries(st.integers(1, 4094), table, max_size=2)))


def printed(state: SwitchState) -> str:
    """As `ovs-ofctl --no-stats dump-flows` prints it."""
    lines = []
    for flow in all_flows(state, NUMBERS).values():
        table = f"table={flow.table}, " if flow.table else ""
        lines.append(f" cookie={flow.cookie:#x}, {table}{flow.match} actions={flow.actions}\n")
    return "".join(lines)


@given(state=states())
def test_flows_say_the_state(state: SwitchState) -> None:
    assert read_flows(printed(state), NUMBERS) == state


@given(state=states(), data=st.data())
def test_a_flow_less_or_other_is_never_the_same_state(state: SwitchState, data: st.DataObject) -> None:
    lines = printed(state).splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 1))
    try:
        found = read_flows("".join(lines[:place] + lines[place + 1 :]), NUMBERS)
    except ForeignFlowError:
        found = None  # most flows belong to others; an entry, a VLAN or an egress may stand alone
    assert found != state
    lines[place] = lines[place].replace("actions=", "actions=output:77,").replace("cookie=0xeee0", "cookie=0xeee1")
    with pytest.raises(ForeignFlowError):
        read_flows("".join(lines), NUMBERS)


@given(before=states(), after=states())
def test_edits_touch_nothing_that_stays(before: SwitchState, after: SwitchState) -> None:
    one, other = all_flows(before, NUMBERS), all_flows(after, NUMBERS)
    touched = "\n".join(edits(one, other))
    for key in one.keys() & other.keys():
        if one[key] == other[key]:
            assert one[key].adding not in touched
    assert not list(edits(one, one))


def test_a_change_is_one_command_and_a_long_one_fits_the_shell() -> None:
    (short,) = DRIVER.render(SWITCH, [PortChange("sw1", "h1", PortState(), replace(PortState(), pvid=7))])
    assert isinstance(short, Line)
    assert short.text.count("--bundle") == 1
    table = {number.to_bytes(6): "h1" for number in range(3000)}
    orders = DRIVER.render(SWITCH, [StaticsChange("sw1", 11, {}, table)])
    texts = [order.text for order in orders if isinstance(order, Line)]
    assert len(texts) > 1
    assert max(map(len, texts)) < 131_072
    assert sum(text.count("priority=200") for text in texts) == 3000


def test_a_lag_is_not_expressible() -> None:
    with pytest.raises(NotExpressible, match="lag1"):
        DRIVER.render(SWITCH, [PortChange("sw1", "lag1", PortState(), replace(PortState(), pvid=7))])


def answers(**other: str) -> Mapping[Any, str]:
    said = {
        "show": " 1(h1): addr:02:01\n     config:     PORT_DOWN\n 2(h2): addr:02:02\n     config:     0\n",
        "dump": printed(SwitchState({name: PortState() for name in NUMBERS})),
        "bridge": '{"data":[["br0","secure",["set",[]],false,true]],'
        '"headings":["name","fail_mode","controller","stp_enable","rstp_enable"]}',
        "port": '{"data":[["h1",["map",[["rstp-enable","false"]]]],["h2",["map",[]]]],'
        '"headings":["name","other_config"]}',
        "eee": "== h1\nnetlink error: Operation not supported\n== h2\nnetlink error: Operation not supported\n",
        "link": "".join(f"== {n}\nSettings for {n}:\nnetlink error: Operation not supported\n" for n in NUMBERS),
        **other,
    }
    keys = {"dump-flows": "dump", " show ": "show", "list Bridge": "bridge", "list Port": "port", "--show-eee": "eee"}
    every = frozenset({"link", "vlan", "statics", "stp", "energy"})
    found: dict[Any, str] = {}
    for query in DRIVER.queries(SWITCH, every):  # type: ignore[arg-type]
        assert isinstance(query, Show)
        found[query] = said[next((name for words, name in keys.items() if words in query.command), "link")]
    return found


EVERY: Any = frozenset({"link", "vlan", "statics", "stp", "energy"})


def test_answers_are_read() -> None:
    state = DRIVER.parse(SWITCH, EVERY, answers(), None)
    assert state == SwitchState({"h1": PortState(admin_up=False, stp=False), "h2": PortState()})


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"show": " 2(h1): addr:x\n     config:     0\n"}, "ofport_request"),
        ({"show": ""}, "h1 is missing on the switch"),
        ({"dump": " cookie=0x0, priority=0 actions=NORMAL\n"}, "untagged frames from h1, h2"),
        ({"dump": "ovs-ofctl: br0 is not a bridge or a socket"}, "not a bridge"),
        ({"bridge": "ovs-vsctl: no row"}, "no row"),
        ({"bridge": '{"data":[],"headings":["name"]}'}, "data"),
        (
            {"bridge": '{"data":[["standalone",["set",[]]]],"headings":["fail_mode","controller"]}'},
            "fail_mode to secure",
        ),
        ({"eee": "== h1\nethtool: command not found\n== h2\n"}, "not found"),
        ({"eee": "== h1\nnetlink error: Operation not supported\n"}, "== h1"),
        ({"link": "== h1\nnetlink error: No such device\n== h2\n"}, "No such device"),
    ],
)
def test_what_it_cannot_read_it_says(other: dict[str, str], words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        DRIVER.parse(SWITCH, EVERY, answers(**other), None)


COPPER = """== h1
Settings for h1:
\tSupported ports: [ TP ]
\tSupported link modes:   100baseT/Half 100baseT/Full
\t                        1000baseT/Full
\tSupports auto-negotiation: Yes
\tAdvertised link modes:  {modes}
\tAdvertised auto-negotiation: {auto}
\tSpeed: 100Mb/s
\tAuto-negotiation: {auto}
Pause parameters for h1:
Autonegotiate:\ton
RX:\t\t{pause}
TX:\t\ton
"""


@pytest.mark.parametrize(
    ("modes", "auto", "pause", "speed_mbps"),
    [
        ("100baseT/Half 100baseT/Full\n\t                        1000baseT/Full", "on", "on", None),
        ("100baseT/Full", "on", "off", 100),
        ("100baseT/Full", "off", "on", 100),
    ],
)
def test_speed_and_flow_control_of_a_copper_nic(modes: str, auto: str, pause: str, speed_mbps: int | None) -> None:
    found = ethtool.read_links("sw1", ["h1"], COPPER.format(modes=modes, auto=auto, pause=pause))
    assert found["h1"] == ethtool.LinkSettings(speed_mbps, pause == "on")


def test_eee_of_a_nic() -> None:
    text = "== h1\nEEE settings for h1:\n\tEEE status: enabled - inactive\n\tTx LPI: 600 (us)\n"
    found = ethtool.read_eee("sw1", ["h1"], text + "\tLink partner advertised EEE link modes:  Not reported\n")["h1"]
    assert (found.enabled, found.active, found.partner, found.hold_us) == (True, False, False, 600)
    before, after = PortState(), replace(PortState(), eee=True, hold_us=600, speed_mbps=100, flow_control=True)
    assert list(ethtool.set_commands("h1", before, after)) == [
        "ethtool -s h1 autoneg on speed 100 duplex full",
        "ethtool -A h1 rx on tx on",
        "ethtool --set-eee h1 eee on tx-lpi on tx-timer 600",
    ]


def test_what_no_rollback_sets_again_is_read() -> None:
    """A bridge with the older spanning tree comes back with RSTP; a NIC that does not negotiate, negotiating."""
    links = (
        "== h1\nSettings for h1:\n\tSupported link modes:   100baseT/Full\n\t                        1000baseT/Full\n"
        "\tSupports auto-negotiation: Yes\n\tAdvertised link modes:  Not reported\n\tSpeed: 100Mb/s\n"
        "\tAuto-negotiation: off\nPause parameters for h1:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n\n"
        "== h2\nSettings for h2:\n\tSupports auto-negotiation: No\nnetlink error: Operation not supported\n"
    )
    eee = (
        "== h1\nEEE settings for h1:\n\tEEE status: enabled - active\n\tTx LPI: disabled\n"
        "== h2\nnetlink error: Operation not supported\n"
    )
    bridge = '{"headings": ["name", "stp_enable"], "data": [["br0", true]]}'
    answers = dict(zip(DRIVER.text_queries(SWITCH), (links, eee, bridge), strict=True))
    assert DRIVER.text(SWITCH, answers).lost == {
        "h1": (
            LostLine("speed_mbps", "autoneg off"),
            LostLine("flow_control", "rx on tx off"),
            LostLine("eee", "eee on tx-lpi off"),
        ),
        "switch": (LostLine("stp", "stp_enable=true"),),
    }
