"""A small live lab, and the toys of this folder."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from two_switches import eeectl, eeectl_environment, running_lab

from controller.collecting.runclock import RunClock
from controller.collecting.store import Run

sys.path.insert(0, str(Path(__file__).parent))
__all__ = ["eeectl", "eeectl_environment", "run", "running_lab"]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = Run.create(tmp_path, "test", {"lab": "toy"}, RunClock())
    yield made
    made.close()
