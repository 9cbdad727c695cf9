"""Synthetic measurements: runs, echoes, watts, clocks."""
