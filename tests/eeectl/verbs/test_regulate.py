"""`eeectl regulate` without a lab: the mistakes that it reports in one sentence, and the closed loop's rules."""

import shlex

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.eeectl.exit_status import WRONG_USE
from eee_testbed.eeectl.regulation.options import RuleOptions
from eee_testbed.measuring.experiments.experiment import LoopLevel
from eee_testbed.measuring.regulating.session import LoopOptions
from eee_testbed.regulation.closed_loop import Settings


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("run alltoall --lab virtual", "how much may a channel carry?"),
        ("choose alltoall --lab virtual --peak 40% --sweep 2", "how much may a channel carry?"),
        ("run alltoall --lab virtual --peak much", "'much' is not a peak"),
        ("run alltoall --lab virtual --peak 40% --launcher mpich", "cannot count messages between ranks"),
        ("choose alltoall --lab virtual --peak 40% --knob hold", "--knob hold and --hold-us go together"),
        ("run alltoall --lab virtual --peak 40% --hold-us 500", "--knob hold and --hold-us go together"),
        ("run alltoall --peak 40% --knob hold --hold-us 99000000", "a hold time of 99000000 us is out of range"),
        ("compare alltoall --lab virtual", "how much may a channel carry?"),
        ("compare alltoall --lab virtual --peak 40% --settle-within 0s", "invalid time '0s'"),
        ("resume nowhere", "nowhere is not a run's folder"),
        ("auto --lab virtual --epoch soon", "invalid time 'soon'"),
        ("auto --lab virtual --epoch 0.2s", "the loop needs epochs of 1 s"),
        ("auto --lab virtual --high-water-mark 120%", "invalid high-water mark '120%'"),
        ("auto --lab virtual --slowdown-bound much", "invalid bound 'much'"),
        ("auto --lab virtual --deactivation-epochs 0", "an epoch of 1 or more"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["regulate", *shlex.split(words)]) == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("words", ["alltoall --peak 40%", "--auto"])
def test_the_verb_alone_names_those_below_it(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["regulate", *shlex.split(words)]) == WRONG_USE
    assert "choose, run, auto, compare, resume" in " ".join(capsys.readouterr().err.replace("│", "").split())


def test_the_loops_rules_have_the_papers_values_and_are_read_with_their_units() -> None:
    assert RuleOptions().options() == LoopOptions(Settings(0.75, 10, 0.05), epoch_s=5.0, for_s=None)
    given = RuleOptions(epoch="2s", high_water_mark="0.5", slowdown_bound="1%", hub="sw2").options("10m")
    assert (given.epoch_s, given.for_s, given.hub) == (2.0, 600.0, "sw2")
    assert given.settings == Settings(high_water_mark=0.5, max_slowdown=0.01)
    assert RuleOptions().level("15m") == LoopLevel()
    assert RuleOptions(epoch="2s", hub="sw2").level("1m") == LoopLevel(epoch_s=2, settle_s=60, hub="sw2")
