"""Rules of all tests and of `evaluation`: plug in at seams, wait for what happens, skip nothing silently.

What may break a rule is listed here, with its reason.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support import ROOT
from tests.support.packages import PACKAGES

PATCHES: Final = {
    "controller/checking/test_first_contact.py::test_a_switch_that_ends_the_session_while_it_is_closed_is_met_anew": (
        "paramiko raises there only if the connection is lost between two of its lines, which no server can time"
    ),
    "support/labs/toy_guardian.py": "its own standard output, which closes as that of a guardian does",
}
"""Replace a name of a module or a class, or an entry of a dict."""

SLEEPS: Final = {
    "support/waiting.py::eventually": "the one place that waits for what nothing reports",
    "support/waiting.py::eventually_in_loop": "the same in an event loop",
    "agents/test_job_keeper.py::test_silence_ends_it_and_heartbeats_do_not": "the pause between heartbeats is tested",
    "agents/test_node_sampler.py::test_missed_samples_are_told_and_not_invented": "time passes that nobody samples",
    "measuring/collecting/test_collect.py::test_ticks_keep_their_times_however_long_a_reading_takes": (
        "how long a reading takes is tested"
    ),
    "support/labs/described_toy.py::DescribedToy": "a toy switch takes as long for an order as its test says",
    "evaluation/speed/idle_lab.py::watch": "the window is what is measured",
    "evaluation/speed/idle_lab.py::main": "the time to settle is an option of the benchmark",
    "evaluation/quiet.py::look": "the window is what is measured",
}
"""Let a time pass that the test chose."""

SKIPS: Final = {"support/needs.py::lacking": "the one place where a test is skipped"}
"""Skip tests, or expect them to fail."""

_TESTS: Final = ROOT / "tests"
_PATCHING: Final = frozenset({"setattr", "setitem", "delattr", "delitem"})
_SKIPPING: Final = frozenset({"skip", "skipif", "importorskip", "xfail"})


_WORDS: Final = {
    "patch": re.compile(r"patch|mock|^ *[a-z_]+\.\w+(: .+)? [-+*/|&]?= ", re.MULTILINE),
    "sleep": re.compile(r"sleep\(|Event\(\)\.wait|pilot\.pause"),
    "skip": re.compile(r"skip|xfail"),
}
"""What a file has in its text if it breaks a rule: only such files are looked at closely."""


def _suspects(rule: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted([*_TESTS.rglob("*.py"), *(ROOT / "evaluation").rglob("*.py")]):
        text = path.read_text(encoding="utf-8")
        if _WORDS[rule].search(text):
            yield str(path.relative_to(_TESTS if path.is_relative_to(_TESTS) else ROOT)), ast.parse(text)


def _walk(node: ast.AST, place: str) -> Iterator[tuple[str, ast.AST]]:
    """Every node, with the file and the outermost function or class that it is in."""
    for child in ast.iter_child_nodes(node):
        inside = place
        if "::" not in place and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = f"{place}::{child.name}"
        yield inside, child
        yield from _walk(child, inside)


def _modules(tree: ast.Module) -> set[str]:
    """Names that stand for modules in a file."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.asname or one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            place = ROOT / node.module.replace(".", "/")
            found |= {one.asname or one.name for one in node.names if _is_module(place / one.name)}
    return found


def _is_module(place: Path) -> bool:
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def _patches(node: ast.AST, modules: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)):
            return attr in _PATCHING and "patch" in name
        case ast.Import() | ast.ImportFrom():
            return "mock" in ast.unparse(node)
        case ast.Assign(targets=targets):
            return any(_of_module(one, modules) for one in targets)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return _of_module(target, modules)
    return False


def _of_module(target: ast.expr, modules: set[str]) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in modules


def _sleeps(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="sleep") | ast.Name(id="sleep"), args=[ast.Constant(value=0)]):
            return False  # lets others go on
        case ast.Call(func=ast.Attribute(attr="sleep") | ast.Name(id="sleep")):
            return True
        case ast.Call(func=ast.Attribute(attr="wait", value=ast.Call(func=ast.Attribute(attr="Event")))):
            return True  # an event that nobody else knows never comes
        case ast.Call(func=ast.Attribute(value=ast.Name(id="pilot"), attr="pause"), args=[_, *_]):
            return True
    return False


def _skips(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _SKIPPING and ast.unparse(node).startswith("pytest.")


def _places(rule: str) -> set[str]:
    found = set()
    for file, tree in _suspects(rule):
        modules = _modules(tree)
        for place, node in _walk(tree, file):
            broken = {"patch": _patches(node, modules), "sleep": _sleeps(node), "skip": _skips(node)}[rule]
            if broken:
                found.add(place)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "allowed"), [("patch", PATCHES), ("sleep", SLEEPS), ("skip", SKIPS)])
def test_a_rule_is_kept_but_for_what_is_listed(rule: str, allowed: dict[str, str]) -> None:
    assert _places(rule) == set(allowed)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("patch", "def test(monkeypatch): monkeypatch.setattr(a, 'b', 1)"),
        ("patch", "import os\ndef test(): os.environ = {}"),
        ("patch", "from eee_testbed.lab import folder\nfolder.find_lab = None"),
        ("patch", "from unittest import mock"),
        ("sleep", "import time\ndef test(): time.sleep(0.1)"),
        ("sleep", "async def test(pilot): await pilot.pause(1)"),
        ("sleep", "def test(): threading.Event().wait(1)"),
        ("skip", "@pytest.mark.skipif(True, reason='')\ndef test(): ..."),
    ],
)
def test_what_breaks_a_rule_is_seen(rule: str, text: str) -> None:
    tree = ast.parse(text)
    modules = _modules(tree)
    judge = {"patch": lambda node: _patches(node, modules), "sleep": _sleeps, "skip": _skips}[rule]
    assert any(judge(node) for _, node in _walk(tree, "file"))


_MOST_LINES: Final = 60
_MOST_PARAMETERS: Final = 8
_MOST_FILE_LINES: Final = 500
"""Verbs are apart: their parameters are options, with a line of help each."""

_RUST_FUNCTION: Final = re.compile(
    r'^( *)(?:[\w():"]+ )*fn (\w+).*[^;}\n]\n(?:\1 .*\n|\1\)(?:.*[^;\n])?\n|\1where\n|\1\{\n|\n)*\1\}$', re.MULTILINE
)
"""As rustfmt writes it: the closing brace stands below the first letter."""


def _large_python(name: str, text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            count = len([one for one in given if one.arg not in ("self", "cls")])
            if count > _MOST_PARAMETERS or (node.end_lineno or 0) - node.lineno >= _MOST_LINES:
                yield f"{name}::{node.name}"


def _large_rust(name: str, text: str) -> Iterator[str]:
    for function in _RUST_FUNCTION.finditer(text):
        if function[0].count("\n") >= _MOST_LINES:
            yield f"{name}::{function[2]}"


def _large(files: list[Path]) -> set[str]:
    found = set()
    for path in files:
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        if text.count("\n") > _MOST_FILE_LINES:
            found.add(name)
        found |= set((_large_rust if path.suffix == ".rs" else _large_python)(name, text))
    return found


@pytest.mark.slow
def test_functions_and_files_stay_small() -> None:
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if "verbs" not in path.parts]
    assert len(files) > 400
    assert _large(files) == set()


@pytest.mark.slow
def test_functions_and_files_of_the_engine_stay_small() -> None:
    files = [*(ROOT / "engine/src").rglob("*.rs"), *(ROOT / "engine").glob("*/src/**/*.rs")]
    assert len(files) > 150
    assert _large(files) == set()


@pytest.mark.parametrize(
    "head", ["fn long() {", "pub(crate) unsafe fn long(", "    pub fn long<T>(", "    fn long() -> u8"]
)
def test_a_long_rust_function_is_seen(head: str) -> None:
    indent = head[: len(head) - len(head.lstrip())]
    begin = (
        [head]
        if head.endswith("{")
        else [head, f"{indent}    one: u8,", f"{indent}) -> u8", f"{indent}where", f"{indent}{{"]
    )
    for rest, found in ((_MOST_LINES - len(begin) - 1, []), (_MOST_LINES - len(begin), ["file::long"])):
        lines = [*begin, *[f"{indent}    step();"] * rest, indent + "}", "", "fn short() {}", "fn other() {", "}", ""]
        assert list(_large_rust("file", "\n".join(lines))) == found
