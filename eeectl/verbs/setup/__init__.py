"""Verbs that help to set `eeectl` up."""
