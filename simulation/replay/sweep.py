"""Replay a description with each of its seeds, with links always on and as described, by whichever processes."""

from collections.abc import Callable

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.pool import Pool, finished
from eee_testbed.simulation.replay.replayed import Replayed, ReplayTask
from eee_testbed.simulation.replay.results import ReplayResults
from eee_testbed.simulation.worker import Simulated

Done = Callable[[Simulated[Replayed]], None]
"""Called with each replay when it is on the disk."""


def tasks_of(description: Description) -> list[ReplayTask]:
    """All replays: slowdowns are ratios to links that never sleep, with the same seed."""
    return [
        ReplayTask(description, seed, sleeping)
        for seed in dict.fromkeys(description.seeds)
        for sleeping in ((False, True) if description.links_rest else (False,))
    ]


def replay_all(description: Description, results: ReplayResults, pool: Pool, done: Done) -> None:
    """Replay what `results` lacks; each is kept as soon as it is known. The results do not depend on the pool."""
    missing = [task for task in tasks_of(description) if results.find(task.seed, sleeping=task.sleeping) is None]
    for _, simulated in finished(pool, [(task, task) for task in missing]):
        results.add(simulated.result)
        done(simulated)
