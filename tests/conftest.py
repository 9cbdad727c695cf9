"""For all tests: a test run that was started in the background interrupts its programs like one at a terminal.

A shell starts background jobs with SIGINT ignored, which every program below inherits; those that a test sends a
Ctrl-C to would not hear it.
"""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
