"""How many of something, in words. Pure."""


def counted(count: int, noun: str) -> str:
    """A number of things whose plural ends with s.

    >>> counted(1, "step"), counted(2, "step")
    ('1 step', '2 steps')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"
