"""Sentences of a report's first screen, one module for each."""
