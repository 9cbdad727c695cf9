"""Secrets: by reference in the inventory, never in clear text; read only from where nobody else can."""

import shutil
from pathlib import Path

import pytest

from eee_testbed.lab.credentials import check_private, read_secret
from eee_testbed.lab.errors import AccessDenied, InventoryError, Problem
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import NO_SECRET, Lab, Secret, SnmpUser
from tests.support import ROOT

VIRTUAL = ROOT / "inventory" / "virtual"
PASSWORD = "        password_file: /run/eee-testbed/virtual/secrets/cli_password"
OF_ROS = "              te1/0/[1:2]: 10000"
COMMUNITY = "        community_file: /run/eee-testbed/virtual/secrets/snmp_write_community"  # the switches'
LOOKUP = "\"{{ lookup('ansible.builtin.file', password_file) }}\""


def _edited(tmp_path: Path, old: str, new: str) -> tuple[Path, int]:
    """The lab `virtual` with an edit, and the line of the edit."""
    folder = tmp_path / "lab"
    shutil.copytree(VIRTUAL, folder, ignore=shutil.ignore_patterns("twin"))
    text = (folder / "hosts.yml").read_text(encoding="utf-8")
    assert old in text
    (folder / "hosts.yml").write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder, text[: text.index(old)].count("\n") + 1


def _problems(folder: Path) -> list[Problem]:
    with pytest.raises(InventoryError) as caught:
        load_lab(folder)
    return list(caught.value.problems)


def _lab(tmp_path: Path, old: str, new: str) -> Lab:
    return load_lab(_edited(tmp_path, old, new)[0])


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        (LOOKUP, "hunter2", "ansible_password"),
        (LOOKUP, "12345678", "ansible_password"),
        (PASSWORD, f"{PASSWORD}\n        community: hunter2", "community"),
        (PASSWORD, f"{PASSWORD}\n        ansible_become_pass: hunter2", "ansible_become_pass"),
        (PASSWORD, f"{PASSWORD}\n        snmp_v3: {{user: eee, auth_key: hunter2}}", "auth_key"),
        ("ansible_ssh_common_args: -F ", "ansible_ssh_common_args: sshpass -p hunter2 -F ", "ansible_ssh_common_args"),
    ],
)
def test_a_secret_in_clear_text_is_told_and_not_repeated(tmp_path: Path, old: str, new: str, key: str) -> None:
    folder, line = _edited(tmp_path, old, new)
    found = [problem for problem in _problems(folder) if "clear text" in problem.sentence]
    assert [problem.key for problem in found] == [key]
    assert found[0].line in (line, line + 1)
    assert "0600" in found[0].remedy
    assert "hunter2" not in str(_problems(folder))


@pytest.mark.parametrize("value", ["!vault |\n          $ANSIBLE_VAULT;1.1;AES256\n          3132", "''", LOOKUP])
def test_templates_and_vaults_are_no_clear_text(tmp_path: Path, value: str) -> None:
    assert _lab(tmp_path, f"ansible_password: {LOOKUP}", f"ansible_password: {value}").switches


def test_every_way_to_log_in(tmp_path: Path) -> None:
    switch = load_lab(VIRTUAL).switch("sw1")
    assert switch.password == Secret("/run/eee-testbed/virtual/secrets/cli_password")
    assert switch.enable == NO_SECRET
    assert not switch.enable
    lines = """        password_env: SWITCH_PASSWORD
        enable_password_env: ENABLE
        ansible_ssh_private_key_file: ~/key
        ssh_agent: true
        snmp_write: false
        quirks: {static_entries: 100, eee: false}"""
    switch = _lab(tmp_path, PASSWORD, lines).switch("sw1")
    assert switch.password == Secret(variable="SWITCH_PASSWORD")
    assert str(switch.password) == "$SWITCH_PASSWORD"
    assert switch.enable == Secret(variable="ENABLE")
    assert (switch.key_file, switch.ssh_agent, switch.snmp_write) == (str(Path.home() / "key"), True, False)
    assert switch.quirks == {"static_entries": 100, "eee": False}
    assert {switch, switch} == {switch}


def test_bridge_ports_are_stated_by_name_and_range(tmp_path: Path) -> None:
    stated = f'{OF_ROS}\n            bridge_ports: {{"te1/0/[1:2]": 49}}'
    ports = {port.name: (port.number, port.numbered) for port in _lab(tmp_path, OF_ROS, stated).switch("sw1").ports}
    assert ports["gi1/0/24"] == (24, False)
    assert (ports["te1/0/1"], ports["te1/0/2"]) == ((49, True), (50, True))


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ('{"te1/0/9": 49}', "has no port te1/0/9"),
        ('{"te1/0/1": 49, "te1/0/2": 49}', "has bridge port 49 twice"),
        ('{"te1/0/[2:1]": 49}', "is empty"),
        ('{"te1/0/1": 0}', "greater than or equal to 1"),
    ],
)
def test_bridge_ports_that_cannot_be(tmp_path: Path, stated: str, words: str) -> None:
    with pytest.raises(InventoryError, match=words):
        _lab(tmp_path, PASSWORD, f"{PASSWORD}\n        bridge_ports: {stated}")


def test_snmp_v3_takes_the_place_of_a_community(tmp_path: Path) -> None:
    keys = "auth_protocol: sha256, auth_key_file: /k/a, privacy_key_env: PRIV"
    v3 = f"        snmp_v3: {{user: eee, {keys}}}"
    switch = _lab(tmp_path, COMMUNITY, v3).switch("sw1")
    assert switch.snmp_user == SnmpUser("eee", "sha256", Secret("/k/a"), "aes", Secret(variable="PRIV"))
    assert not switch.community


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (PASSWORD, "        password_env: 1st", "environment variable"),
        (PASSWORD, "        password_file: secrets/password", "whole path"),
        (PASSWORD, f"{PASSWORD}\n        password_env: X", "password_file and password_env"),
        (PASSWORD, "        enable_password_env: X", "nothing opens its command line"),
        (COMMUNITY, "        snmp_port: 161", "SNMP has no secret"),
        (COMMUNITY, f"        snmp_v3: {{user: eee}}\n{COMMUNITY}", "a community and snmp_v3"),
        (COMMUNITY, "        snmp_v3: {user: eee, privacy_key_env: K}", "no privacy without"),
        (COMMUNITY, "        snmp_v3: {user: eee, auth_protocol: rot13}", "sha"),
        (PASSWORD, f"{PASSWORD}\n        quirks: {{colour: 3}}", "no quirk 'colour'; known are"),
        (PASSWORD, f"{PASSWORD}\n        quirks: {{vlans: true}}", "takes a number"),
        (PASSWORD, f"{PASSWORD}\n        quirks: {{eee: 1}}", "takes yes or no"),
        ("    management_network:", "    way_in: sw9:1\n    management_network:", "no switch sw9"),
        ("    management_network:", "    way_in: sw1\n    management_network:", "such as sw1:1"),
        ("02:ee:00:00:00:03", '02:ee:00:00:00:03", pops_tags: "often', "bool"),
    ],
)
def test_a_wrong_reference_is_told(tmp_path: Path, old: str, new: str, words: str) -> None:
    folder, _ = _edited(tmp_path, old, new)
    found = [problem for problem in _problems(folder) if words in problem.sentence]
    assert found, _problems(folder)
    assert all(problem.remedy and problem.line for problem in found)


def test_hosts_keep_what_ssh_needs(tmp_path: Path) -> None:
    assert load_lab(VIRTUAL).host("n01").ssh_arguments == "-F /run/eee-testbed/virtual/ssh_config"
    new = '02:ee:00:00:00:03", pops_tags: true, ansible_ssh_private_key_file: "/etc/key'
    lab = _lab(tmp_path, "02:ee:00:00:00:03", new)
    assert (lab.host("n03").pops_tags, lab.host("n03").key_file) == (True, "/etc/key")
    assert not lab.host("n04").pops_tags


def test_the_way_in_is_a_switch_and_a_vlan(tmp_path: Path) -> None:
    assert load_lab(VIRTUAL).way_in is None
    assert _lab(tmp_path, "    management_network:", "    way_in: sw2:7\n    management_network:").way_in == ("sw2", 7)


def test_a_secret_is_read_only_where_nobody_else_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "password"
    secret = Secret(str(file))
    with pytest.raises(AccessDenied, match="cannot be read"):
        read_secret(secret, "sw1")
    file.write_text("  hunter2\n", encoding="utf-8")
    for mode in (0o640, 0o604, 0o620, 0o601, 0o644):
        file.chmod(mode)
        with pytest.raises(AccessDenied, match="chmod 600"):
            read_secret(secret, "sw1")
        with pytest.raises(AccessDenied, match="sw1: "):
            check_private(str(file), "sw1")
    file.chmod(0o600)
    assert read_secret(secret, "sw1") == "hunter2"
    file.write_text("\n", encoding="utf-8")
    with pytest.raises(AccessDenied, match="is empty"):
        read_secret(secret, "sw1")
    file.write_text("$ANSIBLE_VAULT;1.1;AES256\n3733\n", encoding="utf-8")
    with pytest.raises(AccessDenied, match=r"only Ansible opens: .*ansible-vault view /.*/password\)"):
        read_secret(secret, "sw1")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(AccessDenied, match="cannot be read"):
        read_secret(secret, "sw1")
    monkeypatch.delenv("EEE_TEST_SECRET", raising=False)
    with pytest.raises(AccessDenied, match="EEE_TEST_SECRET is not set"):
        read_secret(Secret(variable="EEE_TEST_SECRET"), "sw1")
    monkeypatch.setenv("EEE_TEST_SECRET", "s3cret")
    assert read_secret(Secret(variable="EEE_TEST_SECRET"), "sw1") == "s3cret"
