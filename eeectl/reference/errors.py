"""The tree of errors, from the classes in the source."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_ROOT: Final = Path(__file__).resolve().parents[2]
_BASE: Final = "LabError"
_CLASS: Final = re.compile(r'^class (?P<name>\w+)\((?P<base>\w+)\):\n    """(?P<about>.+?)(?:"""|$)', re.MULTILINE)


class _Error(NamedTuple):
    name: str
    base: str
    about: str
    file: str


def error_tree() -> str:
    """`LabError` and all that derive from it, as a list in lists: name, file and meaning."""
    below: defaultdict[str, list[_Error]] = defaultdict(list)
    for error in _classes():
        below[error.base].append(error)
    return "".join(line for error in below["Exception"] if error.name == _BASE for line in _lines(error, below, 0))


def _lines(error: _Error, below: defaultdict[str, list[_Error]], depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}* `{error.name}` ({error.file}): {error.about}\n"
    for one in sorted(below[error.name]):
        yield from _lines(one, below, depth + 1)


def _classes() -> Iterator[_Error]:
    """Every class with one base, of the packages that are not tests."""
    packages = sorted(file.parent for file in _ROOT.glob("*/__init__.py") if file.parent.name != "tests")
    for path in (path for package in packages for path in sorted(package.rglob("*.py"))):
        for found in _CLASS.finditer(path.read_text(encoding="utf-8")):
            yield _Error(found["name"], found["base"], found["about"], path.relative_to(_ROOT).as_posix())
