"""Playbooks: syntax, refusals, the files they install, idempotence, and the collection that is built of them."""

import json
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest
from ruamel.yaml import YAML

from eee_testbed.lab.model import StripFamily
from tests.support.ansible_play import ANSIBLE, EXAMPLE, PLAYBOOKS, play, recap
from tests.support.needs import needs

_NAMES = (
    *("benchmarks.yml", "experiment.yml", "monitoring.yml", "nodes.yml", "site.yml", "strips.yml", "switches.yml"),
    *("teardown.yml", "verify.yml"),
)
_ROLES = PLAYBOOKS / "roles"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    needs(ANSIBLE)


def _yaml(path: Path) -> dict[str, object]:
    return dict(YAML(typ="safe").load(path.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_syntax_with_the_example_inventory() -> None:
    names = [name for name in _NAMES if (PLAYBOOKS / name).is_file()]
    assert names == list(_NAMES)
    done = play("--syntax-check", "-i", str(EXAMPLE), *names)
    assert done.returncode == 0, done.stderr


def test_a_role_reads_no_variable_of_another_role_but_those_that_it_is_given() -> None:
    """Names begin with their role's name, so that roles cannot set each other's variables by chance."""
    for role in sorted(path.name for path in _ROLES.iterdir()):
        for file in (_ROLES / role).glob("*/*.yml"):
            if file.parent.name in {"defaults", "vars"}:
                assert all(name.startswith(f"{role}_") for name in _yaml(file)), file


@pytest.mark.slow
def test_the_collection_holds_roles_and_playbooks_and_nothing_else(tmp_path: Path) -> None:
    done = play("collection", "build", "--output-path", str(tmp_path), tool="ansible-galaxy")
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = tmp_path.glob("eee-testbed-*.tar.gz")
    with tarfile.open(archive) as opened:
        names = set(opened.getnames())
    tops = {name.split("/")[0] for name in names}
    assert tops - set(_NAMES) == {
        *("ansible.cfg", "CHANGELOG.md", "FILES.json", "MANIFEST.json", "README.md", "meta", "playbooks", "roles")
    }
    assert {f"playbooks/{name}" for name in _NAMES} <= names
    assert {f"roles/{path.name}" for path in _ROLES.iterdir()} <= names
    # Installed, its playbooks are found by their names, and they find their roles.
    done = play(
        "collection", "install", str(archive), "-p", str(tmp_path / "found"), tool="ansible-galaxy", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    words = ("--syntax-check", "-i", str(EXAMPLE), "eee.testbed.site", "eee.testbed.teardown")
    done = play(*words, cwd=tmp_path, ANSIBLE_COLLECTIONS_PATH=str(tmp_path / "found"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_an_unknown_system_and_a_missing_variable_are_refused_before_anything_is_touched(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(
        "all: {vars: {ansible_user: root, ansible_connection: local},"
        " children: {nodes: {hosts: {n01: {ansible_host: 127.0.0.1}}}}}"
    )
    words = ("-i", str(tmp_path / "hosts.yml"), "nodes.yml", "--check", "-e")
    done = play(*words, json.dumps({"system_distribution": "Fedora", "system_version": "40"}))
    assert done.returncode == 2
    assert "n01 runs Fedora 40, and this role sets up Debian 12, Ubuntu 24.04, Rocky Linux 9: install" in done.stdout
    for name, known in (("benchmarks.yml", "Rocky Linux 9: install"), ("monitoring.yml", "Ubuntu 24.04: install")):
        fedora = json.dumps({"system_distribution": "Fedora", "system_version": "40"})
        done = play("-i", str(tmp_path / "hosts.yml"), name, "--check", "-e", fedora)
        assert done.returncode == 2
        assert "runs Fedora 40, and this role sets up Debian 12, Ubuntu 24.04" in done.stdout
        assert known in done.stdout
    done = play(*words, json.dumps({"system_distribution": "Rocky", "system_version": "9.4"}))
    assert done.returncode == 2
    assert "n01 lacks data_address, mac in " in done.stdout
    assert "changed=0" in done.stdout
    given = {"data_address": "192.0.2.1", "mac": "00:00:5e:00:53:01", "nodes_eee": True}
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "host_vars" / "n01.yml").write_text(json.dumps(given))
    done = play(*words, json.dumps({"system_distribution": "Rocky", "system_version": "9.4"}))
    assert 'nodes_eee and nodes_turbo are \\"on\\", \\"off\\" or \\"\\", in quotes' in done.stdout
    done = play("-i", str(tmp_path / "hosts.yml"), "benchmarks.yml", "--check")
    assert "Nothing can be built: give benchmarks_npb_archive and" in done.stdout
    done = play("-i", str(tmp_path / "hosts.yml"), "experiment.yml", "--check")
    assert "No experiment is named" in done.stdout


def test_every_known_system_has_its_names() -> None:
    known = _yaml(_ROLES / "system" / "defaults" / "main.yml")["system_known"]
    assert isinstance(known, dict)
    for role in ("nodes", "benchmarks"):
        kinds = [set(_yaml(_ROLES / role / "vars" / f"{system}.yml")) for system in known]
        assert kinds[0]
        assert all(kind == kinds[0] for kind in kinds)


def test_every_family_of_strips_has_a_place_for_its_snmp_user() -> None:
    known = _yaml(_ROLES / "strips" / "vars" / "main.yml")
    objects, places = known["strips_name_objects"], known["strips_first_contact"]
    assert isinstance(objects, dict)
    assert isinstance(places, dict)
    assert set(places) == set(get_args(StripFamily))
    assert set(places) - set(objects) == {"cyberpower_epdu2"}  # named by hand, as the role says
    assert all(oid.endswith("{n}") for oid in objects.values())


def _checked(folder: Path, problems: Mapping[tuple[str, str], str]) -> Path:
    """What `eeectl lab check` says of the example's switches: a file."""
    rows = [
        {"device": f"sw{n}", "service": service, "problem": problems.get((f"sw{n}", service), "")}
        for n in range(1, 5)
        for service in ("ssh", "snmp")
    ]
    file = folder / "check.json"
    file.write_text(json.dumps({"devices": rows, "changes": []}))
    return file


def _stub(folder: Path, first_contact: str) -> tuple[str, ...]:
    """Words for a program in eeectl's place that has the check in a file; `first_contact` are lines of shell."""
    stub = folder / "eeectl"
    stub.write_text(
        f"#!/bin/sh\n[ $1 = history ] && exec cat {folder}/check.json\n"
        f"if [ $2 = first-contact ]; then\n{first_contact}\nfi\ncat {folder}/check.json\nexit 1\n"
    )
    stub.chmod(0o755)
    words = ("-i", str(EXAMPLE), "switches.yml", "--tags", "access", "-e", f"switches_eeectl={stub}")
    return (*words, "-e", f"switches_record_folder={folder}")


@pytest.mark.slow
def test_an_unreachable_switch_gets_its_console_lines_and_the_others_none(tmp_path: Path) -> None:
    _checked(
        tmp_path,
        {("sw1", "snmp"): "sw1 does not answer SNMP: check it.", ("sw3", "ssh"): "sw3 is not there: check it."},
    )
    done = play(*_stub(tmp_path, f'exec {ANSIBLE.with_name("eeectl")} "$@"'))
    assert done.returncode == 2
    messages = dict(re.findall(r'fatal: \[(sw\d)\]: FAILED! => \{.*"msg": "(.*)"\}', done.stdout))
    assert set(messages) == {"sw1", "sw3"}
    assert "does not answer SNMP" in messages["sw1"]
    assert "snmp-server community COMMUNITY rw" in messages["sw1"]
    assert "lldp run" in messages["sw1"]
    assert "crypto key" not in messages["sw1"]
    assert "ip ssh server" in messages["sw3"]
    assert "ip address 192.0.2.13 255.255.255.0" in messages["sw3"]
    assert "copy running-config startup-config" in messages["sw3"]


@pytest.mark.slow
def test_a_switch_from_its_box_is_set_up_where_the_inventory_says_how_it_is_reached(tmp_path: Path) -> None:
    file = _checked(tmp_path, {("sw2", "ssh"): "sw2 is not there: check it."})
    (tmp_path / "good").mkdir()
    good = _checked(tmp_path / "good", {})
    words = _stub(tmp_path, f'echo "$@" >> {tmp_path}/calls; cp {good} {file}; exit 0')
    given = {"switches_factory_address": "192.0.2.250", "switches_factory_telnet": True, "switches_factory_user": "me"}
    done = play(*words, "-e", json.dumps(given), "--check")
    assert done.returncode == 2  # a dry run sends nothing
    assert "--print" in (tmp_path / "calls").read_text()
    (tmp_path / "calls").unlink()
    _checked(tmp_path, {("sw2", "ssh"): "sw2 is not there: check it."})
    counts = recap(play(*words, "-e", json.dumps(given)))
    assert [counts[name]["changed"] for name in ("sw2", "sw3", "sw4")] == [1, 0, 0]  # sw1 writes the record
    expected = f"lab first-contact {EXAMPLE.parent} sw2 --yes --from=192.0.2.250 --telnet --user=me\n"
    assert (tmp_path / "calls").read_text() == expected
    assert all(row["changed"] == 0 for row in recap(play(*words, "-e", json.dumps(given))).values())
    both = {**given, "switches_factory_serial": "/dev/ttyUSB0"}
    assert "has switches_factory_address and switches_factory_serial" in play(*words, "-e", json.dumps(both)).stdout


@pytest.mark.slow
def test_monitoring_installs_files_that_prometheus_accepts_and_is_idempotent(tmp_path: Path) -> None:
    needs("promtool")
    words = ("-i", str(EXAMPLE), "monitoring.yml", "--tags", "files", "-e", "monitoring_become=false")
    words = (*words, "-e", f"monitoring_root={tmp_path}")
    foretold = recap(play(*words, "--check"))["localhost"]["changed"]
    assert not list(tmp_path.iterdir())
    assert recap(play(*words))["localhost"]["changed"] == foretold == 9
    assert recap(play(*words))["localhost"]["changed"] == 0
    dashboards = tmp_path / "var/lib/grafana/dashboards/eee-testbed"
    assert {path.name for path in dashboards.iterdir()} == {"lab.json", "run.json", "link.json"}
    provider = YAML(typ="safe").load((tmp_path / "etc/grafana/provisioning/dashboards/eee.yml").read_text())
    assert f"{tmp_path}{provider['providers'][0]['options']['path']}" == str(dashboards)
    sources = YAML(typ="safe").load((tmp_path / "etc/grafana/provisioning/datasources/eee.yml").read_text())
    assert {one["uid"]: one["url"] for one in sources["datasources"]} == {
        "eee-prometheus": "http://127.0.0.1:9090",
        "eee-victoria": "http://127.0.0.1:8428",
    }
    config = YAML(typ="safe").load((tmp_path / "etc/prometheus/prometheus.yml").read_text())
    targets = [one["targets"][0] for job in config["scrape_configs"] for one in job["static_configs"]]
    assert targets[:2] == ["127.0.0.1:9464", "192.0.2.101:9105"]
    assert len(targets) == 17
    (rules,) = config["rule_files"]
    assert (tmp_path / rules.lstrip("/")).is_file()
