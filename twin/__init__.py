"""The virtual lab: real frames, real SSH, real SNMP, watts that follow from the ports."""

if not __name__.startswith("eee_testbed."):
    raise ImportError(f"{__name__} is a folder of a checkout: import eee_testbed.{__name__}.")
