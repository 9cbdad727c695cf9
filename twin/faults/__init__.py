"""Faults that a person can inject."""
