"""What a lab should be, what it is, and the safe way between."""

if not __name__.startswith("eee_testbed."):
    raise ImportError(f"{__name__} is a folder of a checkout: import eee_testbed.{__name__}.")
