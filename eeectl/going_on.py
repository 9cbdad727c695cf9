"""After Ctrl-C, what is finished is kept, and the same command goes on: said in one sentence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def keeping(count: Callable[[], int], what: str, folder: Path) -> Iterator[None]:
    """Raise a KeyboardInterrupt again with how many things, `what` each, are kept in the folder."""
    try:
        yield
    except KeyboardInterrupt as error:
        kept = count()
        words = f"1 {what} is" if kept == 1 else f"{kept} {what}s are"
        raise KeyboardInterrupt(f"{words} kept in {folder}: run the same command again to continue.") from error
