"""Devices that are sampled, one module for each kind of sample."""
