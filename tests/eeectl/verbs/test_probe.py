"""How a probe's policy is put into words: what is claimed, and what is not. Which of its trials count."""

from pathlib import Path

from eee_testbed.analysis.calibration import Estimate, LinkPolicy
from eee_testbed.eeectl.verbs.probe import counted, policy_lines
from eee_testbed.record.trials import Trial


def _about(value: float, half: float = 1.0) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half)


PAIR = LinkPolicy(
    ends=("n01:eth0", "sw1:gi1/0/2", "n02:eth0", "sw1:gi1/0/1"),
    kind="hold",
    sleeper_count=2,
    which=False,
    path_wake_us=_about(153.0, 0.2),
    largest_gap_us=4000.0,
    base_us=_about(8.0),
    noise_us=_about(0.5, 0.1),
    hold_us=_about(1000.0),
    sleep_us=_about(182.0),
    wake_us=_about(60.0, 5.0),
    card_hold_us=_about(1000.0),
    card_sleep_us=_about(182.0),
    card_wake_us=_about(16.5, 5.0),
    echo_count=1000,
    lost_count=0,
    explained_fraction=0.98,
    evidence=500.0,
)


def test_a_pair_that_may_be_exchanged_is_not_called_ports_and_cards() -> None:
    text = "\n".join(policy_lines(PAIR, paired=True))
    assert "wakes of a whole round trip 153.0 us (152.8 - 153.2)" in text
    assert "one group (2): hold 1000.0 us" in text
    assert "the other (2)" in text
    assert "ports" not in text
    named = "\n".join(policy_lines(PAIR.model_copy(update={"which": True}), paired=True))
    assert "ports (2)" in named
    assert "cards (2)" in named


def test_without_echoes_with_eee_off_it_is_no_claim() -> None:
    claimed, alone = (policy_lines(PAIR, paired=paired) for paired in (True, False))
    assert claimed[0] == "policy: hold"
    assert alone[0].startswith("as if by EEE, not compared with EEE off")
    assert "--paired" in alone[-1]


def test_off_says_up_to_which_gap() -> None:
    off = PAIR.model_copy(update={"kind": "off", "hold_us": None, "wake_us": None, "path_wake_us": None})
    assert policy_lines(off, paired=True) == ["policy: off, nothing slept after gaps of up to 4000 us"]


def _trial(number: int, why: str = "") -> Trial:
    state = "invalid" if why else "valid"
    at_ns = (number, number + 1)
    return Trial(number, 0, 0, 0, {}, "probe", "", {}, (), 0, state, why, None, *at_ns, {}, Path())


def test_a_trial_that_was_repeated_does_not_count() -> None:
    late, valid = _trial(0, "the twin was 512 us late"), _trial(1)
    assert counted([late, valid], 1) == ([valid], "")


def test_without_enough_valid_trials_all_are_shown_with_the_last_reason() -> None:
    trials = [_trial(0), _trial(1, "the twin was 512 us late"), _trial(2, "sw1:gi1/0/1 went down")]
    assert counted(trials, 2) == (trials, "sw1:gi1/0/1 went down")
