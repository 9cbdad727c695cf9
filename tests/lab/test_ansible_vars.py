"""One inventory for Ansible and for us: what Ansible reads beside hosts.yml counts here too, or is refused by name."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eee_testbed.lab.ansible import Variable, read_ansible
from eee_testbed.lab.ansible_vars import with_ansible
from eee_testbed.lab.errors import InventoryError
from eee_testbed.lab.folder import load_lab

_HOSTS = """
all:
  vars:
    management_network: 192.0.2.0/24
    data_network: 198.51.100.0/24
  children:
    switches:
      hosts:
        sw1:
          ansible_host: 192.0.2.11
          family: cisco_sg
          model: SG350-10
          password_env: SWITCH_PASSWORD
          community_env: SNMP_COMMUNITY
          ports: {"gi[1:8]": 1000}
    nodes:
      vars: {ansible_user: lab, rack: 7, bmc_address: 192.0.2.201, slurm_partition: short}
      hosts:
        n01: {ansible_host: 192.0.2.101, data_address: 198.51.100.1, mac: "02:00:00:00:00:01"}
        n02: {ansible_host: 192.0.2.102, data_address: 198.51.100.2, mac: "02:00:00:00:00:02"}
"""
_CABLES = "end_a,end_b,rate_mbps,kind,switchable\nsw1:gi1,n01:eth0,1000,copper,no\nsw1:gi2,n02:eth0,1000,copper,no\n"
_NEEDED = (
    "management_network",
    "data_network",
    "ansible_host",
    "mtu_byte",
    "agent_python",
    "way_in",
    "quirks",
    "model",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _written(tmp_path, {"hosts.yml": _HOSTS, "cables.csv": _CABLES})


def _written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_files_and_folders_of_variables_are_read_as_ansible_reads_them(folder: Path) -> None:
    _written(
        folder,
        {
            "host_vars/n01.yml": "mtu_byte: 9000\n",
            "host_vars/n02/python.yaml": "agent_python: /opt/py/bin/python\n",
            "host_vars/n99.yml": "mtu_byte: 5\n",
            "group_vars/all": "way_in: sw1:9\n",
            "group_vars/nodes.json": '{"mtu_byte": 4000, "ansible_host": "192.0.2.7"}',
            "group_vars/switches/first.yml": "model: SG350-28\n",
            "group_vars/switches/.hidden.yml": "model: wrong\n",
        },
    )
    inventory = with_ansible(folder / "hosts.yml", read_ansible(folder / "hosts.yml"), _NEEDED, installed=True)
    held = {entry.name: entry.variables for entry in inventory.entries}
    assert list(held) == ["sw1", "n01", "n02"]
    assert held["n01"]["mtu_byte"] == Variable(9000, 1, str(folder / "host_vars" / "n01.yml"))
    assert held["n02"]["mtu_byte"].value == 4000
    assert held["n02"]["agent_python"].file == str(folder / "host_vars" / "n02" / "python.yaml")
    assert held["n01"]["ansible_host"] == Variable("192.0.2.101", 19, "")
    assert held["sw1"]["model"].value == "SG350-10"  # what stands at the host in hosts.yml is nearer
    assert inventory.variables["way_in"].value == "sw1:9"
    for entry in inventory.entries:
        command = [sys.executable, "-m", "ansible", "inventory", "-i", str(folder / "hosts.yml"), "--host", entry.name]
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        assert {name: variable.value for name, variable in entry.variables.items()} == said


def test_templates_have_their_values_and_secrets_stay_lookups(folder: Path) -> None:
    text = _HOSTS.replace("192.0.2.101", '"{{ prefix }}.{{ 100 + 1 }}"').replace("rack: 7", "prefix: 192.0.2, mtu: 7")
    text = text.replace("mtu: 7", "mtu_byte: '{{ 4500 * 2 }}', ansible_become_password: \"{{ lookup('env', 'X') }}\"")
    _written(folder, {"hosts.yml": text})
    inventory = with_ansible(folder / "hosts.yml", read_ansible(folder / "hosts.yml"), _NEEDED, installed=True)
    held = next(entry.variables for entry in inventory.entries if entry.name == "n01")
    assert (held["ansible_host"].value, held["mtu_byte"].value) == ("192.0.2.101", 9000)
    assert held["ansible_become_password"].value == "{{ lookup('env', 'X') }}"


@pytest.mark.slow
def test_what_is_encrypted_is_left_to_playbooks(folder: Path) -> None:
    encrypted = "$ANSIBLE_VAULT;1.1;AES256\n3162\n"
    _written(folder, {"group_vars/all/vault.yml": encrypted})
    written = read_ansible(folder / "hosts.yml")
    assert with_ansible(folder / "hosts.yml", written, _NEEDED, installed=False) is written
    inline = "mtu_byte: 4000\nansible_become_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3162\n"
    _written(folder, {"group_vars/nodes.yml": inline})
    assert {host.mtu_byte for host in load_lab(folder).hosts} == {4000}


@pytest.mark.slow
def test_a_template_that_cannot_be_evaluated_is_said_with_its_place(folder: Path) -> None:
    _written(folder, {"host_vars/n02.yml": 'ansible_host: "{{ nowhere }}.2"\n'})
    with pytest.raises(InventoryError, match=r"host_vars/n02.yml:1: ansible_host: .*cannot evaluate.*nowhere"):
        load_lab(folder)


@pytest.mark.slow
def test_a_file_that_ansible_cannot_read_is_said(folder: Path) -> None:
    _written(folder, {"group_vars/nodes.yml": "a: [\n"})
    with pytest.raises(InventoryError, match="Ansible cannot read it"):
        load_lab(folder)


def test_without_ansible_what_only_it_reads_is_refused_by_name(folder: Path) -> None:
    written = read_ansible(folder / "hosts.yml")
    assert with_ansible(folder / "hosts.yml", written, _NEEDED, installed=False) is written
    _written(folder, {"host_vars/n01.yml": "mtu_byte: 9000\n"})
    with pytest.raises(InventoryError, match=r"host_vars/n01.yml: only Ansible reads this"):
        with_ansible(folder / "hosts.yml", written, _NEEDED, installed=False)
    _written(folder, {"hosts.yml": _HOSTS.replace("192.0.2.101", '"{{ prefix }}.101"')})
    written = read_ansible(folder / "hosts.yml")
    with pytest.raises(InventoryError, match=r"hosts.yml:19: ansible_host: is a template"):
        with_ansible(folder / "hosts.yml", written, _NEEDED, installed=False)


def test_a_sites_own_variables_are_left_alone_and_misspelled_ones_are_not(folder: Path) -> None:
    lab = load_lab(folder)
    assert [host.management_address for host in lab.hosts] == ["192.0.2.101", "192.0.2.102"]
    own = "rack: 7, interface: eth0, interfaces: [eth0, eth1], address: 7, network: here"
    _written(folder, {"hosts.yml": _HOSTS.replace("rack: 7", own)})
    assert len(load_lab(folder).hosts) == 2
    for wrong, right in (("mtu", "mtu_byte"), ("intreface", "interface")):
        _written(folder, {"hosts.yml": _HOSTS.replace("rack: 7", f"{wrong}: 7")})
        with pytest.raises(InventoryError, match=f"{wrong}: n01 has no such variable; did you mean {right}"):
            load_lab(folder)
    _written(folder, {"hosts.yml": _HOSTS.replace("management_network", "managment_network")})
    with pytest.raises(InventoryError, match="did you mean management_network"):
        load_lab(folder)


@pytest.mark.slow
def test_an_interface_from_elsewhere_is_named_where_a_cable_contradicts_it(folder: Path) -> None:
    _written(folder, {"host_vars/n01.yml": "---\ninterface: enp65s0f0\n"})
    with pytest.raises(InventoryError, match=r"n01 has no port eth0: its interface is enp65s0f0 \(.*n01.yml:2\)"):
        load_lab(folder)
