"""Experiments: what runs on a lab, in which order, how each trial is validated, and what is recorded."""
