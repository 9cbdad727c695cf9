"""Counters and watts of a run on one clock, and where they are kept."""
