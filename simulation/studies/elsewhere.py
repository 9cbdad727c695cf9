"""Values that were measured elsewhere as statements: what a study simulates beside them, and the verdict."""

from collections.abc import Mapping, Sequence
from typing import Final

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies.beside import Beside
from eee_testbed.simulation.studies.pairs import where
from eee_testbed.simulation.studies.statement import (
    Judge,
    Statement,
    StudyData,
    Verdict,
    missing_points,
    settled,
    shown,
)

_PREFIX: Final = "M"
"""Of a measured value's number."""


def statements_of(measured: Sequence[Beside]) -> list[Statement]:
    """In the order of the file."""
    return [_statement(number, one) for number, one in enumerate(measured, 1)]


def _statement(number: int, one: Beside) -> Statement:
    low, high = one.ends
    value = shown(Interval(one.percent, low, high), "%") if low < high else f"{one.percent:.1f} %"
    how = (
        f"run time of {_named(one.of)} against {_named(one.against)}, seed by seed; at most {one.within:g} percentage "
        "points beyond what was measured"
    )
    return Statement(f"{_PREFIX}{number}", f"{one.text} {value}.", one.source, how, _judge(one))


def _named(labels: Mapping[str, str]) -> str:
    return " ".join(labels.values())


def _judge(one: Beside) -> Judge:
    low, high = one.ends

    def judge(data: StudyData) -> Verdict:
        others = {pair.seed: pair.run_time_s for pair in where(data.pairs, **one.against)}
        found = [
            100 * (pair.run_time_s / others[pair.seed] - 1)
            for pair in where(data.pairs, **one.of)
            if pair.seed in others
        ]
        if not found:
            return missing_points(f"{_named(one.of)} and {_named(one.against)}")
        ours = over_seeds(found)
        known_low, known_high = ours.ends
        holds = known_high >= low - one.within and known_low <= high + one.within
        return settled(holds=holds, ours=shown(ours, "%"), otherwise=one.because)

    return judge
