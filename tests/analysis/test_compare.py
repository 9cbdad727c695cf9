"""Trials of a run's folder, A against B by blocks, and what meters can see."""

import json
from pathlib import Path

import numpy as np
import pytest

from eee_testbed.analysis.compare import by_block, compare, matched, unit_of
from eee_testbed.analysis.power.preflight import MeterPrecision, preflight, smallest_watt
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import PowerSeries
from eee_testbed.record.trial_events import TrialBegun, TrialEnded, TrialState
from eee_testbed.record.trials import levels_of, read_trials, valid_trials


def _write(folder: Path, trials: list[tuple[TrialBegun, TrialEnded | None]]) -> None:
    lines = []
    for begun, ended in trials:
        lines.append({"time_ns": 5, "kind": EventKind.TRIAL_BEGUN, **begun.plain()})
        if ended is not None:
            lines.append({"time_ns": 9, "kind": EventKind.TRIAL_ENDED, **ended.plain()})
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"torn', "utf-8")


def _trial(number: int, eee: str, state: TrialState = "valid", time_s: float = 1.0) -> tuple[TrialBegun, TrialEnded]:
    begun = TrialBegun(number, number, number // 2, 0, {"eee": eee, "n": 1}, "program", "alltoall", {}, ("a", "b"), 2)
    return begun, TrialEnded(number, state, "", 10, 20, True, (("time", time_s, "s"),))


def test_trials_include_those_that_were_cut_short_and_the_last_end_counts(tmp_path: Path) -> None:
    on, off = _trial(0, "on"), _trial(1, "off", time_s=2.0)
    spoiled = TrialEnded(0, "invalid", "a link went down.", 10, 20, True, (("time", 1.0, "s"),))
    _write(tmp_path, [on, (on[0], spoiled), off, (_trial(2, "on")[0], None)])
    trials = read_trials(tmp_path)
    assert [(trial.number, trial.state) for trial in trials] == [(0, "invalid"), (1, "valid"), (2, "failed")]
    assert trials[2].begun_ns == trials[2].ended_ns == 5
    assert trials[1].rank_count == 4
    assert trials[1].figure("time").unit == "s"
    with pytest.raises(KeyError, match="has no figure 'rtt', it has: time"):
        trials[1].figure("rtt")
    with pytest.raises(FileNotFoundError, match="was not recorded"):
        trials[1].path("echoes.jsonl")
    assert valid_trials(trials, eee=("on", "off")) == (trials[1],)
    assert valid_trials(trials, eee="on") == ()
    assert levels_of(trials, "eee") == ("off", "on")
    assert by_block(trials, "time") == {0: [2.0]}
    assert unit_of(trials, "time") == "s"
    assert matched(trials[1].levels, {"eee": "off", "n": "1"})
    assert not matched(trials[1].levels, {"eee": "on"})


def _drifting(chance: np.random.Generator, ratio: float, blocks: int) -> list[dict[int, list[float]]]:
    """A and B with a drift that is larger than what they differ by, and shared within a block."""
    levels = 100 * (1 + 0.3 * chance.normal(size=blocks))
    return [
        {n: [side * level * (1 + 0.004 * chance.normal()) for _ in range(2)] for n, level in enumerate(levels)}
        for side in (1.0, ratio)
    ]


@pytest.mark.slow
def test_the_interval_of_a_ratio_holds_the_truth_and_a_drift_shared_by_a_block_does_not_widen_it() -> None:
    chance = np.random.default_rng(3)
    held, widths = 0, []
    for seed in range(60):
        a, b = _drifting(chance, 1.05, 10)
        one = compare(a, b, "time", "s", seed=seed)
        held += one.ratio.holds(1.05)
        widths.append(one.ratio.half_width)
    assert 54 <= held <= 60
    assert max(widths) < 0.01


@pytest.mark.slow
def test_of_three_blocks_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """A bootstrap of three blocks holds it three times in four."""
    chance = np.random.default_rng(5)
    held = differed = 0
    for seed in range(200):
        one = compare(*_drifting(chance, 1.05, 3), "time", "s", seed=seed)
        held += one.ratio.holds(1.05)
        differed += one.differs
    assert 182 <= held <= 199
    assert not differed


def test_blocks_that_lack_one_side_are_dropped_and_few_blocks_are_marked() -> None:
    one = compare({0: [1.0], 1: [1.0], 2: [9.0]}, {0: [2.0], 1: [2.0], 3: [50.0]}, "time", "s")
    assert (one.ratio.value, one.blocks, one.counts) == (2.0, 2, (2, 2))
    assert one.weak
    assert not one.differs, "of so few blocks nothing is said to differ"
    assert np.isnan(compare({0: [0.0]}, {0: [1.0]}, "lost", "1").ratio.value)
    values = [1.0, 1.1, 1.2, 1.0, 1.1, 1.2]
    free = compare({0: values}, {5: values}, "time", "s", pairing="none")
    assert not free.weak
    assert not free.differs
    with pytest.raises(ValueError, match="no block in common"):
        compare({0: [1.0]}, {1: [1.0]}, "time", "s")


def _blocks(count: int, value: float) -> dict[int, list[float]]:
    return {n: [value * (1 + 0.001 * n), value * (1.001 + 0.001 * n)] for n in range(count)}


@pytest.mark.parametrize(
    ("blocks", "has_interval", "weak", "differs"),
    [(1, False, True, False), (2, False, True, False), (3, True, True, False), (6, True, False, True)],
)
def test_what_was_hardly_repeated_has_no_interval_and_what_is_weak_does_not_differ(
    blocks: int, *, has_interval: bool, weak: bool, differs: bool
) -> None:
    one = compare(_blocks(blocks, 1.0), _blocks(blocks, 1.2), "time", "s")
    assert (one.has_interval, one.weak, one.differs) == (has_interval, weak, differs)


def _series(watt: np.ndarray, step: float) -> PowerSeries:
    sent = np.arange(watt.size, dtype=np.int64) * 1_000_000_000
    shown = np.round(watt / step) * step if step else watt
    return PowerSeries(sent, sent + 1_000_000, shown, step, np.zeros(watt.size, dtype=bool))


def test_a_meter_is_known_by_its_noise_its_step_and_its_refresh() -> None:
    chance = np.random.default_rng(1)
    noisy = MeterPrecision.of("sw1", _series(20 + 0.5 * chance.normal(size=400), 0.01))
    assert noisy.noise_watt == pytest.approx(0.5, rel=0.15)
    assert noisy.rounding_watt < 0.003
    coarse = MeterPrecision.of("sw1", _series(np.full(50, 20.2), 1.0))
    assert coarse.noise_watt == 0.0
    assert coarse.rounding_watt == pytest.approx(1 / np.sqrt(12), rel=0.05)
    slow = MeterPrecision.of("sw1", _series(np.repeat(20 + 0.5 * chance.normal(size=60), 5), 0.01))
    assert slow.refresh_s == pytest.approx(5.0)
    with pytest.raises(ValueError, match="too few"):
        MeterPrecision.of("sw1", _series(np.array([1.0, 2.0]), 0.1))


def test_more_blocks_and_longer_windows_show_smaller_effects_but_not_below_the_step() -> None:
    noisy = MeterPrecision("sw1", 0.01, 0.5, 1.0, 0.0)
    least = [smallest_watt([noisy], 10.0, blocks) for blocks in (2, 3, 5, 10, 50)]
    assert least == sorted(least, reverse=True)
    assert smallest_watt([noisy], 40.0, 5) < smallest_watt([noisy], 10.0, 5)
    assert smallest_watt([noisy], 10.0, 5, trials=4) < smallest_watt([noisy], 10.0, 5)
    seen = preflight([noisy], window_s=10.0, blocks=3, effect_watt=0.3)
    assert not seen.seen
    assert seen.blocks_needed is not None
    assert (
        smallest_watt([noisy], 10.0, seen.blocks_needed) <= 0.3 < smallest_watt([noisy], 10.0, seen.blocks_needed - 1)
    )
    assert f"use {seen.blocks_needed} blocks" in seen.sentence
    coarse = preflight([MeterPrecision("sw1", 1.0, 0.0, 1.0, 0.29)], window_s=10.0, blocks=9, effect_watt=0.3)
    assert (coarse.seen, coarse.blocks_needed) == (False, None)
    assert "no number of blocks helps" in coarse.sentence
    assert preflight([noisy], window_s=10.0, blocks=3).seen
    with pytest.raises(ValueError, match="no meter"):
        preflight([], window_s=10.0, blocks=3)


def test_an_effect_that_preflight_calls_detectable_is_found_four_times_in_five() -> None:
    chance = np.random.default_rng(7)
    meter, blocks, window_s = MeterPrecision("sw1", 0.0, 0.5, 1.0, 0.0), 6, 10.0
    effect = smallest_watt([meter], window_s, blocks)
    sigma = meter.window_watt(window_s) * np.sqrt(2)
    found = 0
    for _ in range(2000):
        differences = effect + sigma * chance.normal(size=blocks)
        half = 2.5706 * differences.std(ddof=1) / np.sqrt(blocks)  # Student's t for 5 degrees of freedom
        found += differences.mean() - half > 0
    assert 0.72 <= found / 2000 <= 0.92
