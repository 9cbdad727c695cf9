"""One synthetic sweep for all tests that only read it."""

from pathlib import Path

import pytest

from tests.support.measured.synthetic_run import write_alltoall, write_run


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs"), write_alltoall)
