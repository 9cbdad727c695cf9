"""A figure or an answer that nothing printed matches ends a run early, and says how to go on."""

from pathlib import Path

import pytest

from eee_testbed.benchmarks.command import Command, CommandParameters
from eee_testbed.benchmarks.figure_sets import FigureReader
from eee_testbed.benchmarks.program import Answer, Placement
from eee_testbed.lab.errors import NeverMatched
from eee_testbed.measuring.experiments.expressions import Expressions
from eee_testbed.measuring.experiments.measuring import Measured

_READER = FigureReader.of([r"time=Time = ([\d.]+) s"])
_TRIAL = Path("runs/x/trials/0001")


def _printed(text: str) -> Measured:
    answer = _READER.added_to(Answer(right=None), text)
    return Measured(0, 1, answer.right, answer.why, unmatched=answer.unmatched)


def test_the_second_trial_that_does_not_match_ends_the_run_in_one_sentence() -> None:
    expressions = Expressions()
    expressions.tried(_printed("loop took 3.1 seconds"), _TRIAL)
    expressions.require_hope()
    expressions.tried(_printed("loop took 3.2 seconds"), _TRIAL)
    with pytest.raises(NeverMatched) as ended:
        expressions.require_hope()
    said = str(ended.value)
    assert r"nothing like 'Time = ([\d.]+) s'" in said
    assert "its last line is 'loop took 3.2 seconds'" in said
    assert "runs/x/trials/0001/program.out" in said
    assert "correct that, and start again" in said
    assert "What was measured is kept." in said


def test_what_matched_once_is_no_wrong_expression() -> None:
    for before in (Expressions(matched=True), Expressions()):
        before.tried(_printed("Time = 3 s"), _TRIAL)
        for _ in range(3):
            before.tried(_printed("killed"), _TRIAL)
        before.require_hope()


def test_an_answer_that_is_never_right_counts_alike() -> None:
    parameters = CommandParameters(words=("sum",), expect="Sum = 1")
    answer = Command().read(parameters, Placement(("n01",)), "Sum = 2\n")
    assert answer.unmatched == "Sum = 1"
    assert answer.why == "it did not print 'Sum = 1'; its last line is 'Sum = 2'."
    expressions = Expressions()
    for _ in range(2):
        expressions.tried(Measured(0, 1, answer.right, answer.why, unmatched=answer.unmatched), _TRIAL)
    with pytest.raises(NeverMatched, match="Sum = 1"):
        expressions.require_hope()
