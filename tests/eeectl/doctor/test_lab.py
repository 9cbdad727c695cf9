"""What the doctor says of a lab."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.controller.checking.node_tools import COMMANDS, MODULES, RIGHTS
from eee_testbed.eeectl.doctor.finding import command_in
from eee_testbed.eeectl.doctor.lab import lab_findings, node_findings, secret_findings
from eee_testbed.lab.errors import Unreachable
from eee_testbed.lab.model import Lab
from tests.support import ROOT
from tests.support.labs.toy_view import LAB


def _with_password(**password: str) -> Lab:
    switches = tuple(replace(switch, **password) for switch in LAB.switches)
    return replace(LAB, switches=switches, strips=())


def test_a_secret_that_is_missing_is_said_once_and_its_command_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "keys" / "cli password"
    (found,) = secret_findings(_with_password(password_file=str(file)))
    assert found.what == "sw1, sw2"
    assert "cannot be read" in found.sentence
    subprocess.run(["bash", "-c", found.command], input="hush\n", text=True, check=True)
    assert file.read_text() == "hush\n"
    assert list(secret_findings(_with_password(password_file=str(file)))) == []


def test_a_secret_that_others_may_read_is_closed_by_its_command(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("hush")
    file.chmod(0o644)
    (found,) = secret_findings(_with_password(password_file=str(file)))
    assert found.command == f"chmod 600 {file}"


def test_a_variable_that_is_not_set() -> None:
    (found,) = secret_findings(_with_password(password_variable="EEE_TEST_NO_SUCH_VARIABLE"))
    assert found.command == "read -rs EEE_TEST_NO_SUCH_VARIABLE && export EEE_TEST_NO_SUCH_VARIABLE"


def test_each_mistake_of_the_inventory_names_file_and_line(tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "inventory" / "example", tmp_path / "rack")
    cables = folder / "cables.csv"
    lines = cables.read_text().splitlines()
    cables.write_text("\n".join([*lines, "sw1:nowhere,sw9:1,1000,copper,yes", ""]))
    found = list(lab_findings(str(folder)))
    assert {one.what for one in found} == {"cables.csv"}
    assert all(one.command.endswith(f" +{len(lines) + 1} {cables}") for one in found)


def test_a_virtual_lab_that_is_down_is_brought_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path))
    folder = shutil.copytree(ROOT / "inventory" / "miwa", tmp_path / "labs" / "small")
    hosts = folder / "hosts.yml"
    hosts.write_text(hosts.read_text().replace("/run/eee-testbed/miwa", str(tmp_path / "small")))
    (found,) = lab_findings(str(folder))
    assert (found.what, found.sentence) == ("lab small", "is down.")
    assert found.command == f"eeectl lab up {folder}"


def test_what_nodes_lack_is_said_once_for_all_of_them() -> None:
    mpirun, mpi4py, raw = COMMANDS[0], MODULES[0], RIGHTS[0]
    lacking = {"n01": (mpirun, raw), "n02": (mpirun, mpi4py)}
    found = {one.sentence.split()[0]: one for one in node_findings(replace(LAB, folder="/labs/toy"), lacking)}
    assert found["mpirun"].what == "every node"
    assert found["mpirun"].command == "ansible-playbook -i /labs/toy/hosts.yml playbooks/nodes.yml"
    assert (found["mpi4py"].what, found["mpi4py"].severity) == ("n02", "missing")
    assert (found["CAP_NET_RAW"].what, found["CAP_NET_RAW"].severity) == ("n01", "optional")
    assert list(node_findings(LAB, {"n01": Unreachable("n01", "no answer.")})) == []


def test_the_command_is_the_one_that_the_sentence_names() -> None:
    assert command_in("its key is new: run `ssh-keyscan h >> known_hosts`.", "else") == "ssh-keyscan h >> known_hosts"
    assert command_in("set `password` of the switch.", "else") == "else"
