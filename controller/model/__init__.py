"""Frozen values that describe a lab. No I/O."""
