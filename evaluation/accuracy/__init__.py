"""Accuracy of the tool's models on labs whose truth is known; `python -m evaluation.accuracy.NAME` runs one."""
