"""Measures on a lab: samples, experiments, live views, regulation and studies."""

if not __name__.startswith("eee_testbed."):
    raise ImportError(f"{__name__} is a folder of a checkout: import eee_testbed.{__name__}.")
