"""A lab of two switches of two families, two cables between them (one shut), four hosts and a strip; its fixtures."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.twin.lab import lifecycle as labs
from tests.support.labs.lab_files import DELL, NETGEAR, ROOT, SmallLab, virtual_truth
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.left_labs import state_root
from tests.support.needs import needs_lab

Eeectl = Callable[..., "subprocess.CompletedProcess[str]"]

_SHUT = "no spanning-tree\ninterface {}\nshutdown\nexit\n"
_FED = ("sw1", "sw2", "n01", "n02", "n03", "n04")


def write_two_switches(parent: Path, name: str, number: int) -> Path:
    """Write the lab's folder."""
    lab = SmallLab(
        number,
        {"sw1": DELL, "sw2": NETGEAR},
        4,
        (
            "sw1:gi1/0/1,n01:eth0,1000,copper,no",
            "sw1:gi1/0/2,n02:eth0,1000,copper,no",
            "sw2:1/0/1,n03:eth0,1000,copper,no",
            "sw2:1/0/2,n04:eth0,1000,copper,no",
            "sw1:gi1/0/11,sw2:1/0/11,1000,copper,yes",
            "sw1:gi1/0/12,sw2:1/0/12,1000,copper,yes",
        ),
        {"sw1": _SHUT.format("gi1/0/12"), "sw2": f"configure\n{_SHUT.format('1/0/12')}exit\n"},
        (f"pdu1: {{ansible_host: 127.{number}.2.1, family: gude, model: Expert Power Control 8226, outlets: 12}}",),
        tuple(f"pdu1,{outlet},{device}" for outlet, device in enumerate(_FED, 1)),
    )
    return lab.write(parent, name, virtual_truth())


def cap_host(folder: Path, host: str, cpu_ratio: float) -> None:
    """In the truth of a lab's folder, give a host a `cpu_ratio`."""
    yaml, truth = YAML(typ="safe"), folder / "twin" / "truth.yaml"
    content = yaml.load(truth.read_text(encoding="utf-8"))
    content["nodes"].setdefault("overrides", {})[host] = {"cpu_ratio": cpu_ratio}
    with truth.open("w", encoding="utf-8") as stream:
        yaml.dump(content, stream)


@pytest.fixture(scope="session")
def eeectl_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of `eeectl` with a state root of this test session, short as socket paths have to be."""
    root = tmp_path_factory.mktemp("state")
    short = state_root()
    with contextlib.suppress(OSError):
        root.rmdir()
    return {**os.environ, "EEE_STATE_DIR": str(short), "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def eeectl(eeectl_environment: dict[str, str]) -> Eeectl:
    """Run `eeectl` with these arguments and return what it printed."""

    def run(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", *arguments]
        given: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120, "env": eeectl_environment}
        return subprocess.run(argv, check=False, **{**given, **options})

    return run


@pytest.fixture
def make_lab(tmp_path: Path) -> Callable[[], Path]:
    """Write another lab's folder: no two have an address in common."""

    def make() -> Path:
        number = reserve()
        return write_two_switches(tmp_path, f"t{number}", number)

    return make


@pytest.fixture
def rights() -> None:
    """Skip where no lab can be brought up."""
    needs_lab()


@pytest.fixture(scope="module")
def running_lab(
    eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Path]]:
    """Bring a small lab up for the tests of one module: (its folder, its state folder)."""
    needs_lab()
    number = reserve()
    folder = write_two_switches(tmp_path_factory.mktemp("labs"), f"m{number}", number)
    with brought_up(folder, eeectl, eeectl_environment) as state:
        yield folder, state


@contextlib.contextmanager
def brought_up(folder: Path, eeectl: Eeectl, environment: dict[str, str]) -> Iterator[Path]:
    """A lab that is up meanwhile: its state folder."""
    done = eeectl("lab", "up", str(folder))
    assert done.returncode == 0, done.stderr
    yield Path(environment["EEE_STATE_DIR"]) / folder.name
    done = eeectl("lab", "down", folder.name)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def lab(running_lab: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Lab:
    """The running lab, found by this process."""
    folder, state = running_lab
    monkeypatch.setenv("EEE_STATE_DIR", str(state.parent))
    return load_lab(folder)


@pytest.fixture
def fault(lab: Lab) -> Iterator[Callable[..., None]]:
    """Inject faults into the running lab, which are undone at the end."""

    def inject(kind: str, **arguments: object) -> None:
        labs.order(lab.name, "fault", kind=kind, **arguments)

    yield inject
    labs.order(lab.name, "clear")
