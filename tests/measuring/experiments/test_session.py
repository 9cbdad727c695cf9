"""A lab is told that it is measured before anything is asked of it."""

from pathlib import Path

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.yaml_source import YamlSource
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.session import RunOptions, run_new
from tests.support.labs.toy_lab import small_lab


def test_a_lab_is_told_that_it_is_measured_before_it_is_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))
    small_lab(tmp_path / "toy")
    program = {"name": "alltoall", "parameters": {"iterations": 1, "array_byte": 64}, "hosts": ["n1", "n2"]}
    content = {"name": "x", "lab": str(tmp_path / "toy"), "measure": {"program": program}}
    source = YamlSource("a file", content)

    def told(_: str) -> None:
        raise LabError("it is told")

    with pytest.raises(LabError, match="it is told"):
        run_new(Experiment.model_validate(content), source, RunOptions(tmp_path / "runs", quiet=True), told)
    (folder,) = (tmp_path / "runs").iterdir()
    assert "sampling_begun" not in (folder / "events.jsonl").read_text(encoding="utf-8")
