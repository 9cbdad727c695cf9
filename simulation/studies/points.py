"""A point of a study: one simulation with one seed, with links that never sleep or as described."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from eee_testbed.simulation.replay.replayed import Replayed, ReplayTask
from eee_testbed.simulation.studies.expand import Case, case_key

_SHOWN_WORDS = 120
"""Of a task's name in progress."""


@dataclass(frozen=True, slots=True)
class StudyPoint:
    """`job_s`: the mean length of each job's runs that ended, in the order of the jobs; `replayed` has no ranks."""

    labels: Mapping[str, str]
    replayed: Replayed
    job_s: Sequence[float] = field(default=())

    @property
    def key(self) -> tuple[str, int]:
        """Case and seed."""
        return case_key(self.labels), self.replayed.seed


@dataclass(frozen=True, slots=True)
class StudyTask:
    """A point that is to be simulated, by whichever process."""

    case: Case
    seed: int

    def __str__(self) -> str:
        return f"{self.case.key[:_SHOWN_WORDS]}, seed {self.seed}"

    def simulate(self) -> StudyPoint:
        """The point. BrokenSimulation as `replay`."""
        found = ReplayTask(self.case.description, self.seed, self.case.sleeps).simulate()
        jobs = max((run.job for run in found.runs), default=-1) + 1
        job_s = [fmean(run.end_s - run.begin_s for run in found.runs if run.job == job) for job in range(jobs)]
        return StudyPoint(dict(self.case.labels), found, tuple(job_s))


def tasks_of(cases: Sequence[Case]) -> list[StudyTask]:
    """All points, all cases with a seed before the next seed, so that an interrupted study has compared everything.

    A case with links that never sleep serves all that differ from it in links alone.
    """
    seeds = dict.fromkeys(seed for case in cases for seed in case.description.seeds)
    return [StudyTask(case, seed) for seed in seeds for case in cases if seed in case.description.seeds]
