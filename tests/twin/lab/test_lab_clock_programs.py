"""Programs that nobody changed, each on hosts of a lab whose clock runs at another pace than the wall's."""

import itertools
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from eee_engine import read_lab_clock

from eee_testbed.agents.pack import packed
from eee_testbed.agents.recording import read_stream
from tests.support import ROOT
from tests.support.labs.two_switches import Eeectl
from tests.support.needs import lacking, needs

pytestmark = pytest.mark.lab

_FORTRAN = """
program clocks
  use mpi
  implicit none
  integer :: error
  integer(8) :: before, after, rate
  double precision :: began
  call mpi_init(error)
  call system_clock(before, rate)
  began = mpi_wtime()
  call sleep(1)
  call system_clock(after)
  print '(2f12.6)', mpi_wtime() - began, dble(after - before) / dble(rate)
  call mpi_finalize(error)
end program
"""

_OPENMP = """
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double mpi = MPI_Wtime(), omp = omp_get_wtime();
  #pragma omp parallel num_threads(2)
  usleep(300000);
  printf("%f %f\\n", MPI_Wtime() - mpi, omp_get_wtime() - omp);
  MPI_Finalize();
}
"""

_MPI4PY = """
import time
from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
began = MPI.Wtime(), time.monotonic(), time.time()
time.sleep(0.3)
MPI.COMM_WORLD.Barrier()
ended = MPI.Wtime(), time.monotonic(), time.time()
if MPI.COMM_WORLD.rank == 0:
    print(*(after - before for after, before in zip(ended, began)))
"""


@dataclass(frozen=True)
class ClockedLab:
    """A lab at a rate, and how to run something on its hosts."""

    name: str
    folder: Path
    page: Path
    shared: Path
    run: Callable[..., str]

    def address(self, host: int) -> str:
        """Data address of a host, from 0."""
        return re.findall(r"data_address: ([\d.]+)", (self.folder / "hosts.yml").read_text(encoding="utf-8"))[host]

    def real_s(self) -> float:
        """The lab's time of day."""
        return float(self.run("n01", "date", "+%s.%N"))


@pytest.fixture
def lab(at_a_tenth: tuple[str, Path, Path], eeectl: Eeectl) -> ClockedLab:
    name, folder, page = at_a_tenth

    def run(host: str, *words: str, root: bool = False) -> str:
        done = eeectl("lab", "exec", host, "--lab", name, *(["--root"] if root else []), "--", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return ClockedLab(name, folder, page, page.parent / "shared", run)


def _rate(eeectl: Eeectl, lab: ClockedLab, rate: str) -> None:
    assert eeectl("lab", "clock", lab.name, rate).returncode == 0


def _built(lab: ClockedLab, compiler: str, source: str, suffix: str, *options: str) -> str:
    needs(compiler)
    text = lab.shared / f"program{suffix}"
    text.write_text(source, encoding="utf-8")
    subprocess.run([compiler, *options, "-o", str(lab.shared / "program"), str(text)], check=True, capture_output=True)
    return "/shared/program"


def _within(lab: ClockedLab, asked_s: float, work: Callable[[], str]) -> None:
    """Every duration that a program prints is what it asked for or more, and less than what passed around it."""
    before_ns = read_lab_clock(lab.page)[1]
    shown = [float(word) for word in work().split()]
    passed_s = (read_lab_clock(lab.page)[1] - before_ns) / 1e9
    assert shown
    assert all(asked_s <= one + 1e-4 and one <= passed_s for one in shown), (shown, passed_s)


@pytest.mark.parametrize("rate", ["1/3", "5"])
def test_fortran_and_mpi_wtime(lab: ClockedLab, eeectl: Eeectl, rate: str) -> None:
    program = _built(lab, "mpif90", _FORTRAN, ".f90")
    _rate(eeectl, lab, rate)
    _within(lab, 1.0, lambda: lab.run("n01", program))


def test_openmp_and_mpi_wtime(lab: ClockedLab) -> None:
    program = _built(lab, "mpicc", _OPENMP, ".c", "-fopenmp")
    _within(lab, 0.3, lambda: lab.run("n01", program))


def test_ranks_of_two_hosts_in_python(lab: ClockedLab) -> None:
    (lab.shared / "program.py").write_text(_MPI4PY, encoding="utf-8")
    words = ("mpirun", "-np", "2", "--host", "n01,n02", "python3", "/shared/program.py")
    _within(lab, 0.3, lambda: lab.run("n01", *words))


def test_tcpdump_shows_the_labs_time_of_day(lab: ClockedLab) -> None:
    """Its stamps are in a memory-mapped ring of the kernel."""
    before_s = lab.real_s()
    script = "timeout 20 tcpdump -i eth0 -n -tt -c 6 icmp 2>/dev/null & "
    script += f"while ! ping -q -c 2 -i 0.02 {lab.address(1)} >/dev/null || kill -0 $! 2>/dev/null; do :; done; wait"
    shown = lab.run("n01", "sh", "-c", script, root=True)
    after_s = lab.real_s()
    stamps_s = [float(stamp) for stamp in re.findall(r"^(\d+\.\d+) IP", shown, re.MULTILINE)]
    assert len(stamps_s) == 6, shown
    assert before_s <= stamps_s[0]
    assert stamps_s == sorted(stamps_s)
    assert stamps_s[-1] <= after_s
    asked_s = [float(stamp) for stamp in re.findall(r"^(\d+\.\d+) IP .* echo request", shown, re.MULTILINE)]
    assert any(later - earlier >= 0.0199 for earlier, later in itertools.pairwise(asked_s)), shown


@pytest.mark.parametrize("rate", ["1/5", "5"])
def test_the_idle_gap_recorder_counts_lab_time(lab: ClockedLab, eeectl: Eeectl, rate: str) -> None:
    (lab.shared / "idle_gaps.py").write_text(packed("idle_gaps"), encoding="utf-8")
    _rate(eeectl, lab, rate)
    before_ns = lab.real_s() * 1e9
    script = "python3 /shared/idle_gaps.py eth0 --seconds 0.5 --every-s 0.1 & "
    script += f"while kill -0 $! 2>/dev/null; do ping -q -c 10 -i 0.02 {lab.address(1)} >/dev/null; done; wait"
    shown = read_stream(lab.run("n01", "sh", "-c", script, root=True))
    after_ns = lab.real_s() * 1e9
    starts_ns, ends_ns = shown.column("start_ns"), shown.column("end_ns")
    assert before_ns < starts_ns[0] < ends_ns[-1] < after_ns
    assert starts_ns[1:] == ends_ns[:-1]
    assert ends_ns[-1] - starts_ns[0] >= 0.49e9
    frames, idle_ns = sum(shown.column("transmit_frames")), sum(shown.column("transmit_idle_ns"))
    assert frames >= 5
    assert idle_ns <= ends_ns[-1] - starts_ns[0]
    assert idle_ns / frames > 5e6, "echoes are 20 ms apart"


def test_iperf3_measures_by_the_labs_time(lab: ClockedLab, eeectl: Eeectl) -> None:
    """A link of 1 Gb/s carries that in lab time: five times less in the wall's."""
    _rate(eeectl, lab, "1/5")
    listening = "iperf3 -s -1 -D && while ! grep -qi ':1451 ' /proc/net/tcp /proc/net/tcp6; do :; done"
    lab.run("n01", "sh", "-c", listening)
    shown = lab.run("n02", "iperf3", "-c", lab.address(0), "-t", "1", "-f", "m")
    rates_mbps = [float(rate) for rate in re.findall(r"([\d.]+) Mbits/sec", shown)]
    assert rates_mbps
    assert 300 < rates_mbps[-1] < 1000, shown


def test_chrony_finds_two_hosts_of_one_time(lab: ClockedLab, eeectl: Eeectl) -> None:
    chronyd = ROOT / ".tools/chrony/usr/sbin/chronyd"
    if not chronyd.exists():
        lacking("tests/support/fetch_chrony.sh, which `make setup` runs, could not fetch chrony")
    shutil.copy(chronyd, lab.shared / "chronyd")
    (lab.shared / "chrony.conf").write_text(
        "local stratum 8\nallow all\ncmdport 0\nbindcmdaddress /\npidfile /tmp/chronyd.pid\n", encoding="utf-8"
    )
    _rate(eeectl, lab, "5")
    lab.run("n01", "/shared/chronyd", "-u", "root", "-x", "-f", "/shared/chrony.conf", root=True)
    try:
        words = [
            "-u",
            "root",
            "-Q",
            "-t",
            "60",
            f"server {lab.address(0)} iburst",
            "cmdport 0",
            "pidfile /tmp/query.pid",
        ]
        done = eeectl("lab", "exec", "n02", "--lab", lab.name, "--root", "--", "/shared/chronyd", *words)
    finally:
        lab.run("n01", "sh", "-c", "kill $(cat /tmp/chronyd.pid)", root=True)
    found = re.search(r"wrong by (-?[\d.]+) seconds", done.stderr)
    assert found is not None, done.stdout + done.stderr
    assert abs(float(found[1])) < 0.1
