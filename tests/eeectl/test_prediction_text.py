"""Predictions as text: columns that fit, and each warning once."""

from dataclasses import replace

import pytest

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.predict.prediction import Prediction
from eee_testbed.analysis.predict.what_if import parse_what_if
from eee_testbed.eeectl.prediction_text import FIGURES, Answers, predictions_text
from tests.analysis.predict.test_prediction import exact_calibration, profile

QUESTIONS = ("off", "measured", "deep,hold_us=100", "fast,hold_us=10,phy=100GBASE-R")
WIDE = Interval(1234.567, 1203.25, 1278.75)


def _answers(*warnings: str, where: str = "toy") -> list[Prediction]:
    wide = dict.fromkeys(FIGURES, WIDE)
    return [Prediction(parse_what_if(text), where, **wide, warnings=warnings) for text in QUESTIONS]


def _programs(count: int, *answers: Prediction) -> list[Answers]:
    known = profile({500: 1_000})
    return [Answers(known.model_copy(update={"parameters": {"sleep_us": n}}).name, answers, None) for n in range(count)]


@pytest.mark.parametrize("width", [80, 100, 160])
def test_every_figure_of_every_question_fits(width: int) -> None:
    lines = predictions_text(_programs(1, *_answers()), exact_calibration(), width).splitlines()
    assert max(map(len, lines)) <= width
    for name in FIGURES.values():
        cells = [line for line in lines if line.startswith(name)]
        assert sum(line.count("1235 (1203 to 1279)") for line in cells) == len(QUESTIONS), name


def test_each_warning_stands_once_at_the_end() -> None:
    off, *others = _answers("no power was fitted.")
    some = replace(others[0], warnings=("no power was fitted.", "beyond the measured gaps."))
    programs = [*_programs(2, off, *others), *_programs(1, off, some, *others[1:])]
    lines = predictions_text(programs, exact_calibration(), 100).splitlines()
    assert [line for line in lines if line.startswith("warning")] == lines[-2:]
    assert lines[-2] == "warning: no power was fitted."
    assert lines[-1].startswith("warning about measured, ")
    assert lines[-1].endswith(": beyond the measured gaps.")


def test_networks_have_a_table_each() -> None:
    answers = [*_answers(where="torus-4x4x4"), *_answers(where="fat-tree")]
    lines = predictions_text(_programs(1, *answers), exact_calibration(), 100).splitlines()
    assert [line.rpartition(" on ")[2] for line in lines if ", on " in line] == ["torus-4x4x4", "fat-tree"]
