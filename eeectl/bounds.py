"""Bounds that people type."""

from eee_testbed.lab.errors import LabError


def slowdown_percent(text: str) -> float:
    """A slowdown in percent, with or without the sign.

    >>> slowdown_percent("1%"), slowdown_percent("0.5")
    (1.0, 0.5)
    """
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1_000:
        raise LabError(f"'{text}' is not a slowdown: give percent, as in 1%.")
    return value
