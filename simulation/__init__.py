"""Simulation of lossless interconnects: descriptions, points with confidence intervals, curves, energy.

The engine is `interconnect` in Rust, behind `eee_engine.NetworkSimulation`. This package decides what to simulate and
for how long, and keeps the results.
"""

if not __name__.startswith("eee_testbed."):
    raise ImportError(f"{__name__} is a folder of a checkout: import eee_testbed.{__name__}.")
