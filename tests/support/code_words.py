"""Prose in the code: texts of errors that are raised, and docstrings of public names.

``python -m tests.support.code_words`` prints each package with the mean and the longest sentence of both.
"""

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Final

from tests.support import ROOT
from tests.support.covers import PACKAGES
from tests.support.words import lengths

ERROR_MEAN: Final = 18.0
ERROR_LONGEST: Final = 31
DOCSTRING_MEAN: Final = 16.0
DOCSTRING_LONGEST: Final = 50
"""Words a sentence: on average over a top package, and at most. To be lowered, never raised."""

_NAMED: Final = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_SECTION: Final = re.compile(r"^(Parameters|Attributes|Returns|Raises|Yields|Notes|Examples)\n-{3,}$", re.MULTILINE)
_EXAMPLE: Final = re.compile(r"^ *>>>.*(\n(?!\n).*)*", re.MULTILINE)
_PLACE: Final = "x"
"""What a message shows for a value: one word."""


def packages() -> list[str]:
    """Top packages of the product."""
    return sorted(PACKAGES)


def errors_in(package: str) -> Iterator[tuple[str, str]]:
    """Where and what: each literal text of more than one word in a `raise`."""
    for place, tree in _trees(package):
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                arguments = (*node.exc.args, *(keyword.value for keyword in node.exc.keywords))
                texts = [text for argument in arguments if " " in (text := _literal(argument)).strip()]
                yield from ((f"{place}:{node.lineno}", text) for text in texts)


def docstrings_in(package: str) -> Iterator[tuple[str, str]]:
    """Where and what: docstrings of modules and public names, without sections of parameters and examples."""
    for place, tree in _trees(package):
        for node in ast.walk(tree):
            if isinstance(node, ast.Module) or (isinstance(node, _NAMED) and not node.name.startswith("_")):
                text = inspect.cleandoc(ast.get_docstring(node) or "")
                prose = _EXAMPLE.sub("", _SECTION.split(text)[0]).replace("``", "`")
                if prose:
                    yield f"{place}:{getattr(node, 'lineno', 1)}", prose


def _trees(package: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        yield str(path.relative_to(ROOT)), _parsed(path)


@functools.cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _literal(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_literal(value) if isinstance(value, ast.Constant) else _PLACE for value in values)
        case _:
            return ""


def main() -> None:
    """Print each package's mean and longest sentence, of errors and of docstrings."""
    for package in packages():
        for kind, texts in (("errors", errors_in(package)), ("docstrings", docstrings_in(package))):
            counts = [(count, place) for place, text in texts for count in lengths(text)]
            if counts:
                longest, place = max(counts)
                print(f"{mean(count for count, _ in counts):5.1f} {longest:4d}  {package} {kind}, {place}")


if __name__ == "__main__":
    main()
