"""What readers of traces share: options, lines of text, numbers in bounds, and refusals that name file and line."""

import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NoReturn

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.replay.checks import MOST_BYTES, MOST_NS, MOST_RANKS

REMEDY: Final = "record the trace again, or take the part out that cannot be replayed"
_HEAD: Final = 4096
_BYTE_ORDER: Final = b"\xef\xbb\xbf"
"""Some editors put it before a text."""

_MOST_LINE: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """What a trace itself does not say.

    `flops_per_s` is the speed of a processor, for traces that count operations. `codes` is the file with the numbers of
    a VEF trace.
    """

    name: str = ""
    flops_per_s: float | None = None
    codes: Path | None = None


class BadLine(ValueError):
    """A line that cannot be used; the text goes on after file and line."""


class Place:
    """The line that is being read, for refusals."""

    def __init__(self, path: Path, line: int = 0) -> None:
        self.path, self.line = path, line

    def refuse(self, sentence: str, remedy: str = REMEDY) -> NoReturn:
        """UnreadableFile at this place."""
        raise UnreadableFile(str(self.path), self.line, sentence, remedy)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file to read; UnreadableFile if it cannot be, also in between, or if it can be read only once."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise UnreadableFile(str(path), 0, "is a pipe or a device", "save what it gives as a file, and name that")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UnreadableFile(str(path), 0, f"cannot be read ({error.strerror})", "name the trace's files") from error


def head_of(path: Path) -> bytes:
    """The first bytes; UnreadableFile if there are none to read."""
    with _opened(path) as file:
        return file.read(_HEAD).removeprefix(_BYTE_ORDER)


def bytes_of(path: Path) -> bytes:
    """All of a file; UnreadableFile if it cannot be read."""
    with _opened(path) as file:
        return file.read().removeprefix(_BYTE_ORDER)


def lines_of(path: Path) -> Iterator[tuple[Place, str]]:
    """The lines of a text, without their ends, each with its place; the same place is moved on."""
    place = Place(path)
    try:
        with _opened(path) as file:
            while line := file.readline(_MOST_LINE + 1):
                place.line += 1
                if len(line) > _MOST_LINE:
                    place.refuse(f"has more than {_MOST_LINE >> 20} MiB")
                text = line.removeprefix(_BYTE_ORDER) if place.line == 1 else line
                yield place, text.decode("ascii").strip()
    except UnicodeDecodeError:
        place.refuse("is not plain text")


def whole_number(text: str, least: int, most: int, what: str) -> int:
    """A number of a text, also one like 1e6; BadLine if it is none or out of bounds."""
    try:
        number = int(text) if text.lstrip("-").isdecimal() and len(text) <= 20 else int(float(text))
    except (ValueError, OverflowError):
        raise BadLine(f"has {_shown(text)} for {what}, which is no number") from None
    if not least <= number <= most:
        raise BadLine(f"has {_shown(text)} for {what}, which is not from {least} to {most}")
    return number


def size_of(text: str, of_element: int = 1) -> int:
    """Bytes: a number of elements, and the bytes of each."""
    return whole_number(text, 0, MOST_BYTES // max(of_element, 1), "a size") * of_element


def rank_of(text: str, ranks: int = MOST_RANKS) -> int:
    """A rank below a number of ranks."""
    return whole_number(text, 0, ranks - 1, "a rank")


def duration_ns(text: str) -> float:
    """A time in nanoseconds."""
    try:
        duration = float(text)
    except ValueError:
        raise BadLine(f"has {_shown(text)} for a time, which is no number") from None
    if not 0 <= duration <= MOST_NS:
        raise BadLine(f"has {_shown(text)} for a time, which is not from 0 to 104 days")
    return duration


def words_of(words: Sequence[str], least: int, most: int | None = None) -> Sequence[str]:
    """The words behind a verb, if they are as many as it needs."""
    if not least <= len(words) <= (most if most is not None else len(words)):
        wanted = f"{least}" if most == least else f"at least {least}" if most is None else f"{least} to {most}"
        raise BadLine(f"has {len(words)} words after its verb, not {wanted}")
    return words


def _shown(text: str) -> str:
    return f"{text[:40]!r}"
