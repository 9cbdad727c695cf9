"""Overhead of the recorder of MPI calls: processor time of a call with it and without, in turns.

``python -m evaluation.speed.recorder_overhead`` runs one rank with calls that take little time by themselves, to nobody
or to itself (`recorder_overhead.c`), alone, with the recorder, and with the recorder in a lab's time at a tenth of the
wall's. Time is the process's own, so others on the machine cost it little more than their share of the caches. Prints
Markdown, or with ``--json`` one object. Exit status 1 if the median of a kind of call is above 0.3 us.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from eee_engine import Engine, LabClock

from eee_testbed.measuring.experiments.mpi_trace import PATTERN, recorder
from eee_testbed.measuring.experiments.preloads import preloading
from eee_testbed.twin.machine.lab_clock import environment, make_page
from evaluation import quiet, recording
from evaluation.records import Figure
from evaluation.speed.figures import interval

MOST_NS = 300.0
RECORDER = recorder(("mpicc",))


def compiled(folder: Path) -> None:
    """The program and the library."""
    for name, data in RECORDER.sources().items():
        (folder / name).write_bytes(data)
    subprocess.run(RECORDER.compile, cwd=folder, check=True)
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["mpicc", "-O2", "-o", "calls", source], cwd=folder, check=True)


def measured(folder: Path, calls: int, *, recorded: bool, added: Mapping[str, str]) -> dict[str, float]:
    """Nanoseconds of a call, by kind."""
    for old in folder.glob(PATTERN):
        old.unlink()
    program = ("./calls", str(calls))
    argv = ["mpirun", "--mca", "btl", "self", "-np", "1", *(preloading(program, [RECORDER]) if recorded else program)]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        argv, cwd=folder, env={**os.environ, **allowed, **added}, stdout=subprocess.PIPE, text=True, check=True
    )
    pairs = (line.rsplit(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    return {kind: float(ns) for kind, ns in pairs}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Overhead of the recorder of MPI calls.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=300_000, help="of each kind in a round")
    parser.add_argument("--json", action="store_true")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    given = parser.parse_args()
    records = recording.begin(given)
    added: dict[str, dict[str, list[float]]] = {"wall": {}, "lab time": {}}
    with tempfile.TemporaryDirectory(prefix="eee-recorder-") as name:
        folder = Path(name)
        compiled(folder)
        make_page(folder / "page")
        clock = LabClock(folder / "page", Engine(), folder, [], [])
        try:
            clock.set_rate("1/10")
            for _ in range(given.rounds):
                for where, variables in (("wall", {}), ("lab time", environment(str(folder / "page")))):
                    alone = measured(folder, given.calls, recorded=False, added=variables)
                    recorded = measured(folder, given.calls, recorded=True, added=variables)
                    for kind, ns in recorded.items():
                        added[where].setdefault(kind, []).append(ns - alone[kind])
        finally:
            clock.close()
    medians = {where: {kind: float(np.median(ns)) for kind, ns in kinds.items()} for where, kinds in added.items()}
    worst = {where: max(kinds.values()) for where, kinds in medians.items()}
    if given.json:
        print(json.dumps({"rounds": given.rounds, "calls": given.calls, "added_ns": medians}))
    else:
        print("| calls | added a call, ns (95 %) | added a call in lab time, ns (95 %) |\n| --- | --- | --- |")
        for kind in added["wall"]:
            print(f"| {kind} | {_cell(added['wall'][kind])} | {_cell(added['lab time'][kind])} |")
    records.append({where: Figure(value=ns, n=given.rounds) for where, ns in worst.items()})
    return 1 if max(worst.values()) > MOST_NS else 0


def _cell(values: list[float]) -> str:
    low, high = interval(values)
    return f"{np.median(values):.0f} ({low:.0f} - {high:.0f})"


if __name__ == "__main__":
    sys.exit(main())
