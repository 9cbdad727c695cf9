"""Measures on a lab: samples, experiments, live views, regulation and studies."""
