"""How much ranks compute, where a program's messages are known and of its computing the run time alone.

Computing of all jobs is multiplied by one factor, until the programs take as long as wanted on links that never sleep.
Run time grows with the factor, and is nearly a straight line of it, so a few replays find it (Brent's method).

Simplification: one factor for all jobs and ranks. A recording would tell computing apart by rank and by step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from scipy.optimize import brentq

from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.replay.jobs import Programs
from eee_testbed.simulation.replay.replayed import replay

_CLOSE: Final = 1e-4
"""Of the run time."""

_MORE: Final = 1.05
"""A longer run than a straight line through nothing asks for, so that the next replay is long enough."""

RunTime = Callable[[Description], float]
"""Seconds that a description's programs take on links that never sleep."""


@dataclass(frozen=True, slots=True)
class Computing:
    """What `compute_scale` each job needs, in their order; how long they take with it, and how many replays it took."""

    compute_scale: tuple[float, ...]
    run_time_s: float
    replays: int


def run_time_awake(description: Description) -> float:
    """By a replay with the first seed."""
    return replay(description, description.seeds[0], sleeping=False).run_time_s


def fit_computing(description: Description, run_time_s: float, run_time: RunTime = run_time_awake) -> Computing:
    """The jobs' computing with which they take so long; LabError if messages alone take longer, or nothing computes."""
    programs = description.programs
    if programs is None:
        raise LabError(f"{description.name} has no programs: write programs: with jobs.")
    tried = _Tried(description, programs, run_time)
    least_s, found_s = tried(0.0), tried(1.0)
    if found_s <= least_s:
        raise LabError(f"{description.name}: the jobs compute nothing, so no factor changes their {found_s:.6g} s.")
    if run_time_s < least_s:
        raise LabError(
            f"{description.name}: messages alone take {least_s:.6g} s: ask for at least that, or change the messages."
        )

    def off_s(factor: float) -> float:
        off = tried(factor) - run_time_s
        return off if abs(off) > _CLOSE * run_time_s else 0.0

    factor = 1.0
    while off_s(factor) < 0:
        factor *= _MORE * run_time_s / tried(factor)
    if off_s(factor):
        factor = float(brentq(off_s, 0.0, factor, rtol=_CLOSE))
    return Computing(tried.scales(factor), tried(factor), tried.replays)


class _Tried:
    def __init__(self, description: Description, programs: Programs, run_time: RunTime) -> None:
        self._description, self._programs, self._run_time = description, programs, run_time
        self._found: dict[float, float] = {}

    @property
    def replays(self) -> int:
        """So far."""
        return len(self._found)

    def scales(self, factor: float) -> tuple[float, ...]:
        """Of each job."""
        return tuple(job.compute_scale * factor for job in self._programs.jobs)

    def __call__(self, factor: float) -> float:
        if factor not in self._found:
            scaled = zip(self._programs.jobs, self.scales(factor), strict=True)
            jobs = [job.model_copy(update={"compute_scale": scale}) for job, scale in scaled]
            programs = self._programs.model_copy(update={"jobs": jobs})
            self._found[factor] = self._run_time(self._description.model_copy(update={"programs": programs}))
        return self._found[factor]
