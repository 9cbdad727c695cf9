"""Values in a command line: numbers, lists, text, MAC addresses. Families add their port names.

A token parses a value from words and describes it for `?`; `twin.cli.grammar` refers to it by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class BadToken(ValueError):
    """Raised by `Token.parse`: the text is not such a value. The sentence says why, for families that print it."""


class Token(Protocol):
    """A kind of value. `placeholder` is what `?` prints for it, `help` the line beside it."""

    @property
    def placeholder(self) -> str:
        """What `?` prints for the value."""

    @property
    def help(self) -> str:
        """The line beside it."""

    def parse(self, words: Sequence[str]) -> tuple[Any, int]:
        """Parse a value from the first of `words` (never empty); return it and the number of words it took."""


@dataclass(frozen=True, slots=True)
class Number:
    """A decimal integer within bounds."""

    low: int
    high: int
    help: str = "Specify a number"

    @property
    def placeholder(self) -> str:
        """What `?` prints for the value."""
        return f"<{self.low}-{self.high}>"

    def parse(self, words: Sequence[str]) -> tuple[int, int]:
        """Value: int."""
        if not words[0].isascii() or not words[0].isdigit() or not self.low <= int(words[0]) <= self.high:
            raise BadToken(f"{words[0]!r} is not a number from {self.low} to {self.high}")
        return int(words[0]), 1


@dataclass(frozen=True, slots=True)
class Text:
    """One word (quotes hold blanks together) of at most `longest` characters."""

    longest: int = 255
    placeholder: str = "WORD"
    help: str = "Specify text"

    def parse(self, words: Sequence[str]) -> tuple[str, int]:
        """Value: str."""
        if len(words[0]) > self.longest:
            raise BadToken(f"text of {len(words[0])} characters: at most {self.longest}")
        return words[0], 1


@dataclass(frozen=True, slots=True)
class Rest:
    """Everything to the end of the line, with single blanks between words."""

    longest: int = 255
    placeholder: str = "LINE"
    help: str = "Specify text"

    def parse(self, words: Sequence[str]) -> tuple[str, int]:
        """Value: str."""
        text = " ".join(words)
        if len(text) > self.longest:
            raise BadToken(f"text of {len(text)} characters: at most {self.longest}")
        return text, len(words)


@dataclass(frozen=True, slots=True)
class NumberList:
    """A list of numbers and ranges without blanks: `11-16,20`. Value: sorted tuple without duplicates."""

    low: int
    high: int
    placeholder: str = "LIST"
    help: str = "Specify a list, for example 1,3-5"

    def parse(self, words: Sequence[str]) -> tuple[tuple[int, ...], int]:
        """Value: tuple of int."""
        return tuple(sorted(set(parse_list(words[0], self.low, self.high)))), 1


@dataclass(frozen=True, slots=True)
class Mac:
    """A MAC address: `00:11:22:33:44:55`, `00-11-…`, `0011.2233.4455` or `001122334455`. Value: bytes."""

    placeholder: str = "MAC"
    help: str = "Specify a MAC address"

    def parse(self, words: Sequence[str]) -> tuple[bytes, int]:
        """Value: 6 bytes."""
        if not re.fullmatch(
            r"([0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(\2[0-9a-fA-F]{2}){4})|([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}"
            r"|[0-9a-fA-F]{12}",
            words[0],
        ):
            raise BadToken(f"{words[0]!r} is not a MAC address")
        return bytes.fromhex(re.sub(r"[:.\-]", "", words[0])), 1


def parse_list(text: str, low: int, high: int) -> list[int]:
    """Parse `11-16,20` into numbers in the order written; raises `BadToken`."""
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part, re.ASCII)
        if not match:
            raise BadToken(f"{text!r} is not a list of numbers such as 1,3-5")
        first, last = int(match[1]), int(match[2] or match[1])
        if not low <= first <= last <= high:
            raise BadToken(f"{part!r} is not a range within {low} to {high}")
        numbers.extend(range(first, last + 1))
    return numbers


def format_list(numbers: Iterable[int]) -> str:
    """Return the shortest spelling of a set of numbers: `11-16,20`; empty text for the empty set."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
