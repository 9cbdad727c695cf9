"""The lab and the experiment that Miwa's experiment is repeated with on other numbers of hosts."""

from pathlib import Path

import pytest

from eee_testbed.measuring.experiments.experiment_file import read_experiment
from eee_testbed.measuring.experiments.session import validated_lab
from eee_testbed.measuring.experiments.validation import order_for
from evaluation.accuracy.miwa_experiment import ARRAYS_BYTE, SLEEPS_US
from evaluation.accuracy.miwa_live import hosts_of, truth, write_experiment, write_lab


@pytest.mark.parametrize("count", [4, 12])
def test_a_lab_with_other_hosts_and_its_experiment_are_valid(tmp_path: Path, count: int) -> None:
    hosts = hosts_of(count)
    write_lab(tmp_path / "more", count)
    write_experiment(tmp_path / "miwa.yaml", tmp_path / "more", hosts, ARRAYS_BYTE[:2], SLEEPS_US[:3])
    experiment, source = read_experiment(tmp_path / "miwa.yaml")
    lab = validated_lab(experiment, source)
    assert [host.name for host in lab.hosts] == list(experiment.measure.hosts) == hosts
    assert len(order_for(experiment)) == 2 * 2 * 3
    assert len(truth("more", hosts).links) == count * (count - 1) // 2
