"""Samples of counters and power on one clock: sources, and the collector that polls them."""
