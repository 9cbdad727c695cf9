"""Studies: what `eeectl simulate` does with a file that names many simulations."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from eeectl.exit_status import DONE, INTERRUPTED
from simulation.pool import Pool
from simulation.studies.estimate import corrected, estimated_s
from simulation.studies.expand import cases_of
from simulation.studies.points import StudyPoint, StudyTask, tasks_of
from simulation.studies.results import POINTS, StudyResults
from simulation.studies.study import Study, read_study
from simulation.studies.sweep import missing, simulate_study
from simulation.worker import Simulated

_FOLDER: Final = "simulations"
_WHOLE: Final = "-whole"


def simulate_study_file(
    file: Path, output: Path | None, pool: Pool, processes: int, *, whole: bool, as_json: bool
) -> int:
    """Simulate a study's reduced set, or all of it, and print what it gave; the exit status."""
    study = read_study(file)
    whole = whole or study.reduced is None
    cases = cases_of(study, file.parent, whole=whole)
    folder = output or Path(_FOLDER) / (study.name + (_WHOLE if whole and study.reduced is not None else ""))
    results = StudyResults(folder, cases)
    tasks = tasks_of(cases)
    try:
        with results.alone():
            _run(study, tasks, results, pool, processes, whole=whole)
    except KeyboardInterrupt:
        kept = len(results.points)
        words = "1 point is" if kept == 1 else f"{kept} points are"
        print(f"eeectl: interrupted; {words} kept in {folder}: the same command goes on.", file=sys.stderr)
        return INTERRUPTED
    if as_json:
        print(json.dumps({"folder": str(folder), "points": len(results.points)}, indent=1))
    else:
        print(f"points: {folder / POINTS}")
    return DONE


def _run(
    study: Study, tasks: Sequence[StudyTask], results: StudyResults, pool: Pool, processes: int, *, whole: bool
) -> None:
    """Say what it will cost, and simulate what is missing."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    todo = missing(tasks, results)
    console.print(f"{study.name}: {len(tasks)} points{'' if whole else ' in the reduced set'}, {len(todo)} to simulate")
    if not whole and study.reduced is not None:
        for sentence in study.reduced.leaves_out:
            console.print(f"left out: {sentence}")
    if not todo:
        return
    estimates = estimated_s(todo)
    asked_s = sum(estimates[task.case.key] for task in todo)
    console.print(f"cost: about {in_words(asked_s)} of processor time, {in_words(asked_s / processes)} on {processes}")
    spent = [0.0, 0.0]

    def done(simulated: Simulated[StudyPoint]) -> None:
        point = simulated.result
        spent[0] += point.replayed.process_s
        spent[1] += estimates[point.key[0]]
        left_s = corrected(asked_s - spent[1], spent[0], spent[1]) / processes
        again = f" (again: its process was lost, {simulated.lost} times)" if simulated.lost else ""
        console.print(
            f"{point.key[0]}, seed {point.key[1]}: {point.replayed.run_time_s:.6g} s{again} "
            f"[{len(results.points)} of {len(tasks)}, about {in_words(left_s)} left]",
        )

    simulate_study(todo, results, pool, done)


def in_words(seconds: float) -> str:
    """A time to read.

    >>> in_words(50), in_words(5400), in_words(260_000)
    ('50 s', '1.5 h', '3.0 days')
    """
    for limit, unit, name in ((90, 1, "s"), (5_400, 60, "min"), (172_800, 3_600, "h")):
        if seconds < limit:
            return (
                f"{seconds / unit:.0f} {name}" if unit == 1 or seconds / unit >= 10 else f"{seconds / unit:.1f} {name}"
            )
    return f"{seconds / 86_400:.1f} days"
