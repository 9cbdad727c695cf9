"""Damage to files, drawn from a generator: bytes as a disk or a careless copy breaks them, and values as a stranger
writes them."""

import json
import random
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

Tree = dict[str, bytes]
"""Files of a folder by their path in it."""

TOKENS: Final = (
    *("NaN", "Infinity", "-Infinity", ".nan", ".inf", "-.inf", "1e999", "-1e308", "1e308", "0", "-1", "0.0", "-0.0"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "9" * 5000),
    *("null", "true", "~", "[]", "{}", '""', "''", "*a", "&a", "<<: *a", "!!binary x", "!!timestamp 2001-99-99"),
    *("\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\u202e", "\u2066", "\u2028", "\x85", "\ufeff", "\x00", "\x7f"),
    *("\\ud800", "\\u0000", "$x$", "$\\frac{a}{b}$", "$_{", "<script>", "&amp;", "]]>", "%s", "{0}", "../../etc"),
    *("a" * 300, "\n", "\r", "\t", "\r\n", "---\n", "...\n", "# ", ": ", "- ", ",", "|", "2001-02-30", "0x1g", "١٢"),
)
BOMB: Final = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + step)}: &{chr(98 + step)} [{','.join(['*' + chr(97 + step)] * 10)}]\n" for step in range(9)
)
_HOSTILE: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 2**70, 10**400, 0.0, -0.0, 1e308, -1e308),
    *(5e-324, 0.1, float("nan"), float("inf"), float("-inf"), "", "x", "\x1b[2J", "a\nb", "\u202e", "$x$", "\ud800"),
    *(
        "on",
        "off",
        "../../x",
        "/dev/null",
        "x" * 500,
        "\x00",
        [],
        {},
        [[]],
        [None],
        [1, 2],
        ["a", 1],
        {"a": 1},
        {"": None},
    ),
)
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?")
_WORD: Final = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")


def damaged(tree: Tree, rng: random.Random, targets: tuple[str, ...]) -> Tree:
    """The files with some of them (of `targets`) damaged."""
    found = dict(tree)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        name = rng.choice(targets)
        if name not in found:
            continue
        if rng.random() < 0.03:
            del found[name]
            continue
        found[name] = _damage(found[name], rng)
    return found


def _damage(data: bytes, rng: random.Random) -> bytes:
    chosen: list[Callable[[bytes, random.Random], bytes]] = [
        *(_flip, _cut, _insert, _double, _swap, _whole),
        *([_number, _number, _word] if _NUMBER.search(data[:4096]) else []),
        *([_value] * 6 if data[:1] in b"{[" else []),
    ]
    return rng.choice(chosen)(data, rng)


def _flip(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        if found:
            found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def _cut(data: bytes, rng: random.Random) -> bytes:
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice((data[:start], data[end:], data[:start] + data[end:]))


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    token = rng.choice(TOKENS).encode("utf-8", "surrogatepass")
    return data[:at] + token * rng.choice((1, 1, 1, 3)) + data[at:]


def _double(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    start = rng.randrange(len(lines))
    part = lines[start : start + rng.choice((1, 1, 2, 5))]
    at = rng.randrange(len(lines) + 1)
    return b"\n".join(lines[:at] + part + lines[at:])


def _swap(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def _whole(data: bytes, rng: random.Random) -> bytes:
    return rng.choice(
        (
            b"",
            b"\n",
            b"\x00" * 100,
            b"[" * 3_000,
            b"- " * 300,
            BOMB.encode(),
            data + BOMB.encode(),
            data * 2,
            data[::-1],
        )
    )


def _number(data: bytes, rng: random.Random) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(TOKENS[:18]).encode() + data[one.end() :]


def _word(data: bytes, rng: random.Random) -> bytes:
    found = list(_WORD.finditer(data))
    if not found:
        return data
    one, other = rng.choice(found), rng.choice(found)
    text = rng.choice((other[0], rng.choice(TOKENS).encode("utf-8", "surrogatepass")))
    return data[: one.start()] + text + data[one.end() :]


def _value(data: bytes, rng: random.Random) -> bytes:
    """A value somewhere inside JSON (a whole file, or one of its lines), replaced by a hostile one."""
    lines = data.split(b"\n") if data.count(b"\n") > 1 and data[:1] == b"{" and data[1:2] != b"\n" else [data]
    at = rng.randrange(len(lines))
    try:
        content = json.loads(lines[at])
    except (ValueError, RecursionError):  # it was damaged already
        return _flip(data, rng)
    lines[at] = json.dumps(_replaced(content, rng)).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _replaced(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {name: item for name, item in value.items() if name != key}
        return value | {key: _replaced(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], _replaced(value[at], rng), *value[at + 1 :]]
    return rng.choice(_HOSTILE)
