"""Events: every kind is written and described, and no code writes or reads a kind outside the enum."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import sentence_of
from tests.support import ROOT

_PACKAGES = ("record", "analysis", "controller", "measuring", "eeectl")
_VALUES = {kind.value for kind in EventKind}
_FACTS = {
    "source": "sw1",
    "why": "does not answer",
    "columns": "in_byte",
    "jump_ns": 5_000_000,
    "trial": 1,
    "state": "failed",
    "note": "the uplink was slow",
    "what": "eee",
    "link": "sw1:1 - sw2:1",
    "after": "off",
    "ports": {"sw1": {}},
    "number": 1,
    "sentence": "these meters can see the effect",
    "epoch": 7,
    "active": 12,
}


def _trees() -> Iterator[tuple[Path, ast.Module]]:
    for package in _PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _writes(node: ast.AST) -> ast.expr | None:
    """The kind that a call writes: the first argument of `run.event(...)` and `SourceEvent(...)`."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return node.args[0] if name in {"event", "SourceEvent", "_event_line"} else None


def _is_kind(node: ast.AST) -> bool:
    """Whether an expression is the kind of an event: `event["kind"]`, or `str(...)` of it."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "str" and node.args:
        node = node.args[0]
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == "kind"
        and getattr(node.value, "id", "") in {"event", "one", "begun", "ended"}
    )


def _texts(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _bare_kinds(tree: ast.Module) -> Iterator[str]:
    """Texts that are written as a kind, or that a kind is compared with or matched against."""
    for node in ast.walk(tree):
        written = _writes(node)
        if written is not None:
            yield from _texts(written)
        elif isinstance(node, ast.Compare) and any(map(_is_kind, (node.left, *node.comparators))):
            for side in (node.left, *node.comparators):
                if not _is_kind(side):
                    yield from _texts(side)
        elif isinstance(node, ast.Match) and _is_kind(node.subject):
            for case in node.cases:
                yield from _texts(case.pattern)


@pytest.mark.slow
def test_no_code_writes_or_reads_a_kind_outside_the_enum() -> None:
    bare = [f"{path}: {text!r}" for path, tree in _trees() for text in _bare_kinds(tree)]
    assert bare == []


@pytest.mark.slow
def test_sets_and_tables_of_kinds_are_made_of_the_enum() -> None:
    """A text that only an event's kind has (two words and more) stands nowhere but in the enum."""
    telling = {value for value in _VALUES if "_" in value}
    found = [
        f"{path}:{node.lineno}: {node.value!r}"
        for path, tree in _trees()
        if path != Path("record/event_kinds.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in telling
    ]
    assert found == []


@pytest.mark.slow
def test_every_kind_is_written() -> None:
    names = {
        node.attr
        for path, tree in _trees()
        if not path.is_relative_to("analysis") and not path.is_relative_to("measuring/live")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "EventKind"
        if path.name != "event_text.py"
    }
    assert names == set(EventKind.__members__)


@pytest.mark.parametrize("kind", EventKind)
def test_every_kind_has_a_sentence(kind: EventKind) -> None:
    event = {"kind": kind.value, "time_ns": 1, **_FACTS}
    text = sentence_of(event)
    assert text != sentence_of({**event, "kind": "unknown"})
    assert "time_ns" not in text


def test_an_unknown_event_is_shown_with_its_facts() -> None:
    assert sentence_of({"kind": "moon_rose", "time_ns": 1, "phase": "full"}) == "moon rose: phase full"
    assert sentence_of({"kind": "failed", "time_ns": 1, "source": "sw1"}) == "failed: source sw1"
