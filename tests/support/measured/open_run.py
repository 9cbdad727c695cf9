"""A run's folder that is being written, as a fixture."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.store import Run


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = Run.create(tmp_path, "test", {"lab": "toy"}, RunClock())
    yield made
    made.close()
