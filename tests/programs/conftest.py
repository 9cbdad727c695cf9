"""A small live lab, as for the twin's tests, and recorded outputs of real programs."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_SPEC = importlib.util.spec_from_file_location("small_lab", _HERE.parent / "twin" / "conftest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_SMALL_LAB = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_SMALL_LAB)

eeectl = _SMALL_LAB.eeectl
eeectl_environment = _SMALL_LAB.eeectl_environment
running_lab = _SMALL_LAB.running_lab


@pytest.fixture
def recorded() -> Callable[[str], str]:
    """What a real program printed: `outputs/README` says which, and how it was run."""
    return lambda name: (_HERE / "outputs" / f"{name}.txt").read_text(encoding="utf-8")
