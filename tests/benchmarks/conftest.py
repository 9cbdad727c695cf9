"""Recorded outputs of real programs."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def recorded() -> Callable[[str], str]:
    """What a real program printed: `outputs/README` says which, and how it was run."""
    return lambda name: (Path(__file__).parent / "outputs" / f"{name}.txt").read_text(encoding="utf-8")
