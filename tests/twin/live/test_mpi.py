"""mpirun over four hosts behind three switches, from the machine itself and from one of the hosts."""

import re
import shutil
from collections.abc import Iterator

import pytest

from tests.support import ROOT
from tests.support.labs.lab_client import LabClient, run

NAMES = "n01,n02,n03,n09"
COUNT = 5_000
# what each host gets from the three others in ten turns, at least: integers of 4 bytes
LEAST_BYTE = 10 * 3 * COUNT * 4


@pytest.fixture
def program(lab: LabClient) -> Iterator[str]:
    there = lab.state / "shared" / "alltoall.py"
    shutil.copy(ROOT / "tests/support/nodes/alltoall.py", there)
    there.chmod(0o644)
    yield f"/usr/bin/python3 /shared/alltoall.py {COUNT}"
    there.unlink()


def _received(lab: LabClient, host: str) -> int:
    return int(lab.ssh(host, "cat /sys/class/net/eth0/statistics/rx_bytes").stdout)


def _check(printed: str) -> None:
    shown = sorted(re.findall(r"rank (\d) of 4 at (n\d\d): (\d+) wrong", printed))
    assert shown == [("0", "n01", "0"), ("1", "n02", "0"), ("2", "n03", "0"), ("3", "n09", "0")], printed


def test_from_outside(lab: LabClient, program: str) -> None:
    before = _received(lab, "n09")
    done = run(["sh", "-c", f". {lab.state}/mpi/environment; exec mpirun --host {NAMES} {program}"], patience_s=120)
    _check(done.stdout)
    assert _received(lab, "n09") - before >= LEAST_BYTE


def test_from_a_host(lab: LabClient, program: str) -> None:
    before = _received(lab, "n09")
    done = lab.ssh("n01", f"mpirun --host {NAMES} {program}", patience_s=120)
    _check(done.stdout)
    assert _received(lab, "n09") - before >= LEAST_BYTE


def test_a_program_without_mpi(lab: LabClient) -> None:
    done = lab.ssh("n01", f"mpirun --host {NAMES} hostname")
    assert sorted(done.stdout.split()) == NAMES.split(",")
