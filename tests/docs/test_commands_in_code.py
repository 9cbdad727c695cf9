"""Every command that the code prints is one that the command line knows, whole: the parser itself reads it."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts.exceptions import CycloptsError

from eee_testbed.eeectl.application import app
from tests.support import ROOT
from tests.support.packages import PACKAGES

_QUOTED = re.compile(r"`((?:sudo \S+ )?eeectl [^`]+)`")
_TELLS = re.compile(r"(?:^|: |run |see |as in |continue the study with )(eeectl [a-z][^`;,|&]*?)(?:\.$|; |, |: |$)")
_OF_A_VARIABLE = "1"
"""Stands for what a sentence fills in: a name, or a number."""

_OTHERS = {
    "eeectl completion words": "what the shells' own scripts run, with words of the shell",
    "eeectl completion show 1": "the name of a shell is filled in, and only three are taken",
    "eeectl 1": "all words are filled in",
    "eeectl itself": "a heading",
    "eeectl cannot": "a sentence about eeectl",
    "eeectl VERB": "any verb",
    "eeectl COMMAND": "any verb",
    "eeectl --": "an option of eeectl itself",
}
"""Beginnings of what is no whole command, and why."""


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module, whole sentences with what is filled in; without what the module says of itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if ast.get_docstring(tree) is not None:
        tree.body.pop(0)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (str(part.value) if isinstance(part, ast.Constant) else _OF_A_VARIABLE for part in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def _commands(path: Path) -> Iterator[tuple[str, str]]:
    """(PLACE, command) of each command in a module."""
    for line, text in _texts(path):
        for found in (*_QUOTED.findall(text), *_TELLS.findall(text)):
            command = " ".join(found[found.index("eeectl") :].partition(" | ")[0].split())
            if not command.startswith(tuple(_OTHERS)):
                yield f"{path.relative_to(ROOT)}:{line}", command


COMMANDS = sorted({one for name in PACKAGES for path in (ROOT / name).rglob("*.py") for one in _commands(path)})


def _verb(words: list[str]) -> list[str]:
    """The words that name a verb, and its verb below it."""
    node, path = app, []
    for word in words:
        if word.startswith("-") or word not in node:
            break
        node = node[word]
        path.append(word)
    return path


def why_wrong(command: str) -> str:
    """Why the command line refuses a command; "" if it takes it, or if a verb alone is named."""
    words = shlex.split(command)[1:]
    verb = _verb(words)
    if not verb or words == verb or "--help" in words:
        return "" if verb == words else f"{words[0]} is no verb"
    try:
        app.parse_args(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 60


@pytest.mark.parametrize(("place", "command"), COMMANDS, ids=lambda text: text.split()[0][-40:] if text else "")
def test_a_command_in_the_code_is_one(place: str, command: str) -> None:
    assert why_wrong(command) == "", f"{place}: {command}"


@pytest.mark.parametrize(
    "command",
    ["eeectl sweep EXPERIMENT.yaml --lap x", "eeectl measure runs/1", "eeectl compare runs/1", "eeectl apply --hurry"],
)
def test_a_command_that_does_not_exist_is_found(command: str) -> None:
    assert why_wrong(command)
