"""Lines of a first contact: every family has them, words are filled in, and secrets are in none that is shown."""

import dataclasses
from typing import get_args

import pytest

from eee_testbed.controller.drivers.factory.lines import SECRETS, Setup, check_word, setup_of
from eee_testbed.controller.drivers.factory.table import FACTORY
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab, Secret, SnmpPrivacyProtocol, SnmpUser, Switch, SwitchFamily

_VALUES = {word: f"very-{word.lower()}" for word in SECRETS}


@pytest.fixture
def lab() -> Lab:
    return load_lab(find_lab("example"))


@pytest.fixture
def switch(lab: Lab) -> Switch:
    return lab.switch("sw1")


def _user(privacy: SnmpPrivacyProtocol = "des") -> SnmpUser:
    return SnmpUser("poller", "sha", Secret("/auth"), privacy, Secret("/privacy"))


def _typed(setup: Setup) -> list[str]:
    return [setup.line(line, _VALUES).text for line in (*setup.before, *setup.address)]


def test_every_family_has_lines_with_their_source(lab: Lab, switch: Switch) -> None:
    assert set(FACTORY) == set(get_args(SwitchFamily))
    for family, known in FACTORY.items():
        shown = setup_of(lab, dataclasses.replace(switch, family=family), known).shown()
        assert known.source
        assert len(shown) > 3
        assert not any(word in " ".join(shown) for word in ("ADDRESS", "MASK", "GATEWAY", "USER", "PORTS"))


def test_no_secret_is_in_what_is_shown_and_every_one_in_what_is_typed(lab: Lab, switch: Switch) -> None:
    for family, known in FACTORY.items():
        for one in (switch, dataclasses.replace(switch, snmp_user=_user())):
            setup = setup_of(lab, dataclasses.replace(one, family=family), known)
            typed = " ".join(_typed(setup))
            assert not any(value in " ".join(setup.shown()) for value in _VALUES.values())
            assert all(_VALUES[word] in typed for word in setup.secret_words())
            assert not any(word in typed.split() for word in SECRETS)


def test_a_password_that_reads_like_a_word_of_ours_is_typed_as_it_is(lab: Lab, switch: Switch) -> None:
    setup = setup_of(lab, switch, FACTORY[switch.family])
    line = setup.line("username USER password PASSWORD privilege 15", {"PASSWORD": "ADDRESS", "COMMUNITY": ""})
    assert line.text == "username admin password ADDRESS privilege 15"


def test_the_address_is_the_last_line_that_is_typed_and_saving_the_last_that_is_shown(lab: Lab, switch: Switch) -> None:
    setup = setup_of(lab, switch, FACTORY["dell_powerconnect_55xx"])
    assert "ip address 192.0.2.11 255.255.255.0" in setup.shown()
    assert not any("ADDRESS" in line for line in setup.before)
    assert setup.shown()[-1] == "copy running-config startup-config"
    m4300 = setup_of(lab, switch, FACTORY["netgear_m4300"], gateway="192.0.2.254")
    assert m4300.address == ("network parms ADDRESS MASK GATEWAY",)
    assert _typed(m4300)[-1] == "network parms 192.0.2.11 255.255.255.0 192.0.2.254"


def test_open_vswitch_is_made_a_switch_whose_settings_last(lab: Lab, switch: Switch) -> None:
    shown = setup_of(lab, dataclasses.replace(switch, family="openvswitch"), FACTORY["openvswitch"]).shown()
    assert sum("--bundle replace-flows br0" in line for line in shown) == 1
    assert sum(line.endswith(" up") for line in shown) == len(switch.ports)
    assert "systemctl enable eee-bridge@br0" in shown
    assert any("ExecStart=/bin/sh /etc/openvswitch/%i.startup" in line for line in shown)


def test_lines_of_one_service(lab: Lab, switch: Switch) -> None:
    known = FACTORY["dell_powerconnect_55xx"]
    snmp = setup_of(lab, switch, known, ("snmp",))
    assert "snmp-server community COMMUNITY rw" in snmp.shown()
    assert not any("username" in line or "ip address" in line for line in snmp.shown())
    v3 = setup_of(lab, dataclasses.replace(switch, snmp_user=_user()), known, ("snmp",)).shown()
    assert "snmp-server user poller eee v3 auth sha AUTHKEY priv PRIVKEY" in v3
    assert not any("community" in line for line in v3)


def test_ports_are_those_of_the_inventory(lab: Lab, switch: Switch) -> None:
    names = ("1/0/1", "1/0/2", "1/0/3", "1/0/5", "1/0/9", "1/0/10")
    ports = tuple(dataclasses.replace(switch.ports[0], name=name) for name in names)
    setup = setup_of(lab, dataclasses.replace(switch, ports=ports), FACTORY["netgear_m4300"], ("lldp",))
    assert "interface 1/0/1-1/0/3,1/0/5,1/0/9-1/0/10" in setup.shown()


def test_a_protocol_without_a_word_of_the_family_and_a_missing_key_are_refused(lab: Lab, switch: Switch) -> None:
    known = FACTORY["dell_powerconnect_62xx"]
    with pytest.raises(LabError, match=r"privacy by aes cannot be set up .*, only by des"):
        setup_of(lab, dataclasses.replace(switch, snmp_user=_user("aes")), known)
    bare = dataclasses.replace(_user(), privacy_key=Secret())
    with pytest.raises(LabError, match="need both keys"):
        setup_of(lab, dataclasses.replace(switch, snmp_user=bare), known)


@pytest.mark.parametrize("value", ["", "two words", 'quoted"', "what?", "käse", "a\\b", "#!", "tab\t"])
def test_a_word_that_a_command_line_takes_for_its_own_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(LabError, match="the secret in /file has blanks") as caught:
        check_word("sw1", "the secret in /file", value)
    assert not value or value not in str(caught.value)
    check_word("sw1", "a user", "Nice-w0rd#$%&")
