"""Sessions with switches of a live lab, and every way in which they end that is not ours to choose."""

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.controller.applying.observe import observe_lab
from eee_testbed.controller.drivers.driver import Line, Show, SnmpSet, Walk
from eee_testbed.controller.drivers.places import IF_ADMIN_STATUS
from eee_testbed.controller.drivers.table import FAMILIES
from eee_testbed.controller.transports.port_watch import PortWatch
from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import access_of
from eee_testbed.controller.transports.switches import SwitchSession, open_session
from eee_testbed.lab.errors import AccessDenied, DeviceError, HostKeyChanged, Rejected, Unreachable
from eee_testbed.lab.model import Lab, Secret, SnmpUser, Switch

pytestmark = pytest.mark.lab


_MODES = {
    name: ("configure", f"interface {port}", "exit", "exit") for name, port in (("sw1", "gi1/0/20"), ("sw2", "1/0/20"))
}


@pytest.fixture(params=["sw1", "sw2"])
def switch(request: pytest.FixtureRequest, lab: Lab) -> Switch:
    return lab.switch(request.param)


def _secret(tmp_path: Path, text: str) -> str:
    file = tmp_path / "secret"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    return str(file)


def _show(switch: Switch, **options: Any) -> str:
    session = open_session(switch, **options)
    try:
        query = Show("show vlan")
        answer = session.ask([query])[query]
        assert isinstance(answer, str)
        return answer
    finally:
        session.close()


def _admin(index: int, status: int) -> SnmpSet:
    return SnmpSet(((f"{IF_ADMIN_STATUS.oid}.{index}", status),), f"set port {index} to {status}")


# -- the command line


def test_a_command_line_shows_and_obeys(switch: Switch) -> None:
    session = open_session(switch)
    try:
        enter, port, *out = _MODES[switch.name]
        taken = [session.send(Line(text)) for text in (enter, port, "shutdown", "no shutdown", *out)]
        assert all(t.sent_ns < t.acknowledged_ns for t in taken)
        assert all(a.acknowledged_ns <= b.sent_ns for a, b in pairwise(taken))
        assert "VLAN" in str(session.ask([Show("show vlan")])).upper()
    finally:
        session.close()


def test_long_answers_come_whole_when_the_switch_pages_after_all(switch: Switch) -> None:
    command = "show interfaces status" if switch.name == "sw1" else "show port all"
    session = open_session(switch)
    try:
        whole = session.ask([Show(command)])[Show(command)]
        session.send(Line("no terminal datadump" if switch.name == "sw1" else "terminal length 10"))
        paged = session.ask([Show(command)])[Show(command)]
    finally:
        session.close()
    rows = [row.rstrip() for row in str(whole).splitlines()]
    assert len(rows) > 11
    assert [row.rstrip() for row in str(paged).splitlines()] == rows


def test_a_wrong_password_is_said_at_once(switch: Switch, tmp_path: Path) -> None:
    wrong = replace(switch, password_file=_secret(tmp_path, "swordfish"))
    with pytest.raises(AccessDenied, match="does not let admin in") as caught:
        _show(wrong)
    assert "swordfish" not in str(caught.value)


def test_a_wrong_reference_to_the_password_is_said(switch: Switch) -> None:
    with pytest.raises(AccessDenied, match="/nowhere"):
        _show(replace(switch, password_file="/nowhere"))


def test_a_switch_logs_in_with_a_key(lab: Lab, running_lab: tuple[Path, Path]) -> None:
    key = str(running_lab[1] / "keys" / "lab_ed25519")
    for name in ("sw1", "sw2"):
        switch = replace(lab.switch(name), user="lab", password_file="", key_file=key)
        assert "VLAN" in _show(switch).upper()


def test_a_host_key_that_nobody_confirmed_is_not_trusted(switch: Switch, tmp_path: Path) -> None:
    (tmp_path / "known_hosts").write_text("", encoding="utf-8")
    with pytest.raises(HostKeyChanged, match=r"is not confirmed in .*ssh-keyscan"):
        _show(replace(switch, known_hosts_file=str(tmp_path / "known_hosts")))


def test_a_changed_host_key_is_shown_with_both_fingerprints(lab: Lab, switch: Switch, tmp_path: Path) -> None:
    known = Path(switch.known_hosts_file).read_text(encoding="utf-8").splitlines()
    key = next(line.split(maxsplit=1)[1] for line in known if line.startswith("n01"))
    (tmp_path / "known_hosts").write_text(f"{switch.address} {key}\n", encoding="utf-8")
    with pytest.raises(HostKeyChanged, match=r"shows the SSH host key SHA256:\S+, but .* trusts SHA256:"):
        _show(replace(switch, known_hosts_file=str(tmp_path / "known_hosts")))
    assert lab.switch(switch.name) == switch


def test_nobody_at_the_address_is_unreachable(switch: Switch) -> None:
    with pytest.raises(Unreachable, match=r"no SSH server answers at 127\..*:2"):
        _show(replace(switch, ssh_port=2))


def test_a_hanging_switch_is_unreachable_after_our_patience(switch: Switch, fault: Callable[..., None]) -> None:
    session = open_session(switch, patience_s=1.0)
    try:
        session.ask([Show("show vlan")])
        fault("slow", target=switch.name, command_s=60.0, character_s=0.0)
        with pytest.raises(Unreachable, match="nothing for 1 s after 'configure'"):
            session.send(Line("configure"))
        with pytest.raises(Unreachable, match="the session ended earlier"):
            session.send(Line("exit"))
    finally:
        session.close()


def test_a_session_dropped_in_a_line_says_which(switch: Switch, fault: Callable[..., None]) -> None:
    session = open_session(switch)
    session.ask([Show("show vlan")])
    fault("slow", target=switch.name, command_s=60.0, character_s=0.0)
    dropper = threading.Timer(0.3, fault, ("drop",), {"target": switch.name})
    dropper.start()
    try:
        with pytest.raises(Unreachable, match="'configure'"):
            session.send(Line("configure"))
    finally:
        dropper.join()
        session.close()


def test_a_refused_line_leaves_the_session_in_privileged_mode(switch: Switch, fault: Callable[..., None]) -> None:
    fault("refuse", target=switch.name, command="shutdown", words="% Not today")
    enter, port, *_ = _MODES[switch.name]
    session = open_session(switch)
    try:
        session.send(Line(enter))
        session.send(Line(port))
        with pytest.raises(Rejected, match="refused 'shutdown' with: % Not today"):
            session.send(Line("shutdown"))
        session.send(Line(enter))  # would be refused anywhere but in privileged mode
        session.send(Line("exit"))
    finally:
        session.close()


def test_a_mode_that_was_not_entered_stops_what_follows(switch: Switch) -> None:
    session = open_session(switch)
    try:
        with pytest.raises(Rejected):
            session.send(Line("configure", prompt=r"\(config-vlan\)#$"))
    finally:
        session.close()


# -- SNMP


def test_twenty_per_cent_loss_costs_time_and_nothing_else(switch: Switch, fault: Callable[..., None]) -> None:
    agent = Agent(access_of(switch), patience=((0.05, 8), (0.2, 8)))
    columns = [f"1.3.6.1.2.1.2.2.1.{column}" for column in (1, 2, 3, 7)]
    whole = [agent.walk(column) for column in columns]
    fault("lose", target=switch.name, share=0.2)
    try:
        for _ in range(3):
            assert [agent.walk(column) for column in columns] == whole
    finally:
        agent.close()


def test_a_set_whose_answer_is_lost_is_done_and_said(switch: Switch, fault: Callable[..., None]) -> None:
    agent = Agent(access_of(switch), patience=((0.05, 8), (0.2, 8)))
    fault("lose", target=switch.name, share=0.2)
    try:
        for status in (2, 1) * 4:
            agent.put(_admin(20, status))
            assert agent.walk(IF_ADMIN_STATUS.oid)["20"] == status
    finally:
        agent.close()


def test_a_wrong_community_is_no_answer_with_a_hint(switch: Switch, tmp_path: Path) -> None:
    access = replace(access_of(switch), community=Secret(_secret(tmp_path, "swordfish")))
    with pytest.raises(Unreachable, match="check power, address, and the community"):
        Agent(access, patience=((0.05, 2),)).walk(IF_ADMIN_STATUS.oid)


def test_a_community_that_may_only_read_is_refused_in_the_agent_s_words(switch: Switch) -> None:
    reading = str(Path(switch.community_file).with_name("snmp_read_community"))
    agent = Agent(replace(access_of(switch), community=Secret(reading)))
    try:
        assert agent.walk(IF_ADMIN_STATUS.oid)
        with pytest.raises(Rejected, match="refused 'set port 20 to 2' with: noAccess"):
            agent.put(_admin(20, 2))
    finally:
        agent.close()


def test_snmp_v3_reads_and_writes(switch: Switch) -> None:
    secrets = Path(switch.community_file).parent
    keys = Secret(str(secrets / "snmp_auth_password")), Secret(str(secrets / "snmp_priv_password"))
    agent = Agent(access_of(replace(switch, snmp_user=SnmpUser("eee", "sha", keys[0], "aes", keys[1]))))
    wrong = Agent(access_of(replace(switch, snmp_user=SnmpUser("eee", "sha", keys[1], "aes", keys[1]))))
    try:
        agent.put(_admin(20, 2))
        assert agent.walk(IF_ADMIN_STATUS.oid)["20"] == 2
        agent.put(_admin(20, 1))
        with pytest.raises(AccessDenied, match="refuses the user"):
            wrong.put(_admin(20, 2))
        assert agent.walk(IF_ADMIN_STATUS.oid)["20"] == 1
    finally:
        agent.close()
        wrong.close()


def test_objects_need_no_login(switch: Switch, tmp_path: Path) -> None:
    session = open_session(replace(switch, password_file="/nowhere", known_hosts_file=str(tmp_path / "none")))
    try:
        assert session.ask([Walk(IF_ADMIN_STATUS.oid)])
        session.send(_admin(20, 1))
    finally:
        session.close()


def test_links_are_seen_to_go_down_and_up_at_both_ends(lab: Lab) -> None:
    agent = Agent(access_of(lab.switch("sw1")))
    try:
        with PortWatch(lab.switch("sw1"), ["gi1/0/11"]) as here, PortWatch(lab.switch("sw2"), ["1/0/11"]) as there:
            assert here.is_up("gi1/0/11")
            for up in (False, True):
                sent_ns, _ = agent.put(_admin(11, 1 if up else 2))
                for watch, port in ((here, "gi1/0/11"), (there, "1/0/11")):
                    seen = watch.wait_for(port, up=up, timeout_s=20.0, since_ns=sent_ns)
                    assert seen is not None
                    assert seen.before_ns < seen.seen_ns
                    assert watch.is_up(port) == up
            assert [event.up for event in here.events] == [False, True]
    finally:
        agent.close()


# -- a lab


def test_a_lab_is_observed_and_a_fault_names_its_switch(lab: Lab) -> None:
    state = observe_lab(lab)
    assert {name: len(found.ports) for name, found in state.switches.items()} == {"sw1": 26, "sw2": 28}
    assert not state.port("sw1", "gi1/0/12").admin_up
    assert not state.port("sw2", "1/0/12").admin_up

    def connect(switch: Switch) -> SwitchSession:
        return open_session(replace(switch, ssh_port=2) if switch.name == "sw2" else switch)

    with pytest.raises(DeviceError) as caught:
        observe_lab(lab, connect)
    assert caught.value.device == "sw2"


def test_every_family_of_the_lab_has_a_driver(lab: Lab) -> None:
    assert {switch.family for switch in lab.switches} <= FAMILIES.keys()
