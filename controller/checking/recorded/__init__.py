"""Readers held against recordings of devices, and what came of each."""
