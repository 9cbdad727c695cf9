"""A small lab with addresses of its own, so that tests disturb neither a shipped lab nor each other."""

from two_switches import Eeectl, eeectl, eeectl_environment, make_lab, rights, running_lab

__all__ = ["Eeectl", "eeectl", "eeectl_environment", "make_lab", "rights", "running_lab"]
