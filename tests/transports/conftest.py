"""A small live lab, and the toys of this folder."""

import sys
from pathlib import Path

from two_switches import eeectl, eeectl_environment, running_lab

sys.path.insert(0, str(Path(__file__).parent))
__all__ = ["eeectl", "eeectl_environment", "running_lab"]
