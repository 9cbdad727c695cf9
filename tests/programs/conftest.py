"""A small live lab, as for the twin's tests, and recorded outputs of real programs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from two_switches import eeectl, eeectl_environment, running_lab

__all__ = ["eeectl", "eeectl_environment", "recorded", "running_lab"]


@pytest.fixture
def recorded() -> Callable[[str], str]:
    """What a real program printed: `outputs/README` says which, and how it was run."""
    return lambda name: (Path(__file__).parent / "outputs" / f"{name}.txt").read_text(encoding="utf-8")
