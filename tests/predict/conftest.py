"""Makes modules of this folder and `synthetic_run` of the reports' tests importable by their names."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "report")]

from synthetic_run import write_alltoall, write_run  # noqa: E402


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs"), write_alltoall)
