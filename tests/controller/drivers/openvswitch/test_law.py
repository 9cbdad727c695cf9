"""The driver's law on the real Open vSwitch: orders lead from one state to another as read back, and frames agree."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eee_testbed.controller.drivers.openvswitch.driver import set_up
from eee_testbed.controller.model.state import PortState, State, SwitchState, diff
from eee_testbed.lab.errors import Rejected, Unreadable
from tests.support.switches.ovs_rack import DRIVER, Capture, Rack

PORTS = ("h1", "h2", "h3", "h4")
HOST_MACS = [b"\x02\xee" + number.to_bytes(4) for number in range(1, 5)]
vids = st.frozensets(st.sampled_from((1, 2, 7, 11, 4094)), max_size=4)


@st.composite
def ports(draw: st.DrawFn) -> PortState:
    untagged = draw(vids)
    return PortState(
        admin_up=draw(st.booleans()),
        untagged_vids=untagged,
        tagged_vids=draw(vids) - untagged,
        pvid=draw(st.sampled_from((1, 2, 7, 11))),
        acceptance=draw(st.sampled_from(("all", "tagged"))),
        ingress_filtering=draw(st.booleans()),
        stp=draw(st.booleans()),
    )


@st.composite
def states(draw: st.DrawFn) -> SwitchState:
    tables = st.dictionaries(st.sampled_from(HOST_MACS), st.sampled_from(PORTS), min_size=1)
    return SwitchState(
        {name: draw(ports()) for name in PORTS},
        draw(vids),
        draw(st.dictionaries(st.sampled_from((1, 2, 7)), tables, max_size=2)),
        stp=draw(st.booleans()),
    )


MODEST = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@MODEST
@given(after=states())
def test_orders_lead_to_the_state_that_is_read_back(single: Rack, after: SwitchState) -> None:
    session = single.sessions["sw1"]
    before = session.read()
    session.make(diff(State({"sw1": before}), State({"sw1": after})))
    assert session.read() == after


def expected(state: SwitchState, at: str, tag: int | None, to: bytes) -> set[tuple[str, int | None]]:
    """Where 802.1Q brings a frame that nobody has learned anything about: (port, tag)."""
    port = state.ports[at]
    if tag in {None, 0} and port.acceptance == "tagged":
        return set()
    vid = tag or port.pvid
    if vid not in state.vids or (port.ingress_filtering and vid not in port.vids):
        return set()
    only = state.statics.get(vid, {}).get(to)
    return {
        (name, vid if vid in out.tagged_vids else None)
        for name, out in state.ports.items()
        if vid in out.vids and name != at and only in {None, name}
    }


@pytest.mark.slow
@MODEST
@given(
    state=states(),
    at=st.sampled_from(PORTS),
    tag=st.sampled_from((None, None, 0, 1, 2, 7, 11)),
    to=st.sampled_from([*HOST_MACS, b"\xff" * 6]),
)
def test_frames_go_where_the_standard_says(
    single: Rack, state: SwitchState, at: str, tag: int | None, to: bytes
) -> None:
    session = single.sessions["sw1"]
    awake = replace(state, ports={name: replace(port, admin_up=True) for name, port in state.ports.items()}, stp=False)
    session.make(diff(State({"sw1": session.read()}), State({"sw1": awake})))
    session.run("ovs-ofctl -O OpenFlow14 del-flows br0 cookie=0xeee6000000000000/0xffff000000000000")
    session.run("ovs-appctl revalidator/wait")
    capture = Capture({f"h{n}": (single.spaces[f"n0{n}"], "eth0") for n in range(1, 5)})
    try:
        head = to + b"\x02\x00\x00\x00\x00\x09" + (b"" if tag is None else b"\x81\x00" + tag.to_bytes(2))
        capture.send(at, head + b"\x88\xb5" + bytes(50))
        seen = [frame for frame in capture.take(0.1) if not frame.leaving and frame.frame[12:14] == b"\x88\xb5"]
    finally:
        capture.close()
    assert sorted((frame.place, frame.vid or 0) for frame in seen) == sorted(
        (name, vid or 0) for name, vid in expected(awake, at, tag, to)
    )


@pytest.mark.slow
def test_a_foreign_flow_is_unreadable(single: Rack) -> None:
    session = single.sessions["sw1"]
    session.read()
    session.run("ovs-ofctl -O OpenFlow14 add-flow br0 table=0,priority=7,actions=NORMAL")
    with pytest.raises(Unreadable, match="priority=7 actions=NORMAL is a flow that eeectl did not write"):
        session.read()
    session.run("ovs-ofctl -O OpenFlow14 --strict del-flows br0 table=0,priority=7")
    session.read()
    session.run("ovs-ofctl -O OpenFlow14 --strict del-flows br0 table=4,priority=0")
    with pytest.raises(Unreadable, match="table=4, priority=0 is missing"):
        session.read()
    for line in set_up(session.switch):
        session.send(line)
    session.read()
    assert DRIVER.identity(session.switch, session.ask(DRIVER.identity_queries(session.switch))).firmware.startswith(
        "Open vSwitch "
    )


FLAT = SwitchState({name: PortState(stp=False) for name in PORTS}, stp=False)


def reached(rack: Rack, at: str, to: bytes, sender: bytes) -> set[str]:
    """The ports that a frame leaves by."""
    capture = Capture({f"h{n}": (rack.spaces[f"n0{n}"], "eth0") for n in range(1, 5)})
    try:
        capture.send(at, to + sender + b"\x88\xb5" + bytes(50))
        seen = capture.take(0.1)
        rack.sessions["sw1"].run("ovs-appctl revalidator/wait")  # what is learned is obeyed from then on
        return {frame.place for frame in seen if not frame.leaving and frame.frame[12:14] == b"\x88\xb5"}
    finally:
        capture.close()


@pytest.mark.slow
def test_an_address_is_learned_and_forgotten(single: Rack) -> None:
    session = single.sessions["sw1"]
    one, other = b"\x02" + bytes(4) + b"\x0a", b"\x02" + bytes(4) + b"\x0b"

    def become(state: SwitchState) -> None:
        session.make(diff(State({"sw1": session.read()}), State({"sw1": state})))

    def with_h1(**settings: object) -> SwitchState:
        return replace(FLAT, ports={**FLAT.ports, "h1": replace(FLAT.ports["h1"], **settings)})

    become(FLAT)
    for without in (
        with_h1(untagged_vids=frozenset()),
        with_h1(admin_up=False),
        replace(FLAT, vids=frozenset()),
    ):
        assert reached(single, "h2", one, other) == {"h1", "h3", "h4"}
        reached(single, "h1", other, one)
        assert reached(single, "h2", one, other) == {"h1"}
        become(without)
        become(FLAT)
    reached(single, "h1", other, one)
    become(replace(FLAT, statics={1: {one: "h3"}}))
    assert reached(single, "h2", one, other) == {"h3"}, "an entry goes before what was learned"


@pytest.mark.slow
def test_saved_means_that_the_next_boot_has_it(single: Rack) -> None:
    session = single.sessions["sw1"]
    folder = session.environment["OVS_RUNDIR"]
    (saving,) = DRIVER.save(session.switch)
    with pytest.raises(Rejected, match="not enabled"):
        session.send(saving)
    session.run(f"mkdir {folder}/bin; printf '#!/bin/sh\\n' > {folder}/bin/systemctl; chmod +x {folder}/bin/systemctl")
    reached(single, "h1", HOST_MACS[0], HOST_MACS[1])  # something is learned
    wanted = replace(
        FLAT,
        ports={**FLAT.ports, "h2": replace(FLAT.ports["h2"], admin_up=False, tagged_vids=frozenset({7}))},
        statics={1: {HOST_MACS[0]: "h3"}},
    )
    session.make(diff(State({"sw1": session.read()}), State({"sw1": wanted})))
    session.send(saving)
    session.run("ovs-ofctl -O OpenFlow14 del-flows br0; ovs-ofctl -O OpenFlow14 mod-port br0 2 up")
    with pytest.raises(Unreadable):
        session.read()
    session.run(f"sh {folder}/br0.startup")
    assert session.read() == wanted
