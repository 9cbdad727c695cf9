"""Replay without a network against LogGOPSim: the end of every rank of random programs, in ns, and messages a second.

LogGOPSim (github.com/spcl/LogGOPSim, commit 76451de) is built outside, in its folder `src/LogGOPSim`:

    make CXXFLAGS="-std=c++11 -O3 -DSTRICT_ORDER"

    python -m evaluation.accuracy.loggopsim FOLDER [--programs 200] [--seed 1] [--large 64]

Programs of 2 to 16 ranks compute, exchange messages of 1 byte to 200,000 (eager up to 65,535) with blocking and
non-blocking calls, and run trees. Each is written as GOAL text, too: a call that does not block is followed by
`irequires`, one that blocks and a wait by `requires`. Its strict order takes things of the same nanosecond in the order
of their making, and ranks that go on at once by their numbers; without it that order is a heap's. `--large` compares
the speed on rounds of shifts.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from eee_engine import ProgramReplay

from eee_testbed.simulation.replay.hosts import HOSTS
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from eee_testbed.simulation.replay.records import records
from evaluation import recording
from evaluation.records import Figure

_TIMES = (2500.0, 1000.0, 6.0)
"""LogGOPSim's L and g in ns, G in ns for each byte."""


@dataclass
class Goal:
    """The operations of a rank as GOAL text, and those that the next one depends on."""

    lines: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    requests: dict[int, str] = field(default_factory=dict)
    number: int = 0
    computing_ns: int = 0

    def compute(self, ns: int) -> None:
        """Compute before the next operation; computing twice in a row is one operation, as in our programs."""
        self.computing_ns += ns

    def end_computing(self) -> None:
        """Write what is computed before anything else."""
        ns, self.computing_ns = self.computing_ns, 0
        if ns:
            self.add(f"calc {ns}", blocks=True)

    def add(self, what: str, *, blocks: bool) -> str:
        """An operation behind all before it."""
        self.end_computing()
        name = f"l{self.number}"
        self.number += 1
        self.lines.append(f"{name}: {what}")
        self.lines += [f"{name} irequires {one}" for one in self.started]
        self.lines += [f"{name} requires {one}" for one in self.finished]
        self.started, self.finished = ([], [name]) if blocks else ([name], [])
        return name


class Both:
    """A program as calls and as GOAL."""

    def __init__(self, ranks: int) -> None:
        self.writer = ProgramWriter("random", ranks, "test")
        self.calls = [self.writer.rank(rank) for rank in range(ranks)]
        self.goal = [Goal() for _ in range(ranks)]

    def compute(self, rank: int, ns: int) -> None:
        """Compute."""
        self.calls[rank].compute(ns)
        self.goal[rank].compute(ns)

    def send(self, rank: int, to: int, size: int, tag: int) -> None:
        """A blocking send."""
        self.calls[rank].send(to, size, tag)
        self.goal[rank].add(f"send {size}b to {to} tag {tag}", blocks=True)

    def receive(self, rank: int, source: int, size: int, tag: int) -> None:
        """A blocking receive."""
        self.calls[rank].receive(source, size, tag)
        self.goal[rank].add(f"recv {size}b from {source} tag {tag}", blocks=True)

    def isend(self, rank: int, to: int, size: int, tag: int) -> int:
        """Begin a send."""
        request = self.calls[rank].isend(to, size, tag)
        self.goal[rank].requests[request] = self.goal[rank].add(f"send {size}b to {to} tag {tag}", blocks=False)
        return request

    def irecv(self, rank: int, source: int, size: int, tag: int) -> int:
        """Post a receive."""
        request = self.calls[rank].irecv(source, size, tag)
        self.goal[rank].requests[request] = self.goal[rank].add(f"recv {size}b from {source} tag {tag}", blocks=False)
        return request

    def wait(self, rank: int, *requests: int) -> None:
        """Wait for requests."""
        self.calls[rank].wait(*requests)
        self.goal[rank].end_computing()
        self.goal[rank].finished += [self.goal[rank].requests.pop(request) for request in requests]

    def end(self) -> tuple[Program, str]:
        """The program, and its GOAL text."""
        text = [f"num_ranks {len(self.goal)}"]
        for rank, (calls, goal) in enumerate(zip(self.calls, self.goal, strict=True)):
            calls.finish()
            goal.end_computing()
            text += [f"rank {rank} {{", *goal.lines, "}"]
        return self.writer.program(), "\n".join(text) + "\n"


def random_program(rng: random.Random) -> tuple[Program, str]:
    """Rounds of computing, messages, shifts and trees."""
    ranks = rng.randint(2, 16)
    both = Both(ranks)
    computed = False
    for _ in range(rng.randint(1, 12)):
        size = rng.choice((1, rng.randint(2, 3000), 65_535, 65_536, rng.randint(60_000, 200_000)))
        tag = rng.randint(0, 3)
        kind = rng.choice(("message", "shift", "tree") if computed else ("compute", "message", "shift", "tree"))
        computed = kind == "compute"
        if computed:
            for rank in range(ranks):
                both.compute(rank, rng.randint(1, 50_000))
        elif kind == "message":
            source, to = rng.sample(range(ranks), 2)
            both.send(source, to, size, tag)
            both.receive(to, source, size, tag)
        elif kind == "shift":
            by = rng.randint(1, ranks - 1)
            _shift(both, ranks, by, size, tag)
        else:
            _tree(both, ranks, size, tag)
    return both.end()


def _shift(both: Both, ranks: int, by: int, size: int, tag: int) -> None:
    for rank in range(ranks):
        receive = both.irecv(rank, (rank - by) % ranks, size, tag)
        send = both.isend(rank, (rank + by) % ranks, size, tag)
        both.wait(rank, send, receive)


def _tree(both: Both, ranks: int, size: int, tag: int) -> None:
    step = 1
    while step < ranks:
        for child in range(step, ranks, 2 * step):
            both.send(child, child - step, size, tag)
            both.receive(child - step, child, size, tag)
        step *= 2


def ours(program: Program) -> tuple[list[int], float, int]:
    """The end of every rank, the seconds it took, and messages."""
    replay = ProgramReplay(
        nodes=program.ranks, tick_ns=1.0, hosts=HOSTS["loggopsim"][1].form(), library="linear", element_bytes=8,
        cores=1, seed=1, log_gops=_TIMES,
    )  # fmt: skip
    packed = records(program)
    replay.add_job(
        replay.add_program(packed.rows, packed.lists, packed.first, packed.communicators), list(range(program.ranks))
    )
    began = time.process_time()
    while replay.advance(1_000_000) == "running":
        pass
    spent = time.process_time() - began
    return [end or 0 for end in replay.ranks()["finished_ticks"]], spent, replay.progress()["messages"]


def theirs(folder: Path, goal: str, *, every: bool) -> tuple[list[int], float]:
    """LogGOPSim's ends of the ranks, or of the last one alone, and the seconds that it took."""
    with TemporaryDirectory() as place:
        text, binary = Path(place) / "x.goal", Path(place) / "x.bin"
        text.write_text(goal, encoding="utf-8")
        subprocess.run([folder / "txt2bin", "-i", text, "-o", binary], check=True, capture_output=True)
        options = ["-L", "2500", "-o", "1500", "-g", "1000", "-G", "6", "-O", "0", "-S", "65535"]
        began = time.monotonic()
        done = subprocess.run(
            [folder / "LogGOPSim", "-f", binary, *options, *([] if every else ["-b"])],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        spent = time.monotonic() - began
    pattern = r"Host \d+: (\d+)" if every else r"at host \d+: (\d+)"
    return [int(found) for found in re.findall(pattern, done.stdout)], spent


def main() -> int:
    """Exit status 1 if a program has another end at any rank, 2 if LogGOPSim is not in the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where LogGOPSim and txt2bin are")
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", type=int, default=0, help="ranks of a speed comparison; 0: none")
    recording.add_argument(parser)
    given = parser.parse_args()
    if missing := [name for name in ("LogGOPSim", "txt2bin") if not (given.folder / name).is_file()]:
        parser.error(f"{given.folder} has no {missing[0]}: build LogGOPSim there, as --help says.")
    records = recording.begin(given)
    rng = random.Random(given.seed)  # noqa: S311 - programs are to be the same each time
    equal, most = 0, 0.0
    for number in range(given.programs):
        program, goal = random_program(rng)
        own, _, _ = ours(program)
        other, _ = theirs(given.folder, goal, every=True)
        if own == other:
            equal += 1
        else:
            apart = max(abs(a - b) / b for a, b in zip(own, other, strict=True))
            most = max(most, apart)
            print(f"program {number}: {own} here, {other} there", file=sys.stderr)
    found: dict[str, object] = {"programs": given.programs, "equal": equal, "largest_difference": most}
    if given.large:
        found["speed"] = _speed(given.folder, given.large)
    print(json.dumps(found))
    records.append({"ends": Figure(value=equal, held=f"{equal} of {given.programs}", n=given.programs)})
    return 0 if equal == given.programs else 1


def _speed(folder: Path, ranks: int) -> dict[str, float]:
    """Messages a second on shifts of small messages by 1, 2, 4, ... ranks."""
    both = Both(ranks)
    for number in range(200):
        _shift(both, ranks, 1 << number % (ranks.bit_length() - 1), 8, 0)
    program, goal = both.end()
    end, spent, messages = ours(program)
    other, their = theirs(folder, goal, every=False)
    return {
        "messages": messages,
        "ours_per_s": messages / spent,
        "theirs_per_s": messages / their,
        "equal": max(end) == other[0],
    }


if __name__ == "__main__":
    sys.exit(main())
