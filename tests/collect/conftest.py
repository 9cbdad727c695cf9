"""A small live lab, as for the twin's tests, and the toys of this folder."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
sys.path.insert(0, str(_HERE))

from controller.runclock import RunClock  # noqa: E402
from controller.store import Run  # noqa: E402

_SPEC = importlib.util.spec_from_file_location("small_lab", _HERE.parent / "twin" / "conftest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_SMALL_LAB = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_SMALL_LAB)

eeectl = _SMALL_LAB.eeectl
eeectl_environment = _SMALL_LAB.eeectl_environment
running_lab = _SMALL_LAB.running_lab


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = Run.create(tmp_path, "test", {"lab": "toy"}, RunClock())
    yield made
    made.close()
