"""Speed of replays: messages and packet-hops a second of processor time, and memory, by case.

    python -m evaluation.speed.replays [--case CASE] [--side 16] [--rounds 3]

| case | program | links |
| --- | --- | --- |
| small | 3-D stencil, messages of 8 bytes, ranks drawn onto nodes | deep sleep |
| bursts | the same with 8 KiB: six messages of every rank at once fill all buffers | deep sleep |
| near | bursts, with ranks in order: a third of the messages stays at one router | deep sleep |
| collective | Allreduce of 8 bytes and Alltoall of 64, as Open MPI 4.1 has them | deep sleep |
| no-network | small, by LogGOPS | - |

The network is a HyperX of two dimensions with as many nodes as ranks, flits of 16 bytes and packets of 8. A packet-hop
is a link between routers that a packet takes. Rounds are repeated, and medians printed; nothing else should run beside.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.machine import begin_replay
from eee_testbed.simulation.replay.program import Program, write_program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from evaluation import recording
from evaluation.records import Figure

_DEEP: Final = {"mode": "deep", "hold": 6250, "sleep": 1800, "wake": 2600, "wake_during_sleep": 2600}
_TURNS: Final = 200_000
_BY_HOPS: Final = frozenset({"bursts", "near"})
"""Cases of which packet-hops are recorded; of the others messages."""


def stencil(side: int, size: int, steps: int, ns: int) -> Program:
    """A cube of ranks that exchange a message with each of six neighbours, and compute."""
    writer = ProgramWriter("stencil", side**3, "speed")
    for rank in range(side**3):
        x, y, z = rank % side, rank // side % side, rank // side**2
        near = [((x + 1) % side, y, z), ((x - 1) % side, y, z), (x, (y + 1) % side, z), (x, (y - 1) % side, z),
                (x, y, (z + 1) % side), (x, y, (z - 1) % side)]  # fmt: skip
        others = [a + side * (b + side * c) for a, b, c in near]
        own = writer.rank(rank)
        own.loop(steps)
        requests = [own.irecv(one, size) for one in others]
        own.wait(*requests, *[own.isend(one, size) for one in others])
        own.compute(ns)
        own.end()
    return writer.program()


def collective(ranks: int, steps: int) -> Program:
    """Allreduce and Alltoall in turns."""
    writer = ProgramWriter("collective", ranks, "speed")
    for rank in range(ranks):
        own = writer.rank(rank)
        own.loop(steps)
        own.call(Call.ALLREDUCE, size=8)
        own.compute(2_000)
        own.call(Call.ALLTOALL, size=64)
        own.end()
    return writer.program()


CASES: Final[dict[str, tuple[Callable[[int], Program], dict[str, Any]]]] = {
    "small": (lambda side: stencil(side, 8, 100, 2_000), {}),
    "bursts": (lambda side: stencil(side, 8_192, 4, 20_000), {}),
    "near": (lambda side: stencil(side, 8_192, 4, 20_000), {"placement": "linear"}),
    "collective": (lambda side: collective(min(side**3, 1024), 2), {}),
    "no-network": (lambda side: stencil(side, 8, 100, 2_000), {"log_gops": {}}),
}


def described(program: Path, ranks: int, own: dict[str, Any]) -> Description:
    """A machine with a node for each rank."""
    side = next(side for side in range(1, 1024) if side**3 >= ranks)
    job = {"program": {"kind": "file", "path": str(program)}, "placement": own.get("placement", "random")}
    programs = {"cycle_ns": 1.6, "flit_byte": 16, "jobs": [job], "log_gops": own.get("log_gops")}
    return Description.model_validate(
        {
            "name": "speed",
            "network": {"kind": "hyperx", "sizes": [side, side], "concentration": side},
            "routing": "dor",
            "router": {"vcs": 4, "buffer_flits": 256, "packet_flits": 8, "switching": "cut_through"},
            "links": _DEEP,
            "programs": programs,
        }
    )


def measure(case: str, side: int) -> dict[str, float]:
    """One replay: figures by second of processor time."""
    make, own = CASES[case]
    return measure_program(make(side), own)


def measure_program(program: Program, own: dict[str, Any]) -> dict[str, float]:
    """As `measure`, of any program; `own` is the case's keys."""
    with TemporaryDirectory() as place:
        path = Path(place) / "x.replay"
        write_program(path, program)
        description = described(path, program.ranks, own)
        assert description.programs is not None
        began = time.process_time()
        replay = begin_replay(description, description.programs, description.policies, 1)
        begun = time.process_time()
    while replay.advance(_TURNS) == "running":
        pass
    spent = time.process_time() - begun
    messages, hops = replay.progress()["messages"], replay.packet_hops()
    return {
        "set_up_s": begun - began,
        "run_s": spent,
        "messages": messages,
        "messages_per_s": messages / spent,
        "packet_hops_per_s": hops / spent,
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Print a JSON object a case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=list(CASES))
    parser.add_argument("--side", type=int, default=16, help="of the cube of ranks: 16 are 4,096")
    parser.add_argument("--rounds", type=int, default=3)
    recording.add_argument(parser)
    given = parser.parse_args()
    records, figures = recording.begin(given), dict[str, Figure]()
    for case in given.case or CASES:
        found = [measure(case, given.side) for _ in range(given.rounds)]
        medians = {name: median(one[name] for one in found) for name in found[0]}
        print(json.dumps({"case": case, "ranks": given.side**3} | medians))
        counted = "packet_hops_per_s" if case in _BY_HOPS else "messages_per_s"
        low, high = (most(one[counted] for one in found) / 1e6 for most in (min, max))
        figures[case] = Figure(value=medians[counted] / 1e6, low=low, high=high, n=given.rounds)
    records.append(figures)


if __name__ == "__main__":
    main()
