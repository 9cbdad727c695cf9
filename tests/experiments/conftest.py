"""The small lab of `tests/live`."""

from two_switches import eeectl, eeectl_environment, running_lab

__all__ = ["eeectl", "eeectl_environment", "running_lab"]
