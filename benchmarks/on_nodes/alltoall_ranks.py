"""One rank of Miwa's program (2013, Fig. 5): MPI_Alltoall, then a pause, over and over. Needs mpi4py.

    python3 alltoall_ranks.py '{"array_byte": 4096, "sleep_us": 100, "sleep_by": "usleep", "iterations": 1000,
        "warm_up_iterations": 100}'

Rank 0 prints "ranks ready" when all have started, waits until somebody opens the pipe `begin` of its folder, if there
is one, and prints one line of JSON at the end. All ranks pass a barrier before the measured loop; `time_ns` is that of
the rank that took longest from there to the end of its last pause. Contents are checked after the warm-up and after the
loop, against what each other rank has to have sent; the two have different contents. `processor_wait_ns` is the longest
time that a rank was ready to run in the loop and had no processor: on nodes of its own next to nothing.
`processor_wait_share` is the same as a share of the time by the node's own clock, and `steal_share` the largest share
of a node's processors that its hypervisor gave to others: the kernel counts both, and its clock may be another than the
program's. `slow_ns` is by how much iterations were longer than the median where that was by more than `slow_beyond_ns`,
all together; `steady_ns` is the loop's time without it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mpi4py

mpi4py.rc.threads = False  # as a C program that calls MPI_Init
from mpi4py import MPI  # noqa: E402 - the setting has to come first

_SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)

_SLOW_BEYOND_NS = 2_000_000
"""Longer than all links of a path take to wake, in the first place where EEE is slowest: 0.25 ms each at 1 Gb/s."""

_STEAL = 8  # place in the first line of /proc/stat, after "cpu"


def content(salt: int, source: int, target: int, count: int) -> array[int]:
    """What `source` sends to `target`: integers that encode both, their place, and which of the two passes it is."""
    first = (salt * 7919 + source * 131 + target) * 17 % 1_000_003
    return array("i", range(first, first + count))


def filled(salt: int, rank: int, size: int, count: int, *, sending: bool) -> array[int]:
    """A whole array: what a rank sends to all in turn, or what it has to have got from all."""
    pairs = [(rank, other) if sending else (other, rank) for other in range(size)]
    whole = array("i")
    for source, target in pairs:
        whole.extend(content(salt, source, target, count))
    return whole


def pauser(by: str, sleep_us: int) -> Callable[[], Any]:
    """A function that lets `sleep_us` pass: libc's usleep as in the paper, or by looking at the clock."""
    if by == "usleep":
        usleep = ctypes.CDLL(None).usleep
        asked = ctypes.c_uint(sleep_us)
        return lambda: usleep(asked)
    clock, pause_ns = time.perf_counter_ns, sleep_us * 1000

    def spin() -> None:
        end_ns = clock() + pause_ns
        while clock() < end_ns:
            pass

    return spin


def waited_ns() -> int:
    """How long this thread was ready to run and had no processor, since it began; 0 where the kernel does not count."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0


def stolen_s() -> float:
    """Processor time that the hypervisor gave to others since the node started, all processors; 0 where unknown."""
    try:
        words = Path("/proc/stat").read_text(encoding="ascii").split(maxsplit=_STEAL + 1)
    except OSError:
        return 0.0
    return float(words[_STEAL]) / os.sysconf("SC_CLK_TCK")


def uptime_s() -> float:
    """Seconds since the node started, by its kernel; 0 where unknown."""
    try:
        return float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0.0


def slow_ns(steps: Sequence[int]) -> int:
    """By how much steps were longer than their median, of those that were by more than `_SLOW_BEYOND_NS`."""
    median = sorted(steps)[len(steps) // 2]
    return sum(step - median for step in steps if step > median + _SLOW_BEYOND_NS)


def quantiles(values: Sequence[int]) -> list[int]:
    """The values below which the shares of `_SHARES` lie, by the nearest rank."""
    ordered = sorted(values)
    return [ordered[round(share * (len(ordered) - 1))] for share in _SHARES]


class Loop(NamedTuple):
    """What a rank measured: when iterations began and the last one ended, when calls returned, how long it waited."""

    begins: array[int]
    returns: array[int]
    begun_ns: int
    ended_ns: int
    wait_ns: int
    wait_share: float
    steal_share: float


def reduced(world: Any, loop: Loop, wrong: int) -> dict[str, Any]:
    """The worst of all ranks, and this rank's iterations and calls."""
    begins = loop.begins
    steps = [after - before for before, after in zip(begins, begins[1:])]
    calls = [after - before for before, after in zip(begins, loop.returns)]
    whole_ns = begins[len(steps)] - begins[0]

    def most(value: float) -> Any:
        return world.allreduce(value, op=MPI.MAX)

    longest_ns, longest_wait_ns, longest_share = most(whole_ns), most(loop.wait_ns), most(loop.wait_share)
    most_steal, most_slow_ns = most(loop.steal_share), most(slow_ns(steps))
    steady_ns, wrong = most(whole_ns - slow_ns(steps)), world.allreduce(wrong)
    return {
        "wrong": wrong,
        "time_ns": longest_ns,
        "steady_ns": steady_ns,
        "slow_ns": most_slow_ns,
        "slow_beyond_ns": _SLOW_BEYOND_NS,
        "processor_wait_ns": longest_wait_ns,
        "processor_wait_share": longest_share,
        "steal_share": most_steal,
        "begun_ns": loop.begun_ns,
        "ended_ns": loop.ended_ns,
        "shares": _SHARES,
        "iteration_ns": quantiles(steps),
        "call_ns": quantiles(calls),
        "mean_call_ns": sum(calls) / len(calls),
    }


def main() -> None:
    """Run one rank."""
    given = json.loads(sys.argv[1])
    world = MPI.COMM_WORLD
    rank, size = world.rank, world.size
    count = given["array_byte"] // 4 // size
    pause = pauser(given["sleep_by"], given["sleep_us"])
    clock, exchange = time.perf_counter_ns, world.Alltoall
    wrong = 0

    def prepared(salt: int) -> tuple[list[Any], list[Any], array[int], array[int]]:
        mine, theirs = filled(salt, rank, size, count, sending=True), array("i", bytes(4 * count * size))
        return [mine, count, MPI.INT], [theirs, count, MPI.INT], theirs, filled(salt, rank, size, count, sending=False)

    sent, got, theirs, expected = prepared(1)
    if rank == 0:
        print("ranks ready", flush=True)  # MPI_Init returned, so all ranks have started
        with contextlib.suppress(FileNotFoundError), Path("begin").open("rb", buffering=0):
            pass
    for _ in range(given["warm_up_iterations"]):
        exchange(sent, got)
        pause()
    if given["warm_up_iterations"]:
        wrong += sum(left != right for left, right in zip(theirs, expected))

    sent, got, theirs, expected = prepared(2)
    iterations = given["iterations"]
    begins, returns = array("q", bytes(8 * (iterations + 1))), array("q", bytes(8 * iterations))
    gc.disable()
    world.Barrier()
    before_ns, before_s, up_s = waited_ns(), stolen_s(), uptime_s()
    begun_ns = time.time_ns()
    for index in range(iterations):
        begins[index] = clock()
        exchange(sent, got)
        returns[index] = clock()
        pause()
    begins[iterations] = clock()
    ended_ns = time.time_ns()
    wait_ns = waited_ns() - before_ns
    elapsed_s = (uptime_s() - up_s) or (begins[iterations] - begins[0]) / 1e9
    steal = (stolen_s() - before_s) / (elapsed_s * (os.cpu_count() or 1))
    wrong += sum(left != right for left, right in zip(theirs, expected))

    loop = Loop(begins, returns, begun_ns, ended_ns, wait_ns, wait_ns / 1e9 / elapsed_s, steal)
    result = reduced(world, loop, wrong)
    if rank == 0:
        facts = {"ranks": size, "iterations": iterations, "array_byte": 4 * count * size}
        print("alltoall", json.dumps({**facts, **result}), flush=True)


if __name__ == "__main__":
    main()
