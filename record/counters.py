"""Differences of counters that only grow: one that went back was reset, or wrapped if it is narrow enough to."""


def went_back(before: float | None, after: float | None) -> bool:
    """Whether a counter is lower than before; False where one of the values is missing."""
    return before is not None and after is not None and after < before


def increase(before: int | None, after: int | None) -> int | None:
    """What was counted in between; None where a value is missing, or the counter went back."""
    return None if before is None or after is None or after < before else after - before
