"""A folder of results that belongs to one description: claimed with the first result, and one command's at a time."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Final, TypeVar

from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError

DESCRIPTION: Final = "description.json"
_LOCK: Final = ".lock"
Found = TypeVar("Found")


def is_simulation(folder: Path) -> bool:
    """Whether a folder is one of `eeectl simulate`."""
    return (folder / DESCRIPTION).is_file()


class WrongFolder(LabError):
    """A folder that cannot take a simulation's results."""


class ResultFolder(ABC):
    """Results of the description whose text is given. A folder without results is nobody's."""

    def __init__(self, folder: Path, text: str) -> None:
        self._folder = folder
        self._text = text
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from error
        self._load()

    @abstractmethod
    def _load(self) -> None:
        """Read what is there; WrongFolder if it is another simulation's."""

    def _own(self, read: Callable[[], list[Found]]) -> list[Found]:
        """Results that are there; WrongFolder if they are another simulation's."""
        written = self._folder / DESCRIPTION
        try:
            content = read()
            if content and written.exists() and written.read_text(encoding="utf-8") != self._text:
                raise WrongFolder(
                    f"{self._folder} holds results of another simulation: name another folder with --output, or remove "
                    "it."
                )
        except OSError as error:
            raise self._unusable(error) from error
        return content

    def _unusable(self, error: OSError) -> WrongFolder:
        return WrongFolder(f"{self._folder}: {error.strerror}; name another folder with --output.")

    def _claim(self) -> None:
        """Write what the results are of."""
        durable.replace(self._folder / DESCRIPTION, self._text)

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Write files; WrongFolder if there is no room for them."""
        try:
            yield
        except OSError as error:
            raise WrongFolder(
                f"{self._folder}: {error.strerror}; make room, and run the same command again."
            ) from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else adds results meanwhile; WrongFolder if somebody does already. It ends with the process, too."""
        try:
            with (self._folder / _LOCK).open("w", encoding="utf-8") as lock:
                flock(lock, LOCK_EX | LOCK_NB)
                self._load()  # somebody may have added some before
                yield
        except BlockingIOError as error:
            raise WrongFolder(
                f"another eeectl simulate adds results to {self._folder}: wait for it, or name another --output."
            ) from error
