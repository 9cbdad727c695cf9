"""The filter for text of others: whatever enters, nothing that moves a cursor, breaks a line or an XML file leaves."""

import json
import sys
import unicodedata
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eee_testbed.lab.plain_text import REPLACEMENT, decoded, decoded_lines, is_safe, one_line, safe_lines, safe_tree

_ANY = st.text(st.characters(exclude_categories=()), max_size=60)
_HOSTILE = st.lists(
    st.sampled_from(
        ["\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\u202e", "\u2066", "\ud800", "\r\n", "\n", "\x7f", "\0", "a"]
    )
).map("".join)
_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | _ANY | _HOSTILE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_ANY | _HOSTILE, inner, max_size=3),
    max_leaves=8,
)


def _texts(tree: object) -> list[str]:
    match tree:
        case str():
            return [tree]
        case dict():
            return [text for key, item in tree.items() for text in (*_texts(key), *_texts(item))]
        case list():
            return [text for item in tree for text in _texts(item)]
        case _:
            return []


def test_unsafe_is_what_unicode_calls_control_format_surrogate_or_separator() -> None:
    """Every code point of this Python's Unicode is compared; a newer Unicode may know fewer as unassigned."""
    unsafe = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    kinds = [(character, unicodedata.category(character)) for character in map(chr, range(sys.maxunicode + 1))]
    assert [character for character, kind in kinds if kind in unsafe and is_safe(character)] == []
    assert is_safe("".join(character for character, kind in kinds if kind not in {*unsafe, "Cn"}))


@settings(deadline=None)
@given(_ANY | _HOSTILE)
def test_one_line_is_safe_one_line_and_fits_xml_and_utf_8(text: str) -> None:
    line = one_line(text)
    assert is_safe(line)
    assert len(line.splitlines()) <= 1
    element = ET.Element("text", name=line)
    element.text = line
    assert ET.fromstring(ET.tostring(element)).text == (line or None)  # noqa: S314 - made in the line before
    assert json.loads(json.dumps(line)) == line
    assert line.encode().decode() == line
    assert one_line(line) == line


@settings(deadline=None)
@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=30))
def test_ordinary_text_is_as_it_was(text: str) -> None:
    assert one_line(text) == safe_lines(text) == text


@settings(deadline=None)
@given(st.lists(_ANY | _HOSTILE, max_size=4))
def test_lines_are_safe_each(lines: list[str]) -> None:
    assert all(is_safe(line) for line in safe_lines("\n".join(lines)).split("\n"))


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_octets_become_safe_text(octets: bytes) -> None:
    assert is_safe(decoded(octets))
    assert all(is_safe(line) for line in decoded_lines(octets).split("\n"))


@settings(deadline=None)
@given(_TREES)
def test_all_text_of_a_tree_is_safe(tree: object) -> None:
    assert all(is_safe(text) for text in _texts(safe_tree(tree)))
    assert all(is_safe(line) for text in _texts(safe_tree(tree, several_lines=True)) for line in text.split("\n"))


def test_a_reader_sees_that_something_stood_there() -> None:
    assert one_line("core\x1b[2Jsw\nroot@host#") == f"core{REPLACEMENT}[2Jsw root@host#"
    assert one_line("sw1\0") == "sw1"
    assert one_line(f"sw{'9' * 5_000}x") == f"sw{REPLACEMENT}x"
    assert safe_lines("a\tb\r\nc") == "a       b\nc"


def test_a_tree_without_an_end_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested"):
        safe_tree(endless)
