"""For all tests: the small live lab, and Ctrl-C for programs of a test run that was started in the background.

A shell starts background jobs with SIGINT ignored, which every program below inherits; those that a test sends a
Ctrl-C to would not hear it.
"""

import signal

from tests.support.labs.two_switches import eeectl, eeectl_environment, make_lab, rights, running_lab

__all__ = ["eeectl", "eeectl_environment", "make_lab", "rights", "running_lab"]

signal.signal(signal.SIGINT, signal.default_int_handler)
