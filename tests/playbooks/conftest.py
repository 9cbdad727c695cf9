"""A small live lab."""

from two_switches import eeectl, eeectl_environment, running_lab

__all__ = ["eeectl", "eeectl_environment", "running_lab"]
