"""One run folder and one report for all tests that only read them."""

from pathlib import Path

import pytest

from eee_testbed.analysis.calibration import save_calibration
from tests.support.measured.synthetic_run import calibration, write_alltoall, write_probe, write_regulation, write_run


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs"), write_probe, write_alltoall, write_regulation)


@pytest.fixture(scope="session")
def calibration_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fits") / "calibration.yaml"
    save_calibration(path, calibration())
    return path
