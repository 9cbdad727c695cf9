"""Accuracy of the tool's models on labs whose truth is known; `python -m tests.accuracy.NAME` runs one."""
