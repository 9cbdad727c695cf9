"""Benchmarks: `speed` measures the tool itself beside what a user would pick instead."""
