"""Sweeps over MPI, with mpirun on this machine (shared memory and loopback): the same bytes as without it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from tests.support.needs import lacking, needs

_FILE: Final = """\
name: ring
network: {kind: torus, radix: [4]}
routing: dor
router: {vcs: 2}
loads: [0.1, 0.2, 0.3]
seeds: [1, 2]
precision: {within_percent: 5, batch_cycles: 50}
"""

_RANKS: Final = """\
import os, signal, sys
from pathlib import Path
from eee_testbed.simulation.description_file import read_description
from eee_testbed.simulation.pool import mpi_pool
from eee_testbed.simulation.results import Results
from eee_testbed.simulation.sweep import simulate
from eee_testbed.simulation.worker import Worker, serve

def die_once(here):
    try:
        Path(sys.argv[2]).touch(exist_ok=False)
    except FileExistsError:
        return serve(here)
    here.recv()
    os.kill(os.getpid(), signal.SIGKILL)

child = Worker(die_once)

def by_child(task):
    return child.work(task)

if __name__ == "__main__":
    with mpi_pool(by_child) as pool:
        if pool is not None:
            description = read_description(Path("ring.yaml"))
            simulate(description, Results(Path(sys.argv[1]), description), pool, lambda one: print("lost", one.lost))
"""
"""Every process of the job lets its first child be killed with a point in hand, if it is the first child of all."""


def _mpi4py() -> Path | None:
    """The folder to add to PYTHONPATH: the system's mpi4py, if this environment has none of its own."""
    system = Path("/usr/lib/python3/dist-packages/mpi4py")
    here = f"cpython-{sys.version_info.major}{sys.version_info.minor}-"
    return system if any(here in one.name for one in system.glob("MPI.*.so")) else None


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    needs("mpirun")
    if _mpi4py() is None:
        lacking("Debian's mpi4py is not for this version of Python")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.yaml").write_text(_FILE, encoding="utf-8")
    found = _mpi4py()
    assert found is not None
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "mpi4py").symlink_to(found)
    return tmp_path


def _mpirun(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return subprocess.run(
        ["mpirun", "-n", "3", *root, "--oversubscribe", "--mca", "btl", "self,vader", *command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "packages")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_mpi_gives_the_same_bytes_as_this_process(folder: Path) -> None:
    command = [sys.executable, "-m", "eee_testbed.eeectl.cli", "simulate", "ring.yaml"]
    found = _mpirun(folder, *command, "--mpi", "--json", "--output", "by-mpi")
    assert found.returncode == 0, found.stderr
    assert found.stdout.count('"folder"') == 1
    assert found.stderr.count("diameter 2") == 1
    assert eeectl(["simulate", "ring.yaml", "--output", "here"]) == 0
    assert Path("by-mpi/points.parquet").read_bytes() == Path("here/points.parquet").read_bytes()
    # A mistake is told once, and ends all processes.
    wrong = _mpirun(folder, *command, "--mpi", "--output", "ring.yaml")
    assert wrong.returncode == 1
    assert wrong.stderr.count("name another folder") == 1


@pytest.mark.slow
def test_the_points_of_a_lost_process_are_run_again(folder: Path) -> None:
    (folder / "ranks.py").write_text(_RANKS, encoding="utf-8")
    found = _mpirun(folder, sys.executable, "ranks.py", "by-mpi", str(folder / "died"))
    assert found.returncode == 0, found.stderr
    assert sorted(found.stdout.splitlines()) == ["lost 0"] * 5 + ["lost 1"]
    assert eeectl(["simulate", "ring.yaml", "--output", "here"]) == 0
    assert Path("by-mpi/points.parquet").read_bytes() == Path("here/points.parquet").read_bytes()
