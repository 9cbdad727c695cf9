"""The driver over real SSH and SNMP: a PowerConnect of a live lab is set up for multi-tree VLANs, read back, undone."""

from dataclasses import replace

import pytest

from eee_testbed.controller.drivers.driver import ASPECTS
from eee_testbed.controller.drivers.table import FAMILIES
from eee_testbed.controller.model.state import PortState, State, SwitchState, diff
from eee_testbed.controller.transports.session import Session
from eee_testbed.controller.transports.switches import open_session
from eee_testbed.lab.model import Lab, Switch

pytestmark = pytest.mark.lab

DRIVER = FAMILIES["dell_powerconnect_55xx"].driver
TREES = frozenset(range(11, 17))


@pytest.fixture
def switch(lab: Lab) -> Switch:
    return lab.switch("sw1")


def observe(switch: Switch, session: Session) -> SwitchState:
    aspects = frozenset(ASPECTS)
    return DRIVER.parse(switch, aspects, session.ask(DRIVER.queries(switch, aspects)), None)


def make(switch: Switch, session: Session, before: SwitchState, after: SwitchState) -> None:
    for order in DRIVER.render(switch, diff(State({switch.name: before}), State({switch.name: after}))):
        session.send(order)


def multi_tree(before: SwitchState) -> SwitchState:
    """Hosts at ports 1 and 2, trunks at 11 and 12 of which one is woken, the rest shut."""
    host = PortState(eee=True, untagged_vids=TREES, pvid=12, stp=False, flow_control=True)
    trunk = PortState(untagged_vids=frozenset(), tagged_vids=TREES, acceptance="tagged", stp=False, eee=False)
    ports = dict.fromkeys(before.ports, replace(PortState(eee=True), admin_up=False))
    ports |= {"gi1/0/1": host, "gi1/0/2": replace(host, speed_mbps=100), "gi1/0/11": trunk, "gi1/0/12": trunk}
    statics = {12: {bytes((2, 0, 0, 0, 0, 1)): "gi1/0/1", bytes((2, 0, 0, 0, 0, 9)): "gi1/0/11"}}
    return SwitchState(ports, frozenset({1, *TREES}), statics, stp=False)


def test_a_full_setup_is_made_read_back_saved_and_undone(switch: Switch) -> None:
    session = open_session(switch)
    try:
        before = observe(switch, session)
        assert not before.ports["gi1/0/12"].admin_up
        after = multi_tree(before)
        make(switch, session, before, after)
        assert diff(State({"sw1": observe(switch, session)}), State({"sw1": after})) == ()
        for order in DRIVER.save(switch):
            session.send(order)
        identity = DRIVER.identity(switch, session.ask(DRIVER.identity_queries(switch)))
        assert identity.model == "PowerConnect 5524"
        shown = DRIVER.eee(switch, session.ask(DRIVER.eee_queries(switch)))
        assert shown["gi1/0/1"].enabled
        assert not shown["gi1/0/11"].enabled
        make(switch, session, after, before)
        assert diff(State({"sw1": observe(switch, session)}), State({"sw1": before})) == ()
    finally:
        session.close()
