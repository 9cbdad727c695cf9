"""Replay on a torus against SimGrid SMPI's replay of the same trace: run time without contention, messages a second.

SimGrid is Debian's `libsimgrid-dev` (3.32), which has `smpirun`.

    python -m evaluation.accuracy.simgrid [--side 4] [--rounds 20] [--message 262144] [--small 1024]

Without contention each rank of a 3-D torus computes and sends to a neighbour, in one direction after the other. With
contention each rank sends to one that is drawn, all in the same round. Both read the same time-independent trace.
SimGrid's network is its fluid model without the factors that were fitted to a machine: bandwidth shared fairly, and a
link's latency for each hop. Its time of a round with contention is another model's, so only speeds are compared there.
Processor time includes reading the trace; ours is said apart for reading (with the replay file that is written and read
between) and for the replay. Prints JSON.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.replay.program import write_program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import import_trace
from eee_testbed.simulation.replay.replayed import replay
from evaluation import recording
from evaluation.records import Figure

CYCLE_NS: Final = 12.8
_FLIT_BYTE: Final = 16
"""A link carries 10 Gb/s."""

_HOP_CYCLES: Final = 3
"""Of an empty router and a link."""

_PLAIN: Final = (
    "smpi/bw-factor:0:1",
    "smpi/lat-factor:0:1",
    "network/weight-S:0",
    "network/TCP-gamma:1e12",
    "network/crosstraffic:0",
)
"""The fluid model alone."""

_COMPUTE: Final = 1e5
"""Flops between two messages; a processor does 1e9 a second."""


@dataclass(frozen=True, slots=True)
class Timed:
    """Simulated seconds, and processor seconds."""

    run_time_s: float
    process_s: float
    replay_s: float
    """Of those, without reading the trace; SimGrid's are not known apart."""


def neighbours(side: int, rounds: int, byte: int) -> tuple[list[list[str]], int]:
    """Lines of a trace by rank, and messages: each round along another dimension."""
    ranks = side**3
    to = [
        [_moved(rank, side, number % 3, 1 if number % 6 < 3 else -1) for rank in range(ranks)]
        for number in range(rounds)
    ]
    return _lines(to, byte), ranks * rounds


def drawn(side: int, rounds: int, byte: int, rng: random.Random) -> tuple[list[list[str]], int]:
    """The same with a permutation of the ranks in each round."""
    ranks = side**3
    to = [rng.sample(range(ranks), ranks) for _ in range(rounds)]
    return _lines(to, byte), sum(rank != peer for each in to for rank, peer in enumerate(each))


def _moved(rank: int, side: int, dimension: int, by: int) -> int:
    step: int = side**dimension
    place = rank // step % side
    return rank + ((place + by) % side - place) * step


def _lines(to: Sequence[Sequence[int]], byte: int) -> list[list[str]]:
    ranks = len(to[0])
    lines = [[f"{rank} init"] for rank in range(ranks)]
    for each in to:
        sender = {peer: rank for rank, peer in enumerate(each)}
        for rank, own in enumerate(lines):
            own.append(f"{rank} compute {_COMPUTE:g}")
            if each[rank] != rank:
                own += [
                    f"{rank} irecv {sender[rank]} 0 {byte}",
                    f"{rank} send {each[rank]} 0 {byte}",
                    f"{rank} wait {sender[rank]} {rank} 0",
                ]
    for rank, own in enumerate(lines):
        own.append(f"{rank} finalize")
    return lines


def ours(traces: Sequence[Path], side: int) -> Timed:
    """Our replay of a trace."""
    began = time.process_time()
    found = replay(description_of(traces, {"kind": "torus", "radix": [side] * 3}, "dor", "free"), 1, sleeping=False)
    return Timed(found.run_time_s, time.process_time() - began, found.process_s)


def description_of(traces: Sequence[Path], network: Mapping[str, object], routing: str, hosts: str) -> Description:
    """The program of a trace on a network."""
    file = traces[0].with_suffix(".replay")
    write_program(file, import_trace(traces, "ti", Options("simgrid", 1e9)))
    return Description.model_validate(
        {
            "name": "simgrid",
            "network": dict(network),
            "routing": routing,
            "router": {"vcs": 2, "buffer_flits": 512, "packet_flits": 64, "switching": "cut_through"},
            "programs": {
                "cycle_ns": CYCLE_NS,
                "flit_byte": _FLIT_BYTE,
                "hosts": hosts,
                "jobs": [{"program": {"kind": "file", "path": str(file)}}],
            },
        }
    )


def theirs(traces: Sequence[Path], side: int) -> Timed:
    """SimGrid's replay of a trace."""
    torus = f'topology="TORUS" topo_parameters="{side},{side},{side}"'
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_time_s = smpi_run(traces, _HOP_CYCLES * CYCLE_NS, torus)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timed(run_time_s, spent, spent)


def smpi_run(traces: Sequence[Path], latency_ns: float, shape: str = "", options: Sequence[str] = ()) -> float:
    """Run time of SimGrid's replay on a cluster, with its fluid model alone; seconds.

    `shape`: attributes of the cluster; without any, all hosts are at one switch. The latency is of a link.
    """
    folder = traces[0].parent
    rate = _FLIT_BYTE / CYCLE_NS * 1e9
    cluster = (
        f'<cluster id="simgrid" prefix="n" suffix="" radical="0-{len(traces) - 1}" speed="1Gf" bw="{rate:.0f}Bps" '
        f'lat="{latency_ns:.3f}ns" {shape} sharing_policy="SPLITDUPLEX"/>'
    )
    platform, hosts, named = folder / "platform.xml", folder / "hosts", folder / "traces"
    named.write_text("".join(f"{one}\n" for one in traces), encoding="utf-8")
    platform.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1">\n{cluster}\n</platform>\n',
        encoding="utf-8",
    )
    hosts.write_text("".join(f"n{rank}\n" for rank in range(len(traces))), encoding="utf-8")
    words = ["smpirun", "-np", str(len(traces)), "-platform", str(platform), "-hostfile", str(hosts)]
    settings = [f"--cfg={one}" for one in (*_PLAIN, *options)]
    done = subprocess.run(
        [*words, "-replay", str(named), *settings, "--log=replay.thresh:info"],
        check=True, capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    return simulated_s(done.stdout + done.stderr)


def simulated_s(said: str) -> float:
    """When the replay ended: the last `Simulation time`."""
    return float(said.rpartition("Simulation time")[2].split()[0])


def compare(folder: Path, lines: Sequence[Sequence[str]], messages: int, side: int) -> dict[str, float]:
    """Run times, and messages a second of processor time."""
    files = [folder / f"trace{rank}" for rank in range(len(lines))]
    for file, own in zip(files, lines, strict=True):
        file.write_text("".join(f"{line}\n" for line in own), encoding="utf-8")
    here, there = ours(files, side), theirs(files, side)
    return {
        "messages": messages,
        "lines": sum(map(len, lines)),
        "ours_s": here.run_time_s,
        "theirs_s": there.run_time_s,
        "difference_percent": 100 * (here.run_time_s / there.run_time_s - 1),
        "ours_reading_process_s": here.process_s - here.replay_s,
        "ours_replay_process_s": here.replay_s,
        "theirs_process_s": there.process_s,
        "ours_per_s": messages / here.process_s,
        "theirs_per_s": messages / there.process_s,
        "times_as_fast": there.process_s / here.process_s,
        "times_as_fast_without_reading": there.process_s / here.replay_s,
    }


def require_smpirun() -> None:
    """Exit with a sentence if SimGrid is not installed."""
    if shutil.which("smpirun") is None:
        print(f"{Path(sys.argv[0]).stem}: there is no smpirun: install libsimgrid-dev.", file=sys.stderr)
        sys.exit(2)


def main() -> int:
    """Exit status 1 if run times without contention differ by more than 2 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=4, help="routers in each of three dimensions")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--message", type=int, default=262_144, help="byte, without contention")
    parser.add_argument("--small", type=int, default=1024, help="byte, with contention")
    recording.add_argument(parser)
    given = parser.parse_args()
    require_smpirun()
    records = recording.begin(given)
    rng = random.Random(1)  # noqa: S311 - traces are to be the same each time
    with TemporaryDirectory() as scratch:
        folder, side = Path(scratch), given.side
        plain = compare(folder, *neighbours(side, given.rounds, given.message), side)
        busy = compare(folder, *drawn(side, given.rounds, given.small, rng), side)
    print(json.dumps({"without_contention": plain, "with_contention": busy}, indent=1))
    records.append(
        {
            "run time": Figure(value=plain["difference_percent"], n=1),
            "messages": Figure(
                value=busy["ours_per_s"], anchor_value=busy["theirs_per_s"], ratio=busy["times_as_fast"], n=1
            ),
        }
    )
    return 0 if abs(plain["difference_percent"]) <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
