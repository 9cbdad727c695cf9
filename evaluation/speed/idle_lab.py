"""Cost of an idle lab: CPU of its daemon and hosts, and the wall time of `eeectl lab up` and `lab down`.

``python -m evaluation.speed.idle_lab koibuchi`` brings the lab up, waits, measures over windows of equal length, takes
it down, and prints one JSON object. ``--running`` measures a lab that is up already and leaves it alone. CPU is counted
by the kernel: the daemon's in ``/proc/PID/stat`` (all threads; 10 ms steps), the hosts' in their control groups. CPU
that the kernel attributes to no process (interrupts) is only in ``machine_cores``, as are all other processes.
"""

import argparse
import json
import os
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from evaluation import quiet, recording
from evaluation.records import Figure
from evaluation.running_lab import eeectl, journal_of

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Used:
    """CPU seconds used so far."""

    at_s: float
    daemon_s: float
    hosts_s: float
    machine_s: float


@dataclass(frozen=True, slots=True)
class Window:
    """CPU use over a stretch of time, as fractions of one core."""

    duration_s: float
    daemon_cores: float
    hosts_cores: float
    lab_cores: float
    machine_cores: float


def daemon_cpu_s(pid: int) -> float:
    """User and system time of a process with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def hosts_cpu_s(folder: Path) -> float:
    """CPU time of a lab's control groups, version 1 or 2."""
    total_s = 0.0
    for group in sorted(path for path in folder.iterdir() if path.is_dir()):
        usage = group / "cpuacct.usage"
        if usage.exists():
            total_s += int(usage.read_text(encoding="ascii")) / 1e9
        else:
            stats = dict(line.split() for line in (group / "cpu.stat").read_text(encoding="ascii").splitlines())
            total_s += int(stats["usage_usec"]) / 1e6
    return total_s


def machine_cpu_s() -> float:
    """All CPU time of the machine that is neither idle nor waiting for a disk."""
    fields = [int(field) for field in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, _steal = fields
    return (user + nice + system + irq + softirq) * TICK_S


def read_used(pid: int, groups: Path) -> Used:
    """Read all CPU times."""
    return Used(time.monotonic(), daemon_cpu_s(pid), hosts_cpu_s(groups), machine_cpu_s())


def between(before: Used, after: Used) -> Window:
    """The use between two readings."""
    duration_s = after.at_s - before.at_s
    daemon = (after.daemon_s - before.daemon_s) / duration_s
    hosts = (after.hosts_s - before.hosts_s) / duration_s
    machine = (after.machine_s - before.machine_s) / duration_s
    return Window(duration_s, daemon, hosts, daemon + hosts, machine)


def watch(pid: int, groups: Path, *, window_s: float, windows: int) -> list[Window]:
    """Measure successive windows."""
    readings = [read_used(pid, groups)]
    for _ in range(windows):
        time.sleep(window_s)  # the passing of time is what is measured
        readings.append(read_used(pid, groups))
    return [between(before, after) for before, after in pairwise(readings)]


def timed_eeectl(*words: str) -> float:
    """Run a lab command; returns its wall time in seconds."""
    begun_s = time.monotonic()
    eeectl("lab", *words)
    return time.monotonic() - begun_s


def summary(windows: list[Window]) -> dict[str, Any]:
    """Median and extremes of each figure."""
    figures = {}
    for name in ("daemon_cores", "hosts_cores", "lab_cores", "machine_cores"):
        values = [getattr(window, name) for window in windows]
        figures[name] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return figures


def main() -> None:
    """Measure one lab."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lab", nargs="?", default="koibuchi")
    parser.add_argument("--seconds", type=float, default=60.0, help="measured time in all")
    parser.add_argument("--windows", type=int, default=6, help="parts it is measured in")
    parser.add_argument("--settle", type=float, default=10.0, help="seconds left to the lab before")
    parser.add_argument("--running", action="store_true", help="measure a lab that is up, and leave it up")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    asked = parser.parse_args()
    records = recording.begin(asked)
    if asked.windows < 1 or asked.seconds <= 0 or asked.settle < 0:
        parser.error("at least one window of more than 0 seconds is needed")
    result: dict[str, Any] = {"lab": asked.lab, "cores": os.cpu_count(), "kernel": os.uname().release}
    if not asked.running:
        result["up_s"] = timed_eeectl("up", asked.lab)
    try:
        state = journal_of(asked.lab)
        time.sleep(asked.settle)  # let links come up and shells finish
        if state.daemon is None:
            sys.exit(f"the daemon of lab {asked.lab} has gone: run `eeectl lab down {asked.lab}`.")
        pid, groups = state.daemon.pid, Path(state.cgroups)
        windows = watch(pid, groups, window_s=asked.seconds / asked.windows, windows=asked.windows)
        result |= {"hosts": len(state.hosts), **summary(windows), "windows": [asdict(window) for window in windows]}
    finally:
        if not asked.running:
            result["down_s"] = timed_eeectl("down", asked.lab)
    print(json.dumps(result, indent=2))
    lab = {name: 100 * cores for name, cores in result["lab_cores"].items()}
    idle = Figure(value=lab["median"], low=lab["min"], high=lab["max"], n=asked.windows)
    records.append({"idle": idle, "up": Figure(value=result["up_s"], n=1) if "up_s" in result else None})


if __name__ == "__main__":
    main()
