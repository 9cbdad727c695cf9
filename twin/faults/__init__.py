"""Faults that a user can inject."""
