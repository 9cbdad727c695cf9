"""Which links a network needs: Koibuchi's selection, least power, TCEP's decisions, deadlock. Pure.

It knows networks, traffic and trees, and neither devices nor files, so that the controller, the analysis and the
simulation can ask it alike.
"""

if not __name__.startswith("eee_testbed."):
    raise ImportError(f"{__name__} is a folder of a checkout: import eee_testbed.{__name__}.")
