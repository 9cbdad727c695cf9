"""First contacts with switches of the twin from their box, over SSH, telnet and a serial line."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import paramiko
import pytest

from eee_testbed.controller.checking.first_contact import Contact, Met, meet, prepare
from eee_testbed.controller.drivers.factory.dialogue import Account
from eee_testbed.controller.drivers.factory.lines import setup_of
from eee_testbed.controller.drivers.factory.table import FACTORY
from eee_testbed.controller.transports.first_contact import Way
from eee_testbed.controller.transports.host_keys import fingerprint
from eee_testbed.controller.transports.kept_keys import HostKey, kept_keys
from eee_testbed.lab.errors import AccessDenied, HostKeyChanged, LabError, Rejected, Unreachable
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab, Secret, SnmpUser, Switch, SwitchFamily
from eee_testbed.twin.switch.personality import User
from tests.support.switches.factory_switch import (
    SNMP_PORT,
    SSH_PORT,
    TELNET_PORT,
    FactorySwitch,
    addresses,
    factory_switch,
)
from tests.support.twin.snmp_bench import usm_user

_PASSWORD = "n3w-Passw0rd"
_COMMUNITY = "c0mmunity-of-ours"
_ROS: SwitchFamily = "dell_powerconnect_55xx"
_FASTPATH: SwitchFamily = "netgear_m4300"
_FACTORY = User("cisco", "fact0ry-word", 15)


def _secret(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.write_text(f"{text}\n", encoding="utf-8")
    file.chmod(0o600)
    return str(file)


@pytest.fixture
def lab() -> Lab:
    return load_lab(find_lab("example"))


@pytest.fixture
def wanted(lab: Lab, tmp_path: Path) -> Callable[[SwitchFamily], Switch]:
    """The switch as the inventory wants it."""

    def of(family: SwitchFamily) -> Switch:
        known = lab.switch("sw1")
        model = {_ROS: known.model, _FASTPATH: "M4300-28G"}[family]
        ports = known.ports[:4]
        if family == _FASTPATH:
            ports = tuple(replace(port, name=f"1/0/{port.number}") for port in ports)
        return replace(
            known,
            family=family,
            model=model,
            address=addresses()[1],
            ssh_port=SSH_PORT,
            snmp_port=SNMP_PORT,
            password_file=_secret(tmp_path, "password", _PASSWORD),
            community_file=_secret(tmp_path, "community", _COMMUNITY),
            known_hosts_file=str(tmp_path / "kept" / "known_hosts"),
            ports=ports,
        )

    return of


def _with_snmp_v3(switch: Switch, auth: str, privacy: str) -> Switch:
    folder = Path(switch.password_file).parent
    keys = Secret(_secret(folder, "auth", auth)), Secret(_secret(folder, "privacy", privacy))
    return replace(switch, snmp_user=SnmpUser("eee", "sha", keys[0], "aes", keys[1]), community_file="")


def _contact(lab: Lab, switch: Switch, way: Way, account: User = _FACTORY) -> Contact:
    login = Account(account.name, account.password)
    return prepare(switch, setup_of(lab, switch, FACTORY[switch.family]), way, login)


def _meet(contact: Contact, *, confirms: bool = True, seen: list[HostKey] | None = None) -> Met:
    def confirm(key: HostKey) -> bool:
        if seen is not None:
            seen.append(key)
        return confirms

    return meet(contact, confirm, lambda _: None)


def _over_ssh() -> Way:
    return Way("ssh", addresses()[0], SSH_PORT)


def _is_as_wanted(box: FactorySwitch) -> None:
    assert box.moved
    assert "username admin password encrypted" in box.saved or 'username "admin" password' in box.saved
    assert box.new in box.saved
    assert box.device.users()["admin"].accepts(_PASSWORD)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "account", "model"),
    [(_ROS, _FACTORY, "PowerConnect 5524"), (_FASTPATH, User("admin", ""), "M4300-28G")],
)
def test_a_switch_is_set_up_over_ssh_met_anew_and_saved(
    lab: Lab, wanted: Callable[[SwitchFamily], Switch], family: SwitchFamily, account: User, model: str
) -> None:
    switch = wanted(family)
    with factory_switch(family, account, communities={_COMMUNITY: "rw"}) as box:
        contact = _contact(lab, switch, _over_ssh(), account)
        asked: list[HostKey] = []
        met = _meet(contact, seen=asked)
        _is_as_wanted(box)
        assert model in f"{met.identity.model} {met.snmp}"
        assert met.snmp
        assert not asked  # it is the key that was shown before the lines were sent
        assert [fingerprint(key) for key in kept_keys(switch)] == [box.fingerprint]


@pytest.mark.slow
def test_a_switch_that_ends_the_session_while_it_is_closed_is_met_anew(
    lab: Lab, wanted: Callable[[SwitchFamily], Switch], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(_: paramiko.Channel) -> None:
        raise EOFError  # what paramiko raises where the connection is lost between its look and its message

    monkeypatch.setattr(paramiko.Channel, "close", ended)
    switch = wanted(_FASTPATH)
    with factory_switch(_FASTPATH, _FACTORY, communities={_COMMUNITY: "rw"}) as box:
        assert _meet(_contact(lab, switch, _over_ssh())).snmp
        _is_as_wanted(box)


@pytest.mark.slow
def test_a_forced_change_of_the_password_is_answered_with_the_inventorys(
    lab: Lab, wanted: Callable[[SwitchFamily], Switch], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    switch = wanted(_ROS)
    with factory_switch(_ROS, _FACTORY, forced=True, communities={_COMMUNITY: "rw"}) as box:
        met = _meet(_contact(lab, switch, Way("telnet", box.old, TELNET_PORT)))
        _is_as_wanted(box)
        assert met.changed_password
        assert box.device.users()["cisco"].accepts(_PASSWORD)
    for secret in (_PASSWORD, _COMMUNITY, _FACTORY.password):
        assert secret not in caplog.text


@pytest.mark.slow
def test_a_serial_console_asks_for_nobody_and_its_switchs_key_is_asked_about(
    lab: Lab, wanted: Callable[[SwitchFamily], Switch]
) -> None:
    auth, privacy = "maplesyrup", "pancakes4u"
    switch = _with_snmp_v3(wanted(_ROS), auth, privacy)
    with factory_switch(_ROS, _FACTORY, console=User("", "", 1), users=(usm_user("eee", "sha", "aes"),)) as box:
        contact = _contact(lab, switch, Way("serial", box.serial), User("", ""))
        asked: list[HostKey] = []
        met = _meet(contact, seen=asked)
        _is_as_wanted(box)
        assert [fingerprint(key) for key in asked] == [box.fingerprint]
        assert "PowerConnect" in met.snmp
        config: Any = box.device.personality.config
        assert f"user eee eee v3 auth sha {auth} priv {privacy}" in config.snmp_server


@pytest.mark.parametrize("where", ["/dev/null", "/nowhere"])
def test_what_is_no_terminal_is_no_serial_port(lab: Lab, wanted: Callable[[SwitchFamily], Switch], where: str) -> None:
    with pytest.raises(Unreachable, match=f"{where} is not a serial port of this machine: name another"):
        _meet(_contact(lab, wanted(_ROS), Way("serial", where), User("", "")))


def test_a_key_that_nobody_confirms_is_not_kept_and_nothing_is_saved(
    lab: Lab, wanted: Callable[[SwitchFamily], Switch]
) -> None:
    switch = wanted(_ROS)
    with factory_switch(_ROS, _FACTORY, communities={_COMMUNITY: "rw"}) as box:
        contact = _contact(lab, switch, Way("telnet", box.old, TELNET_PORT))
        with pytest.raises(HostKeyChanged, match="was not confirmed"):
            _meet(contact, confirms=False)
        assert box.saved == ""
        assert not kept_keys(switch)
        assert not Path(switch.known_hosts_file).exists()


def test_a_wrong_factory_password_and_a_line_that_is_refused_show_no_secret(
    lab: Lab, wanted: Callable[[SwitchFamily], Switch]
) -> None:
    switch = wanted(_ROS)
    with factory_switch(_ROS, _FACTORY, communities={_COMMUNITY: "rw"}) as box:
        with pytest.raises(AccessDenied, match="does not let 'cisco' in") as denied:
            _meet(_contact(lab, switch, _over_ssh(), User("cisco", "swordfish")))
        box.device.faults.refuse = {"username": f"% bad parameter value {_PASSWORD}"}
        with pytest.raises(
            Rejected, match=r"refused 'username admin password PASSWORD privilege 15' with: % bad"
        ) as no:
            _meet(_contact(lab, switch, _over_ssh()))
        assert not box.moved
        assert box.saved == ""
    assert "swordfish" not in str(denied.value)
    assert _PASSWORD not in str(no.value)


def test_a_switch_of_another_maker_than_the_inventorys_is_not_saved(
    lab: Lab, wanted: Callable[[SwitchFamily], Switch]
) -> None:
    switch = replace(wanted(_ROS), family="cisco_sg")
    with factory_switch(_ROS, _FACTORY, communities={_COMMUNITY: "rw"}) as box:
        with pytest.raises(LabError, match="it is no cisco_sg"):
            _meet(_contact(lab, switch, _over_ssh()))
        assert box.moved
        assert box.saved == ""


def test_what_cannot_begin_is_said_before_anybody_logs_in(
    lab: Lab, wanted: Callable[[SwitchFamily], Switch], tmp_path: Path
) -> None:
    switch = wanted(_ROS)
    with pytest.raises(Unreachable, match="no SSH server answers at "):
        _contact(lab, switch, Way("ssh", addresses()[0], 9))
    with pytest.raises(LabError, match="add password_file"):
        _contact(lab, replace(switch, password_file=""), _over_ssh())
    spaced = replace(switch, password_file=_secret(tmp_path, "spaced", "two words"))
    with pytest.raises(LabError, match="has blanks") as caught:
        _contact(lab, spaced, _over_ssh())
    assert "two words" not in str(caught.value)
    with pytest.raises(LabError, match="a Linux machine"):
        _contact(lab, replace(switch, family="linux_bridge"), _over_ssh())
    with factory_switch(_ROS, _FACTORY) as box:
        known = Path(switch.known_hosts_file)
        known.parent.mkdir()
        other = "AAAAC3NzaC1lZDI1NTE5AAAAIJ2sO2T2a3bCq0bYh2m1o1m3bY8d0p9d7kq1xE7v3w5u"
        known.write_text(f"sw1 ssh-ed25519 {other}\n", encoding="utf-8")
        with pytest.raises(HostKeyChanged, match="remove that line if the switch was replaced or reset"):
            _contact(lab, switch, Way("ssh", box.old, SSH_PORT))
