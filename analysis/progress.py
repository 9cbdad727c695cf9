"""Who is told how far a fit or a report is: a bar of the command line, or nobody."""

from typing import Final, Protocol


class Progress(Protocol):
    """Hears of a piece of work: how many steps it has, and what is done in each."""

    def begin(self, doing: str, rounds: int) -> None:
        """A piece of work of so many steps begins with `doing`."""

    def step(self, doing: str) -> None:
        """A step is done, and `doing` is next; an empty text after the last one."""


class Nobody:
    """Nobody is told."""

    def begin(self, doing: str, rounds: int) -> None:
        """Nothing is shown."""

    def step(self, doing: str) -> None:
        """Nothing is shown."""


NOBODY: Final[Progress] = Nobody()
