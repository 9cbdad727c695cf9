"""Programs that run alone on a node: one file each, standard library only, copied there and started over SSH."""

if not __name__.startswith("eee_testbed."):
    raise ImportError(f"{__name__} is a folder of a checkout: import eee_testbed.{__name__}.")
