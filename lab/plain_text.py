r"""Text that others wrote (devices, nodes, files), made safe to show: the filter at the border where it enters. Pure.

A neighbour's LLDP name may hold terminal escapes, a line break or a character that turns the reading direction. Shown
as it is, it moves the cursor, forges a line of a report or makes an SVG ill-formed. Text passes this filter where it is
read, so that no print has to.

Unsafe are control characters (C0, DEL, C1), format characters (bidirectional overrides, zero-width characters, byte
order marks), separators of lines and paragraphs, lone surrogates, and the code points that XML may not hold. White
space among them becomes a space; each other one becomes U+FFFD, so that a reader sees that something stood there.

A number of more than 4000 digits, which Python refuses to read and no device means, becomes one U+FFFD, too.

Simplification: the joiners of some scripts and of emoji are format characters and are replaced too. In names of
devices, ports and outlets they carry no meaning.
"""

import re
from typing import Any, Final

REPLACEMENT: Final = "\ufffd"
_SPACE: Final = re.compile(r"\r\n|[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]")
_UNSAFE: Final = re.compile(
    "["
    r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # Cc, Zl, Zp
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # Cf
    r"\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # Cf
    r"\U000e0000-\U000e007f"  # Cf: tags
    r"\ud800-\udfff"  # Cs
    r"\ufffe\uffff"  # not in XML
    "]"
)
_MOST_DIGITS: Final = 4000
_LONG_NUMBER: Final = re.compile(rf"\d{{{_MOST_DIGITS},}}")
_NUMBERS: Final = frozenset({int, float, bool, type(None)})
"""Of long lists, as agents write them, whose values have no text."""

_MOST_NESTED: Final = 100
"""Levels of lists and mappings in a file; what the product writes has fewer than ten."""


def is_safe(text: str) -> bool:
    """Whether text has no unsafe character, and so no line break."""
    return _UNSAFE.search(text) is None


def one_line(text: str) -> str:
    """Text as a single safe line; a zero octet with which some agents end their text is dropped."""
    if len(text) > _MOST_DIGITS:
        text = _LONG_NUMBER.sub(REPLACEMENT, text)
    if is_safe(text):
        return text
    return _UNSAFE.sub(REPLACEMENT, _SPACE.sub(" ", text.rstrip("\0")))


def safe_lines(text: str) -> str:
    r"""Text of several lines, each of them safe; lines end with \n alone, and tabs are spaces as on a terminal."""
    return "\n".join(one_line(line.expandtabs()) for line in text.replace("\r\n", "\n").split("\n"))


def decoded(octets: bytes) -> str:
    """Octets of a device as a single safe line; what is not UTF-8 becomes U+FFFD."""
    return one_line(octets.decode("utf-8", "replace"))


def decoded_lines(octets: bytes) -> str:
    """Octets of a device as safe lines."""
    return safe_lines(octets.decode("utf-8", "replace"))


def safe_tree(value: Any, *, several_lines: bool = False, nested: int = 0) -> Any:
    """A value of JSON or YAML with all its text safe, keys included; ValueError if it is nested too deeply.

    With `several_lines` text may have line breaks.
    """
    if nested > _MOST_NESTED:
        raise ValueError(f"it is nested in more than {_MOST_NESTED} levels")
    match value:
        case str():
            return safe_lines(value) if several_lines else one_line(value)
        case dict():
            return {
                one_line(key) if isinstance(key, str) else key: safe_tree(
                    item, several_lines=several_lines, nested=nested + 1
                )
                for key, item in value.items()
            }
        case list():
            return [
                item if type(item) in _NUMBERS else safe_tree(item, several_lines=several_lines, nested=nested + 1)
                for item in value
            ]
        case _:
            return value
