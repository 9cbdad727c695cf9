"""JSON that others wrote, as plain values: only finite numbers, text that is safe to show, and one kind of error."""

import json
from typing import Any, NoReturn

from eee_testbed.lab.plain_text import safe_tree


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return entries


def parse_json(text: str | bytes, *, several_lines: bool = False) -> Any:
    """The value; ValueError says what is wrong: no JSON, not UTF-8, a number that is not finite, a key twice, too deep.

    Text in it is a single line, unless `several_lines`.
    """
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_no_key_twice)
        return safe_tree(value, several_lines=several_lines)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parse_object(text: str | bytes) -> dict[str, Any]:
    """The same for a text that has to hold one object."""
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("it is not an object in braces")  # noqa: TRY004 - all that is wrong with a text is ValueError
    return value
