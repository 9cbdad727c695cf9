"""Metered power strips: one file for each maker's families, which say what to ask for and how to read it."""
