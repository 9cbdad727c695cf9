"""The blocks of the provisioning page run in order, from bare hosts of a live lab to a report and back.

What a person does between them is done here: the inventory is completed as the page says, and an archive of NPB's
layout lies where a block looks for it. In the blocks the lab's folder and networks stand where the page has others. The
study has a shorter budget, and its question is answered; the experiment has fewer trials. Monitoring goes to a node, so
that this machine stays as it is. A program runs in slower lab time, as the hosts share this machine's processors; what
plays measure, in a time that gets slower after late trials. Nothing else is changed. First contacts (marked no-run)
have tests of their own.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest
from ruamel.yaml import YAML

from eee_testbed.lab.folder import load_lab
from tests.support import ROOT
from tests.support.ansible_play import ANSIBLE, PLAYBOOKS
from tests.support.apt_repository import make_repository
from tests.support.doc_pages import Block, blocks_of
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.left_labs import state_root
from tests.support.labs.two_switches import write_two_switches
from tests.support.needs import needs
from tests.support.nodes.host_state import OFFLINE, changed_files, on, state_of
from tests.support.nodes.toy_sources import write_toy_npb
from tests.support.toy_grafana import make_grafana

_PAGE: Final = ROOT / "docs" / "how-to" / "provisioning.md"
_PACKAGES: Final = ("chrony", "lldpd", "prometheus", "victoria-metrics")
_PROGRAMS: Final = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
_MONITORING: Final = "n04"
_PATIENCE_S: Final = 2_400
_SHOWN_LINES: Final = 80
_FEWER_TRIALS: Final = {"sleep_us": [0, 500], "array_byte": [4096]}

pytestmark = [pytest.mark.lab, pytest.mark.alone, pytest.mark.night]


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    needs(ANSIBLE, "gfortran")


def _rewrite(path: Path, change: Callable[[Any], None]) -> None:
    yaml = YAML()
    written = yaml.load(path.read_text(encoding="utf-8"))
    change(written)
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(written, file)


@dataclass(frozen=True)
class Person:
    """Somebody with a checkout in `folder`, a home of their own, and a lab of this number, whose files are `rack`."""

    folder: Path
    rack: Path
    state: Path
    number: int

    @property
    def name(self) -> str:
        return self.rack.name

    @property
    def inventory(self) -> Path:
        return self.folder / "inventory" / self.name

    def words(self, text: str) -> str:
        """A block's text for this lab."""
        text = re.sub(r"\bmylab\b", self.name, text)
        text = text.replace("192.0.2.0/24", f"127.{self.number}.0.0/22").replace("192.0.2.1", f"198.18.{self.number}.1")
        text = re.sub(r"(eeectl study .*) --budget \S+", r"\1 --yes --budget 1m", text)
        clock = f"eeectl lab clock {self.name}"
        measuring = r"^(ansible-playbook .* (site|experiment)\.yml|eeectl (bench|study) )"
        return re.sub(measuring, rf"{clock} auto\n\g<0>", text, flags=re.MULTILINE)

    def environment(self) -> Mapping[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "EEE_"))}
        return kept | {
            "HOME": str(self.folder / "home"),
            "PATH": f"{ANSIBLE.parent}:{os.environ['PATH']}",
            "EEE_STATE_DIR": str(self.state.parent),
            "EEE_CONTROLLER_DIR": str(self.folder / "controller"),
            "PYTHONPATH": str(ROOT),
            "ANSIBLE_NOCOLOR": "1",
            "LC_ALL": "C.UTF-8",
        }

    def shell(self, script: str) -> str:
        """What a script printed that ended well."""
        done = subprocess.run(
            ["bash", "-ec", script], check=False, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, "\n".join(done.stdout.splitlines()[-_SHOWN_LINES:])
        return done.stdout

    def settle(self) -> None:
        """The checkout and what the page says lies at home."""
        shutil.copytree(PLAYBOOKS, self.folder / "playbooks", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "experiments", self.folder / "experiments")
        _rewrite(
            self.folder / "experiments" / "alltoall-eee.yaml", lambda asked: asked["factors"].update(_FEWER_TRIALS)
        )
        home = self.folder / "home"
        (home / ".ssh").mkdir(parents=True)
        shutil.copy(self.state / "keys" / "lab_ed25519.pub", home / ".ssh" / "id_ed25519.pub")
        secrets = home / ".config" / "eee-testbed" / self.name
        secrets.mkdir(parents=True)
        shutil.copy(self.state / "secrets" / "snmp_write_community", secrets / "snmp_community")
        archive, checksum = write_toy_npb(self.folder / "sources", _PROGRAMS)
        shutil.move(archive, home / "NPB3.3.1.tar.gz")
        (home / "NPB3.3.1.sha256").write_text(f"{checksum}  NPB3.3.1.tar.gz\n")

    def complete(self) -> None:
        """The inventory, as the first step says; what was discovered is replaced."""
        found = (self.inventory / "hosts.yml").read_text(encoding="utf-8")
        assert all(f"127.{self.number}.{place}" in found for place in ("1.1", "1.2", "2.1"))
        for name in ("hosts.yml", "cables.csv", "outlets.csv"):
            shutil.copy(self.rack / name, self.inventory / name)
        shutil.copytree(self.rack / "twin", self.inventory / "twin")

        def complete(inventory: Any) -> None:
            groups = inventory["all"]["children"]
            groups["nodes"]["vars"]["ansible_user"] = "bench"
            groups["monitoring"] = {"hosts": {_MONITORING: None}}

        self.edit(complete)

    def edit(self, change: Callable[[Any], None]) -> None:
        _rewrite(self.inventory / "hosts.yml", change)

    def write(self, block: Block) -> None:
        """A block of settings goes where the text before it says."""
        settings = YAML(typ="safe").load(self.words(block.text))
        if "agent_python" in settings:
            self.edit(lambda inventory: inventory["all"]["children"]["nodes"]["vars"].update(settings))
        else:
            (self.inventory / "group_vars").mkdir()
            given = f"{self.words(block.text)}monitoring_grafana_repository: file:///shared/grafana\n"
            (self.inventory / "group_vars" / "all.yml").write_text(given, encoding="utf-8")


@pytest.fixture
def person(tmp_path: Path, rights: None) -> Iterator[Person]:  # noqa: ARG001 - skips without them
    number = reserve()
    root = state_root(f"-p{number}")
    rack = write_two_switches(tmp_path / "racks", f"page{number}", number)
    hosts = (rack / "hosts.yml").read_text(encoding="utf-8").replace("/run/eee-testbed/", f"{root}/labs/")
    (rack / "hosts.yml").write_text(hosts, encoding="utf-8")
    made = Person(root / "checkout", rack, root / "labs" / rack.name, number)
    (made.folder / "home").mkdir(parents=True)
    made.shell(f"eeectl lab up {rack} --rate 1")
    yield made
    made.shell(f"eeectl lab down {rack.name} --yes")
    shutil.rmtree(root, ignore_errors=True)


def test_the_blocks_of_the_page_run_in_order(person: Person, tmp_path: Path) -> None:
    person.settle()
    shared = person.state / "shared"
    make_repository(shared / "repository", _PACKAGES)
    make_grafana(shared / "grafana", tmp_path / "grafana")
    nodes = {host.name: replace(host, user="root") for host in load_lab(person.rack).hosts}
    for node in nodes.values():
        on(node, OFFLINE)
    found = {name: state_of(node) for name, node in nodes.items()}

    place, printed = ".", ""
    blocks = [block for block in blocks_of(_PAGE) if "no-run" not in block.marks]
    assert {block.language for block in blocks} == {"sh", "yaml"}
    for block in blocks:
        if block.language == "yaml":
            person.write(block)
            continue
        if "--files-only" in block.text:
            person.complete()
        printed = person.shell(
            f"cd {place}; echo '## {block.place}'; {person.words(block.text)}\npwd > {tmp_path}/place"
        )
        place = (tmp_path / "place").read_text().strip()
        person.shell(f"eeectl lab clock {person.name} 1")
    assert "FAILED" not in printed
    for name, node in nodes.items():
        now = state_of(node)
        assert now["packages"] == found[name]["packages"]
        assert not changed_files(found[name], now)
