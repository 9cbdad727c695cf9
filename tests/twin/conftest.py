"""A small lab with addresses of its own, so that tests disturb neither a shipped lab nor each other."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_COUNT = iter(range(200))

Eeectl = Callable[..., "subprocess.CompletedProcess[str]"]


def _lab_folder(parent: Path, name: str, number: int) -> Path:
    """Two switches of two families, two cables between them of which one is shut, four hosts, two strips."""
    folder = parent / name
    (folder / "twin" / "startup").mkdir(parents=True)
    hosts = "".join(
        f"        n0{n}: {{ansible_host: 198.18.{number}.{n}, data_address: 198.19.{number}.{n}, "
        f'mac: "02:ee:{number:02x}:00:00:0{n}"}}\n'
        for n in range(1, 5)
    )
    secrets = f"/run/eee-testbed/{name}/secrets"
    (folder / "hosts.yml").write_text(
        f"""all:
  vars:
    management_network: 198.18.{number}.0/24
    data_network: 198.19.0.0/16
  children:
    switches:
      vars:
        password_file: {secrets}/cli_password
        community_file: {secrets}/snmp_write_community
        known_hosts_file: /run/eee-testbed/{name}/known_hosts
      hosts:
        sw1:
          ansible_host: 127.{number}.1.1
          family: dell_powerconnect_55xx
          model: PowerConnect 5524
          ports: {{"gi1/0/[1:24]": 1000, "te1/0/[1:2]": 10000}}
        sw2:
          ansible_host: 127.{number}.1.2
          family: netgear_m4300
          model: M4300-28G
          ports: {{"1/0/[1:24]": 1000, "1/0/[25:28]": 10000}}
    nodes:
      vars:
        ansible_user: lab
        ansible_ssh_common_args: -F /run/eee-testbed/{name}/ssh_config
      hosts:
{hosts}    strips:
      vars:
        community_file: {secrets}/snmp_write_community
      hosts:
        pdu1: {{ansible_host: 127.{number}.2.1, family: gude, model: Expert Power Control 8226, outlets: 12}}
""",
        encoding="utf-8",
    )
    (folder / "cables.csv").write_text(
        """end_a,end_b,rate_mbps,kind,switchable
sw1:gi1/0/1,n01:eth0,1000,copper,no
sw1:gi1/0/2,n02:eth0,1000,copper,no
sw2:1/0/1,n03:eth0,1000,copper,no
sw2:1/0/2,n04:eth0,1000,copper,no
sw1:gi1/0/11,sw2:1/0/11,1000,copper,yes
sw1:gi1/0/12,sw2:1/0/12,1000,copper,yes
""",
        encoding="utf-8",
    )
    rows = "".join(f"pdu1,{n},{device}\n" for n, device in enumerate(("sw1", "sw2", "n01", "n02", "n03", "n04"), 1))
    (folder / "outlets.csv").write_text(f"strip,outlet,feeds\n{rows}", encoding="utf-8")
    truth = (_ROOT / "inventory" / "virtual" / "twin" / "truth.yaml").read_text(encoding="utf-8")
    kept = [line for line in truth.splitlines() if "sw4:" not in line and line.strip() != "overrides:"]
    (folder / "twin" / "truth.yaml").write_text("\n".join(kept) + "\n", encoding="utf-8")
    startup = folder / "twin" / "startup"
    shut = "no spanning-tree\ninterface {}\nshutdown\nexit\n"
    (startup / "sw1.cfg").write_text(shut.format("gi1/0/12"), encoding="utf-8")
    (startup / "sw2.cfg").write_text(f"configure\n{shut.format('1/0/12')}exit\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def eeectl_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of `eeectl` with a state root of this test session, short as socket paths have to be."""
    root = tmp_path_factory.mktemp("state")
    short = Path("/run") / f"eee-test-{os.getpid()}"
    with contextlib.suppress(OSError):
        root.rmdir()
    return {**os.environ, "EEE_STATE_DIR": str(short), "PYTHONPATH": str(_ROOT)}


@pytest.fixture(scope="session")
def eeectl(eeectl_environment: dict[str, str]) -> Eeectl:
    """Run `eeectl` with these arguments and return what it printed."""

    def run(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        argv = [sys.executable, "-m", "controller.cli", *arguments]
        given: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120, "env": eeectl_environment}
        return subprocess.run(argv, check=False, **{**given, **options})

    return run


@pytest.fixture
def make_lab(tmp_path: Path) -> Callable[[], Path]:
    """Write another lab's folder: no two have an address in common."""

    def make() -> Path:
        number = 100 + (os.getpid() + next(_COUNT)) % 150
        return _lab_folder(tmp_path, f"t{number}", number)

    return make


def _skip_without_rights() -> None:
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        pytest.skip("a lab needs root and /dev/net/tun")
    if shutil.which("sshd", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("a lab needs sshd")


@pytest.fixture
def rights() -> None:
    """Skip where no lab can be brought up."""
    _skip_without_rights()


@pytest.fixture(scope="module")
def running_lab(
    eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Path]]:
    """Bring a small lab up for the tests of one module: (its folder, its state folder)."""
    _skip_without_rights()
    number = 100 + (os.getpid() + next(_COUNT)) % 150
    folder = _lab_folder(tmp_path_factory.mktemp("labs"), f"m{number}", number)
    done = eeectl("lab", "up", str(folder))
    assert done.returncode == 0, done.stderr
    yield folder, Path(eeectl_environment["EEE_STATE_DIR"]) / folder.name
    done = eeectl("lab", "down", folder.name)
    assert done.returncode == 0, done.stderr
