"""Test benches for parts of the twin."""
