"""Profiles of programs, and models of their run time over links that sleep."""
