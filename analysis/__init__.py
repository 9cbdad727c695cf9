"""From what was measured to models with error bars, and from models to predictions. Knows no device."""

if not __name__.startswith("eee_testbed."):
    raise ImportError(f"{__name__} is a folder of a checkout: import eee_testbed.{__name__}.")
