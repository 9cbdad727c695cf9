"""Programs that experiments run on a lab, and how to judge their output; `on_nodes` holds what travels to the nodes."""

if not __name__.startswith("eee_testbed."):
    raise ImportError(f"{__name__} is a folder of a checkout: import eee_testbed.{__name__}.")
