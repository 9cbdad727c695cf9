"""JSON of others: a value of finite numbers and safe text, or a ValueError that says what is wrong."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eee_testbed.lab.json_text import parse_json, parse_object
from eee_testbed.lab.plain_text import is_safe


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: json.dumps({"name": text}).encode()))
def test_no_other_error_than_valueerror_and_no_unsafe_text(data: bytes) -> None:
    try:
        value = parse_json(data)
    except ValueError:
        return
    assert is_safe(json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"watt": NaN}', "NaN"),
        ('{"watt": -Infinity}', "-Infinity"),
        ('{"watt": 1e999}', "too large"),
        ('{"watt": 1, "watt": 2}', "twice"),
        ("[" * 100_000, "nested"),
        ('{"a": ' * 200 + "1" + "}" * 200, "nested"),
        ('{"n": ' + "9" * 5_000 + "}", "limit"),
        ("[1]", "object"),
        ("", "Expecting value"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_object(text)


def test_a_lone_surrogate_and_an_escape_are_shown_as_replaced() -> None:
    assert parse_json(b'{"a\\u001b[2J": "\\ud800"}') == {"a\ufffd[2J": "\ufffd"}
