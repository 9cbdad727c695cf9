"""Speed is measured on a quiet machine: every benchmark waits for one, or refuses.

A benchmark's `main` adds `--force` with `add_argument`, and calls `evaluation.recording.begin` (or `require`, if it has
no record). The state of the machine is printed on standard error before anything is measured. From then on a signal
that ends the benchmark ends it as Ctrl-C does, so that it takes its lab down.
"""

import argparse
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

_WINDOW_S: Final = 2.0
_PATIENCE_S: Final = 120.0
_MOST_CORES: Final = 0.15
_MOST_STEAL: Final = 0.02


@dataclass(frozen=True, slots=True)
class MachineState:
    """What others used of a machine in a window: cores in use, and the share of its time that its own host took."""

    cores: int
    used_cores: float
    steal_share: float

    @property
    def quiet(self) -> bool:
        """Whether speed can be measured."""
        return self.used_cores <= _MOST_CORES and self.steal_share <= _MOST_STEAL

    def __str__(self) -> str:
        """One line."""
        return (
            f"machine: {self.cores} cores, {self.used_cores:.2f} of them in use by others, "
            f"{self.steal_share:.1%} of its time taken by its host"
        )


def state_between(before: str, after: str) -> MachineState:
    """The state between two readings of /proc/stat (proc(5): user, nice, system, idle, iowait, irq, softirq, steal)."""

    def counts(text: str) -> list[int]:
        fields = text.splitlines()[0].split()
        return [int(field) for field in fields[1:9]]

    spent = [late - early for early, late in zip(counts(before), counts(after), strict=True)]
    total = max(sum(spent), 1)
    cores = sum(line.startswith("cpu") for line in after.splitlines()) - 1
    idle, steal = spent[3] + spent[4], spent[7]
    return MachineState(cores, cores * (total - idle - steal) / total, steal / total)


def look() -> MachineState:
    """The state now, over two seconds."""
    stat = Path("/proc/stat")
    before = stat.read_text(encoding="ascii")
    time.sleep(_WINDOW_S)  # the window is what is measured
    return state_between(before, stat.read_text(encoding="ascii"))


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--force`."""
    parser.add_argument("--force", action="store_true", help="measure on a busy machine too")


def require(given: argparse.Namespace) -> MachineState:
    """Wait until the machine is quiet, up to two minutes; exit with status 2 if it stays busy, unless forced.

    Returns the last state.
    """
    until_s = time.monotonic() + _PATIENCE_S
    state = look()
    while not (state.quiet or given.force) and time.monotonic() < until_s:
        state = look()
    print(state, file=sys.stderr)
    if not (state.quiet or given.force):
        print("this machine is busy: end what runs on it, or measure all the same with --force.", file=sys.stderr)
        raise SystemExit(2)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    return state


def _leave(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
