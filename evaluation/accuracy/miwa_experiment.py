"""Miwa's experiment: errors of the run times under EEE that models estimate.

    python -m evaluation.accuracy.miwa_experiment                     on the engine's virtual clock, 4 and 16 ranks
    python -m evaluation.accuracy.miwa_experiment --runs RUN ...      on runs of a live lab (`miwa_live` makes one)

The array goes from 256 B to 128 KB and the sleep from 0 to 1,000 us, on 4 nodes at 1 Gb/s behind one switch with the
PowerConnect's hold of 1 ms, Tw of 60 us, and Ts of 182 us. Each configuration runs with and without EEE, each time
with another seed; each model estimates a fifth of the configurations with a fit to the others. Prints Markdown.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from eee_testbed.analysis.calibration import Calibration, RunTimeError, load_calibration
from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.programs.fit_run_time import Case, case_of, cases_of, miwa_errors, round_errors, wake_errors
from eee_testbed.analysis.programs.round_replay import fit_rounds
from eee_testbed.record.samples import RunSamples
from evaluation import recording
from evaluation.accuracy.alltoall_engine import MIWA, Configuration, play, profile_of
from evaluation.records import Figure

ARRAYS_BYTE: Final = (256, 1024, 4096, 16_384, 65_536, 131_072)
SLEEPS_US: Final = (0, 100, 200, 400, 600, 800, 900, 1000)
PAPER: Final[Mapping[int, tuple[float, float]]] = {4: (2.63, 20.0), 16: (1.11, 15.3)}
"""Mean and worst error in percent by number of ranks (section 5.2.2), for the data that the model was fitted to."""


def _virtual(ranks_per_node: int, iterations: int, seed: int) -> list[Case]:
    policy = Policy(MIWA["hold_us"], MIWA["sleep_us"], MIWA["wake_us"])
    cases = []
    shapes = [
        Configuration(array_byte, sleep_us, ranks_per_node=ranks_per_node, iterations=iterations)
        for array_byte in ARRAYS_BYTE
        for sleep_us in SLEEPS_US
    ]
    for number, shape in enumerate(shapes, start=1):
        base, eee = (play(shape, timing, seed + 2 * number + on) for on, timing in enumerate((None, MIWA)))
        cases.append(case_of(profile_of(shape, base), eee.time_s, {"receive": policy}))
        print(f"{shape.rank_count} ranks: {number}/{len(shapes)}", file=sys.stderr, end="\r")
    return cases


def live_cases(runs: Sequence[Path], calibration: Calibration) -> dict[int, list[Case]]:
    """The configurations of runs, by number of ranks."""
    found: dict[int, list[Case]] = {}
    for run in runs:
        for cases in cases_of(RunSamples(run), calibration).values():
            found.setdefault(cases[0].profile.rank_count, []).extend(cases)
    return found


def _cell(errors: RunTimeError | None) -> str:
    return "not fitted" if errors is None else f"{errors.mean_percent:.2f} / {errors.worst_percent:.1f}"


def _row(ranks: int, cases: Sequence[Case]) -> str:
    paper = PAPER.get(ranks)
    try:
        serial = str(fit_rounds([case.round for case in cases if case.round is not None]).serial)
    except NotEnoughData:
        serial = ""
    cells = [
        f"{ranks} ranks, {len(cases)} configurations",
        "" if paper is None else f"{paper[0]} / {paper[1]}",
        _cell(miwa_errors(cases)),
        _cell(wake_errors(cases)),
        _cell(round_errors(cases)),
        serial,
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure or read, fit, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=Path, nargs="*", default=[])
    parser.add_argument("--calibration", type=Path, help="with the links' policy, for --runs")
    recording.add_argument(parser)
    asked = parser.parse_args()
    if asked.runs and asked.calibration is None:
        parser.error("--runs needs --calibration, with the policy of the links: make one with `eeectl fit`")
    records = recording.begin(asked)
    groups = (
        live_cases(asked.runs, load_calibration(asked.calibration))
        if asked.runs
        else {4 * ranks: _virtual(ranks, asked.iterations, asked.seed) for ranks in (1, 4)}
    )
    print_errors(groups)
    records.append(figures_of(groups))


def figures_of(groups: Mapping[int, Sequence[Case]]) -> dict[str, Figure | None]:
    """For records: the mean error in percent of each of our models, by number of ranks."""
    models = (("gaps and wakes", wake_errors), ("replayed rounds", round_errors))
    return {
        f"{ranks} ranks, {name}": _figure(errors(cases)) for ranks, cases in groups.items() for name, errors in models
    }


def _figure(errors: RunTimeError | None) -> Figure | None:
    return None if errors is None else Figure(value=errors.mean_percent, n=errors.configuration_count)


def print_errors(groups: Mapping[int, Sequence[Case]]) -> None:
    """Print each model's errors, by number of ranks, as Markdown."""
    print("Mean / worst error of the run time under EEE in percent, of configurations that were not fitted:\n")
    print("| | paper (fitted) | Miwa's model | gaps and wakes | replayed rounds | serial waits a round |")
    print("| --- | --- | --- | --- | --- | --- |")
    for ranks, cases in groups.items():
        print(_row(ranks, cases))


if __name__ == "__main__":
    main()
