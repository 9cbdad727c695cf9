"""One rank of Miwa's program (2013, Fig. 5): MPI_Alltoall, then a pause, over and over. Needs mpi4py.

    python3 alltoall_ranks.py '{"array_byte": 4096, "sleep_us": 100, "sleep_by": "usleep", "iterations": 1000,
        "warm_up_iterations": 100}'

Rank 0 prints one line of JSON. All ranks pass a barrier before the measured loop; `time_ns` is that of the rank that
took longest from there to the end of its last pause. Contents are checked after the warm-up and after the loop, against
what each other rank has to have sent; the two have different contents. `processor_wait_ns` is the longest time that a
rank was ready to run in the loop and had no processor: on nodes of its own next to nothing.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mpi4py

mpi4py.rc.threads = False  # as a C program that calls MPI_Init
from mpi4py import MPI  # noqa: E402 - the setting has to come first

_SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


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


def quantiles(values: Sequence[int]) -> list[int]:
    """The values below which the shares of `_SHARES` lie, by the nearest rank."""
    ordered = sorted(values)
    return [ordered[round(share * (len(ordered) - 1))] for share in _SHARES]


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
    before_ns = waited_ns()
    begun_ns = time.time_ns()
    for index in range(iterations):
        begins[index] = clock()
        exchange(sent, got)
        returns[index] = clock()
        pause()
    begins[iterations] = clock()
    ended_ns = time.time_ns()
    wait_ns = waited_ns() - before_ns
    wrong += sum(left != right for left, right in zip(theirs, expected))

    longest_ns = world.allreduce(begins[iterations] - begins[0], op=MPI.MAX)
    longest_wait_ns = world.allreduce(wait_ns, op=MPI.MAX)
    wrong = world.allreduce(wrong)
    if rank == 0:
        steps = [after - before for before, after in zip(begins, begins[1:])]
        calls = [after - before for before, after in zip(begins, returns)]
        result = {
            "ranks": size,
            "iterations": iterations,
            "array_byte": 4 * count * size,
            "wrong": wrong,
            "time_ns": longest_ns,
            "processor_wait_ns": longest_wait_ns,
            "begun_ns": begun_ns,
            "ended_ns": ended_ns,
            "shares": _SHARES,
            "iteration_ns": quantiles(steps),
            "call_ns": quantiles(calls),
            "mean_call_ns": sum(calls) / len(calls),
        }
        print("alltoall", json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
