"""Steps that come again and again, kept as loops."""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from eee_testbed.simulation.replay.rank_calls import RankCalls

Step = TypeVar("Step")


def repeat(calls: RankCalls, passes: int, write: Callable[[], None]) -> None:
    """What `write` writes, that often; once needs no loop."""
    if passes > 1:
        calls.loop(passes)
    if passes:
        write()
    if passes > 1:
        calls.end()


def run_steps(calls: RankCalls, steps: Sequence[Step], write: Callable[[Step], None]) -> None:
    """Write the steps in order; equal ones that follow each other are a loop."""
    for step, same in itertools.groupby(steps):
        repeat(calls, sum(1 for _ in same), partial(write, step))


def run_cycles(
    calls: RankCalls, number: int, periods: Sequence[int], write: Callable[[tuple[bool, ...]], None]
) -> None:
    """Steps 1 to `number`; `write` takes, for each period, whether the step's number is a multiple of it."""
    cycle = math.lcm(*periods)
    passes, rest = divmod(number, cycle)
    steps = [tuple(step % period == 0 for period in periods) for step in range(1, cycle + 1)]
    repeat(calls, passes, lambda: run_steps(calls, steps, write))
    run_steps(calls, steps[:rest], write)
