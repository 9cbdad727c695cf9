"""Playbooks: syntax, the files they install, idempotence, and the set-up of nodes of a live lab."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from ruamel.yaml import YAML

from controller.experiments.experiment import ProbeRun
from controller.experiments.probing import probe
from controller.transports.hosts import ssh_command
from lab.folder import load_lab
from lab.model import SwitchFamily
from record.run_clock import RunClock
from tests.support import ROOT

_PLAYBOOKS = ROOT / "playbooks"
_ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
_EXAMPLE = ROOT / "inventory" / "example" / "hosts.yml"

pytestmark = pytest.mark.skipif(not _ANSIBLE.exists(), reason="ansible-core is not installed")


def _play(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run ansible-playbook where its ansible.cfg is."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    return subprocess.run(
        [_ANSIBLE, *words],
        cwd=_PLAYBOOKS,
        env={**clean, "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _recap(done: "subprocess.CompletedProcess[str]") -> dict[str, dict[str, int]]:
    """Counts of each host."""
    assert done.returncode == 0, done.stdout + done.stderr
    lines = re.findall(r"^(\S+) +: (ok=.*)$", done.stdout, re.MULTILINE)
    return {host: {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", counts)} for host, counts in lines}


def test_syntax_with_the_example_inventory() -> None:
    names = sorted(path.name for path in _PLAYBOOKS.glob("*.yml"))
    assert names == ["monitoring.yml", "nodes.yml", "switches.yml"]
    done = _play("--syntax-check", "-i", str(_EXAMPLE), *names)
    assert done.returncode == 0, done.stderr


def test_every_family_has_console_lines_with_their_source() -> None:
    lines = YAML(typ="safe").load((_PLAYBOOKS / "switches" / "console_lines.yml").read_text())["console_lines"]
    assert set(lines) == set(get_args(SwitchFamily))
    for family, known in lines.items():
        assert set(known) == {"source", "ssh", "snmp", "end"}, family
        assert known["source"]
        assert known["ssh"]


def test_an_unreachable_switch_gets_its_console_lines_and_the_others_none(tmp_path: Path) -> None:
    problems = {("sw1", "snmp"): "sw1 does not answer SNMP: check it.", ("sw3", "ssh"): "sw3 is not there: check it."}
    rows = [
        {"device": f"sw{n}", "service": service, "problem": problems.get((f"sw{n}", service), "")}
        for n in range(1, 5)
        for service in ("ssh", "snmp")
    ]
    (tmp_path / "check.json").write_text(json.dumps({"devices": rows}))
    stub = tmp_path / "eeectl"
    stub.write_text(f"#!/bin/sh\ncat {tmp_path}/check.json\nexit 1\n")
    stub.chmod(0o755)
    done = _play("-i", str(_EXAMPLE), "switches.yml", "-e", f"eeectl={stub}")
    assert done.returncode == 2
    messages = dict(re.findall(r'fatal: \[(sw\d)\]: FAILED! => \{.*"msg": "(.*)"\}', done.stdout))
    assert set(messages) == {"sw1", "sw3"}
    assert "does not answer SNMP" in messages["sw1"]
    assert "snmp-server community COMMUNITY rw" in messages["sw1"]
    assert "crypto key" not in messages["sw1"]
    assert "ip ssh server" in messages["sw3"]
    assert "copy running-config startup-config" in messages["sw3"]


def test_monitoring_installs_files_that_prometheus_accepts_and_is_idempotent(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    words = ("-i", str(_EXAMPLE), "monitoring.yml", "--tags", "files", "-e", "monitoring_become=false")
    words = (*words, "-e", f"root={tmp_path}")
    assert _recap(_play(*words))["localhost"]["changed"] == 6
    assert _recap(_play(*words))["localhost"]["changed"] == 0
    dashboards = tmp_path / "var/lib/grafana/dashboards/eee-testbed"
    assert {path.name for path in dashboards.iterdir()} == {"lab.json", "run.json", "link.json"}
    provider = YAML(typ="safe").load((tmp_path / "etc/grafana/provisioning/dashboards/eee.yml").read_text())
    assert f"{tmp_path}{provider['providers'][0]['options']['path']}" == str(dashboards)
    config = YAML(typ="safe").load((tmp_path / "etc/prometheus/prometheus.yml").read_text())
    targets = [one["targets"][0] for job in config["scrape_configs"] for one in job["static_configs"]]
    assert targets[:2] == ["127.0.0.1:9464", "192.0.2.101:9105"]
    assert len(targets) == 17


@pytest.mark.lab
def test_nodes_of_a_lab_are_set_up_and_a_second_run_changes_nothing(
    running_lab: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, state = running_lab
    monkeypatch.setenv("EEE_STATE_DIR", str(state.parent))
    lab = load_lab(folder)
    key = tmp_path / "key.pub"
    key.write_text("ssh-ed25519 AAAATEST somebody@controller\n")
    given = {
        "ansible_user": "root",
        "eee_user": "lab",
        "ansible_ssh_common_args": lab.host("n01").ssh_arguments,
        "controller_key_file": str(key),
    }
    words = ("-i", str(folder / "hosts.yml"), "nodes.yml", "--skip-tags", "packages", "--limit", "n01,n02")
    words = (*words, "-e", json.dumps(given))
    first, second = _recap(_play(*words)), _recap(_play(*words))
    assert set(first) == {"n01", "n02"}
    assert all(counts["changed"] >= 8 for counts in first.values())
    assert all(counts["changed"] == counts["failed"] == 0 for counts in second.values())

    def on_n01(command: str) -> str:
        argv = ssh_command(lab.host("n01"), ["sh", "-c", command])
        return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=30).stdout

    names = f"n02 {lab.host('n02').data_address} {lab.host('n02').management_address}"
    names_found = on_n01(
        f"for name in {names}; do ssh -o BatchMode=yes -o StrictHostKeyChecking=yes $name hostname; done"
    )
    assert names_found.split() == ["n02"] * 3
    assert "somebody@controller" in on_n01("cat ~/.ssh/authorized_keys")
    python = "/usr/local/libexec/eee-testbed/python3"
    assert (
        on_n01(f"{python} -c 'print(open(\"/proc/self/status\").read())' | grep CapEff").split()[1] == f"{1 << 13:016x}"
    )
    assert "CapEff:\t0000000000000000" in on_n01("cat /proc/self/status")  # other programs gained no privilege
    unprivileged = replace(lab.host("n01"), agent_python=python)
    probe_run = ProbeRun(source="n01", target="n03", count=30, gap_us=(2_000.0, 4_000.0))
    probed = probe(unprivileged, lab.host("n03"), probe_run, tmp_path, seed=1, now=RunClock().now_ns)
    assert len(probed.rtts_us) == 30
    assert all(gap is not None for gap in probed.recording.column("idle_receive_ns")[1:])  # it captured frames
