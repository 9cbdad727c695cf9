"""What a live lab and its replay are compared on: the lab, its experiment, and the policy of links."""

from pathlib import Path

import pytest

from eee_testbed.measuring.experiments.experiment_file import read_experiment
from eee_testbed.measuring.experiments.session import validated_lab
from eee_testbed.measuring.experiments.validation import order_for
from eee_testbed.simulation.replay.jobs import Job
from eee_testbed.simulation.replay.on_network import network_for
from eee_testbed.simulation.replay.prediction import with_policy
from eee_testbed.simulation.replay.replayed import replay
from eee_testbed.twin.truth.truth_file import load_truth
from evaluation.accuracy.closed_loop import Loop, policy, prepare


def test_the_lab_and_its_experiment_are_valid_and_record(tmp_path: Path) -> None:
    experiment, source = read_experiment(prepare(tmp_path, 4, [1024], [2500], 40))
    lab = validated_lab(experiment, source)
    assert len(lab.hosts) == 4
    assert len(order_for(experiment)) == 2
    assert experiment.recordings.trace
    lpi = load_truth(tmp_path / "loop4" / "twin" / "truth.yaml").nodes.defaults.lpi
    assert (lpi.mode, lpi.hold_us, lpi.wake_us) == ("deep", 1000, 60)


def test_a_program_on_the_labs_network_waits_for_its_links(tmp_path: Path) -> None:
    prepare(tmp_path, 4, [1024], [2500], 40)
    job = Job.model_validate(
        {"program": {"kind": "stencil", "procs": [4, 1], "steps": 3, "face_byte": 1000, "grain_ns": 3e6}}
    )
    description = network_for(f"lab:{tmp_path / 'loop4'}", 1000.0, job)
    assert description.programs is not None
    asleep = with_policy(description, policy(description.programs.cycle_ns / 1e3), nodes_too=True)
    base, slept = replay(description, 1, sleeping=False), replay(asleep, 1, sleeping=True)
    # The first message of a step wakes the sender's card, then the receiver's port: 60 us each.
    assert slept.run_time_s - base.run_time_s == pytest.approx(3 * 2 * 60e-6, rel=0.01)
    assert slept.node_shares.low_power > 0.3


def test_errors_are_relative_to_the_live_lab() -> None:
    loop = Loop(1024, 2500, 100, 0.20, 0.21, 110.0, 0.5, 0.49, 0.5)
    assert loop.live_adds_us == pytest.approx(100)
    assert loop.run_time_error_percent == pytest.approx(100 * (0.211 / 0.21 - 1))
    assert loop.recorded_error_percent == pytest.approx(-2)
