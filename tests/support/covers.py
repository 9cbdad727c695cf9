"""Which tests cover a module, by the rule in ARCHITECTURE.md: `python -m tests.support.covers regulation/choice.py`."""

import ast
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Self

from tests.support import ROOT
from tests.support.packages import PACKAGE, PACKAGES, module_of

BY_NAME: Final[Mapping[str, tuple[str, ...]]] = {
    "eeectl/verbs/": ("tests/eeectl/verbs", "tests/eeectl/live"),
    "eeectl/": ("tests/eeectl",),
    "agents/": ("tests/agents",),
    "twin/": ("tests/twin/hosts", "tests/twin/lab", "tests/twin/live"),
    "lab/in_ansible.py": ("tests/lab/test_ansible_vars.py",),
    "measuring/live/screen/": ("tests/measuring/live/screen",),
    "simulation/report/": ("tests/simulation/report",),
    "evaluation/": ("tests/support/test_scripts.py",),
    "benchmarks/on_nodes/": ("tests/measuring/experiments/test_launching.py",),
}
"""Modules that are run or loaded by their name, so that no import shows what uses them, and what tests them."""


@dataclass(frozen=True)
class Coverage:
    """The imports of the product and of its tests, by paths from the root of the checkout."""

    modules: tuple[str, ...]
    users: Mapping[str, frozenset[str]]
    """The product's modules, the tests, and what supports tests, that import a module."""

    by_name: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: BY_NAME)

    @classmethod
    def read(cls) -> Self:
        """Read all files; imports inside functions count."""
        modules = [path for name in (*PACKAGES, PACKAGE, "evaluation") for path in sorted((ROOT / name).rglob("*.py"))]
        tests = sorted((ROOT / "tests").rglob("test_*.py"))
        support = sorted({*(ROOT / "tests" / "support").rglob("*.py")} - {*tests})
        places = {module_of(path): path for path in (str(one.relative_to(ROOT)) for one in (*modules, *support))}
        users: dict[str, set[str]] = defaultdict(set)
        for path in (*modules, *support, *tests):
            for name in _imported(ast.parse(path.read_text(encoding="utf-8"))):
                if place := places.get(name):
                    users[place].add(str(path.relative_to(ROOT)))
        product = (str(path.relative_to(ROOT)) for path in modules)
        own = tuple(name for name in product if not name.endswith("__init__.py"))
        return cls(own, {name: frozenset(found) for name, found in users.items()})

    @cached_property
    def tests(self) -> frozenset[str]:
        """All files of tests."""
        return frozenset(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))

    def of(self, module: str) -> frozenset[str]:
        """Tests that cover a module, as a path: `test_x.py`, else those nearest to it by imports; empty if none."""
        place = Path(module)
        name = f"/test_{place.name}"
        for folder in place.parents[:-1]:
            mirror, another = f"tests/{folder}{name}", str(folder / place.name)
            if mirror in self.tests and (another == module or another not in self.modules):
                return frozenset({mirror})
        seen, level = {module}, {module}
        while level:
            users = {user for one in level for user in self.users.get(one, ())}
            tests = users & self.tests
            if tests:
                near = {one for one in tests if one.startswith(f"tests/{place.parts[0]}/")} or tests
                return frozenset({one for one in near if one.endswith(name)} or near)
            level = users - seen
            seen |= level
        return self._by_name(module)

    def _by_name(self, module: str) -> frozenset[str]:
        folders = next((found for start, found in self.by_name.items() if module.startswith(start)), ())
        return frozenset(one for one in self.tests for folder in folders if f"{one}/".startswith(f"{folder}/"))


def _imported(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found


def main(paths: list[str]) -> None:
    """Print the tests of each module."""
    known = Coverage.read()
    for path in paths:
        module = str(Path(path).resolve().relative_to(ROOT))
        print(f"{module}: {' '.join(sorted(known.of(module))) or 'no test'}")


if __name__ == "__main__":
    main(sys.argv[1:])
