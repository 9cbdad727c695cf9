"""What each Python file of the repository depends on, as far as its text says: modules it imports, and theirs in turn.

A module's name in a string counts as an import, as verbs are loaded by their names. What is read at run time is not
seen: all that is no Python, and Python that is sent to nodes as text, belongs to every digest. Tests that start
programs, or read the checkout itself, depend on every file.
"""

import ast
import hashlib
import re
import subprocess
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from tests.support.packages import PACKAGE, module_of

_READS_ALL: Final = re.compile(rb"^import subprocess|\bROOT\b|\beeectl: Eeectl\b", re.MULTILINE)
_ROOT: Final = "tests/support/__init__.py"
_SENT_AS_TEXT: Final = ("agents/", "benchmarks/on_nodes/", "playbooks/")


def files_of(root: Path) -> dict[str, bytes]:
    """Content of all files of a checkout that git knows or would add, by their paths below it."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(argv, cwd=root, capture_output=True, check=True).stdout.decode().split("\0")
    paths = ((name, root / name) for name in listed if name)
    return {name: path.read_bytes() for name, path in paths if path.is_file()}


@dataclass(frozen=True)
class Sources:
    """Files of a checkout: their content, by their paths below its top."""

    files: Mapping[str, bytes]

    def digest(self, path: str) -> str:
        """Of all that a Python file depends on; another one where anything of that differs."""
        every = hashlib.sha256(self._of_everybody)
        needs = self._closure(path)
        if any(_READS_ALL.search(self.files[one]) for one in needs if one.startswith("tests/") and one != _ROOT):
            needs = self._each.keys()
        for needed in sorted(needs):
            every.update(needed.encode() + b"\0" + self._each[needed])
        return every.hexdigest()

    @cached_property
    def _each(self) -> dict[str, bytes]:
        return {path: hashlib.sha256(content).digest() for path, content in self.files.items()}

    @cached_property
    def _of_everybody(self) -> bytes:
        every = hashlib.sha256()
        for path in sorted(self.files):
            if not path.endswith(".py") or path.startswith(_SENT_AS_TEXT) or path.endswith("/conftest.py"):
                every.update(path.encode() + b"\0" + self._each[path])
        return every.digest()

    @cached_property
    def _modules(self) -> dict[str, str]:
        """Paths by names of modules."""
        return {module_of(path): path for path in self.files if path.endswith(".py")}

    @cached_property
    def _needs(self) -> dict[str, frozenset[str]]:
        return {path: frozenset(self._imported(path)) for path in self.files if path.endswith(".py")}

    def _imported(self, path: str) -> Iterator[str]:
        for name in _named(ast.parse(self.files[path]), _package(path)):
            parts = name.split(".")
            inside = len(parts) > 1 and parts[0] == PACKAGE  # it imports its names when they are used
            for end in range(1 + inside, len(parts) + 1):
                if found := self._modules.get(".".join(parts[:end])):
                    yield found

    def _closure(self, path: str) -> AbstractSet[str]:
        found, open_ends = {path}, [path]
        while open_ends:
            new = self._needs[open_ends.pop()] - found
            found |= new
            open_ends += new
        return found


def _package(path: str) -> str:
    return module_of(str(PurePosixPath(path).parent))


def _named(tree: ast.AST, package: str) -> Iterator[str]:
    """Dotted names that may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            yield node.value.partition(":")[0]
