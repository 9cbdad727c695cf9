"""`eeectl regulate` without a lab: the mistakes that it reports in one sentence, and the closed loop's options."""

import shlex

import pytest

from controller.experiments.experiment import LoopLevel
from controller.regulating.session import LoopOptions
from eeectl.cli import run
from eeectl.regulation.auto import AutoOptions
from regulation.closed_loop import Settings


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "which program? Name one, such as alltoall, or give --auto"),
        ("alltoall", "how much may a channel carry?"),
        ("alltoall --peak 40% --sweep 2", "how much may a channel carry?"),
        ("--auto --peak 40%", "--auto decides by itself"),
        ("--auto alltoall --knob speed", "--auto decides by itself"),
        ("alltoall --peak 40% --knob hold", "--knob hold and --hold-us go together"),
        ("alltoall --peak 40% --hold-us 500", "--knob hold and --hold-us go together"),
        ("alltoall --peak 40% --knob hold --hold-us 99000000", "a hold time of 99000000 us is out of range"),
        ("--auto --compare", "--compare measures both methods and the loop"),
        ("alltoall --compare", "how much may a channel carry?"),
        ("alltoall --compare --peak 40% --plan", "--compare measures both methods and the loop"),
        ("alltoall --compare --peak 40% --method least", "leave out --auto, --plan, --knob and --method"),
        ("alltoall --compare --peak 40% --for 10m", "--compare measures --blocks trials: leave out --for"),
        ("alltoall --compare --peak 40% --settle-within 0s", "invalid time '0s'"),
        ("alltoall --resume runs/x", "runs/x has its program and its choices already: give --resume without"),
        ("--resume nowhere", "nowhere is not a run's folder"),
        ("--auto --epoch soon", "invalid time 'soon'"),
        ("--auto --epoch 0.2s", "the loop needs epochs of 1 s"),
        ("--auto --high-water-mark 120%", "invalid high-water mark '120%'"),
        ("--auto --slowdown-bound much", "invalid bound 'much'"),
        ("--auto --deactivation-epochs 0", "an epoch of 1 or more"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["regulate", *shlex.split(words), "--lab", "virtual"]) == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_the_loops_options_have_the_papers_values_and_are_read_with_their_units() -> None:
    assert AutoOptions().options() == LoopOptions(Settings(0.75, 10, 0.05), epoch_s=5.0, for_s=None)
    given = AutoOptions(epoch="2s", for_time="10m", high_water_mark="0.5", slowdown_bound="1%", hub="sw2").options()
    assert (given.epoch_s, given.for_s, given.hub) == (2.0, 600.0, "sw2")
    assert AutoOptions().level() == LoopLevel()
    assert AutoOptions(epoch="2s", settle_within="1m", hub="sw2").level() == LoopLevel(
        epoch_s=2, settle_s=60, hub="sw2"
    )
    assert given.settings == Settings(high_water_mark=0.5, max_slowdown=0.01)
