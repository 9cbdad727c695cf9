"""Benchmarks: `programs` are what is run on a lab; `speed` measures the tool itself beside what a user would pick."""
