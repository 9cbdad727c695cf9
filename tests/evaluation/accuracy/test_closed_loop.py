"""A live lab and its replay: the lab, its experiment, the policy of links, and what is computed of both."""

from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.measuring.experiments.experiment_file import read_experiment
from eee_testbed.measuring.experiments.session import validated_lab
from eee_testbed.measuring.experiments.validation import order_for
from eee_testbed.simulation.replay.jobs import Job, load_program
from eee_testbed.simulation.replay.on_network import network_for
from eee_testbed.simulation.replay.prediction import with_policy
from eee_testbed.simulation.replay.replayed import replay
from eee_testbed.twin.truth.truth_file import load_truth
from evaluation.accuracy.closed_loop import (
    Loop,
    Low,
    begun_apart,
    figures_of,
    policy,
    replayed_on,
    switch_power,
)
from evaluation.accuracy.loop_lab import FAMILY, prepare
from evaluation.accuracy.loop_programs import PROGRAMS

HALO = {"kind": "stencil", "procs": [4, 1], "steps": 3, "face_byte": 1000, "grain_ns": 3e6}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_lab_and_its_experiments_are_valid_and_record(name: str, tmp_path: Path) -> None:
    folder, file = prepare(tmp_path, 8, PROGRAMS[name], cpu_ratio=0.5)
    experiment, source = read_experiment(file)
    lab = validated_lab(experiment, source)
    assert len(lab.hosts) == 8
    assert len(order_for(experiment)) == 2
    assert experiment.recordings.trace
    nodes = load_truth(folder / "twin" / "truth.yaml").nodes.defaults
    assert (nodes.lpi.mode, nodes.lpi.hold_us, nodes.lpi.wake_us) == ("deep", 1000, 60)
    assert nodes.cpu_ratio == 0.5


def test_a_program_on_the_labs_network_waits_for_its_links(tmp_path: Path) -> None:
    lab, _ = prepare(tmp_path, 4, PROGRAMS["alltoall"])
    description = network_for(f"lab:{lab}", 1000.0, Job.model_validate({"program": HALO}))
    assert description.programs is not None
    asleep = with_policy(description, policy(description.programs.cycle_ns / 1e3), nodes_too=True)
    base, slept = replay(description, 1, sleeping=False), replay(asleep, 1, sleeping=True)
    # The first message of a step wakes the sender's card, then the receiver's port: 60 us each.
    assert slept.run_time_s - base.run_time_s == pytest.approx(3 * 2 * 60e-6, rel=0.01)
    assert slept.node_shares.low_power > 0.3


def test_a_rank_that_began_later_computes_longer(tmp_path: Path) -> None:
    lab, _ = prepare(tmp_path, 4, PROGRAMS["alltoall"])
    program = replace(load_program(Job.model_validate({"program": HALO}).program), recorded_ns=9_000_000)
    late = begun_apart(program, [5_000_000, 5_000_000, 7_000_000, 5_000_000])
    assert late.recorded_ns == 11_000_000
    longer = late.calls["compute_ns"] - program.calls["compute_ns"]
    first = program.calls["rank"].is_first_distinct()
    assert longer.filter(first).to_list() == [0, 0, 2_000_000, 0]
    assert longer.filter(~first).sum() == 0
    times = [replayed_on(lab, one, tmp_path, sleeping=False)[1].run_time_s for one in (program, late)]
    assert times[1] - times[0] == pytest.approx(2e-3, rel=0.01)


def test_the_calibration_has_the_truths_watts(tmp_path: Path) -> None:
    lab, _ = prepare(tmp_path, 4, PROGRAMS["alltoall"])
    truth = load_truth(lab / "twin" / "truth.yaml").switches.families[FAMILY].power
    power = switch_power(truth)
    stages = power.port_by_mbps[1000]
    assert stages.enabled_watt is not None
    assert stages.link_watt is not None
    assert stages.enabled_watt.value + stages.link_watt.value == pytest.approx(0.60)
    assert power.base_watt.value == 26.0


def loop(name: str, adds_s: float, replayed_share: float) -> Loop:
    low = Low(0.5, replayed_share, live_joule=10.0, replayed_joule=9.9)
    return Loop(name, 0.20, 0.21, 12.0, adds_s, 0.5, 0.49, 0.6, 0.606, low)


def test_errors_are_relative_to_the_live_lab() -> None:
    one = loop("alltoall", 0.011, 0.51)
    assert one.live_adds_s == pytest.approx(0.01)
    assert one.run_time_error_percent == pytest.approx(100 * (0.211 / 0.21 - 1))
    assert one.recorded_error_percent == pytest.approx((-2, 1))
    assert one.low.share_off_points == pytest.approx(1)
    assert one.low.joule_error_percent == pytest.approx(-1)


def test_records_have_the_worst_program() -> None:
    figures = figures_of([loop("cg", 0.008, 0.51), loop("ft", 0.0101, 0.48)])
    assert figures["run time"].value == pytest.approx(100 * (0.208 / 0.21 - 1))
    assert figures["low power"].value == pytest.approx(-2)
    assert figures["joules"].n == 2
