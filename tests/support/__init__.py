"""Helpers for several tests: toy devices, small labs, synthetic measurements."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""The checkout."""
