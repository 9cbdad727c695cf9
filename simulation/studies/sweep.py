"""Simulate the points of a study that a folder lacks, by whichever processes."""

from collections.abc import Callable, Sequence

from eee_testbed.simulation.pool import Pool, finished
from eee_testbed.simulation.studies.points import StudyPoint, StudyTask
from eee_testbed.simulation.studies.results import StudyResults
from eee_testbed.simulation.worker import Simulated

Done = Callable[[Simulated[StudyPoint]], None]
"""Called with each point when it is on the disk."""


def missing(tasks: Sequence[StudyTask], results: StudyResults) -> list[StudyTask]:
    """Tasks whose points are not there."""
    return [task for task in tasks if not results.has(task.case, task.seed)]


def simulate_study(tasks: Sequence[StudyTask], results: StudyResults, pool: Pool, done: Done) -> None:
    """Simulate what `results` lacks; each point is kept as soon as it is known, and does not depend on the pool."""
    for _, simulated in finished(pool, [(task, task) for task in missing(tasks, results)]):
        results.add(simulated.result)
        done(simulated)
