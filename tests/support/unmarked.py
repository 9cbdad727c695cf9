"""Skips test files that lack the marks asked for: reading all files takes each process ten seconds.

A file has the marks that it names (`mark.lab`), and those that a conftest.py above it names.
"""

import itertools
import re
from functools import cache
from pathlib import Path

from _pytest.mark.expression import Expression

from tests.support import ROOT

_MARK = re.compile(r"\bmark\.(\w+)")


@cache
def _named_in(path: Path) -> frozenset[str]:
    return frozenset(_MARK.findall(path.read_text(encoding="utf-8"))) if path.exists() else frozenset()


def can_hold(path: Path, asked: str) -> bool:
    """Whether a test of this file could have the marks of an expression, as pytest's `-m` takes it."""
    if not asked:
        return True
    above = [folder / "conftest.py" for folder in path.parents if folder.is_relative_to(ROOT)]
    expression = Expression.compile(asked)
    named = sorted(_named_in(path).union(*map(_named_in, above)) & set(re.findall(r"\w+", asked)))
    subsets = itertools.chain.from_iterable(itertools.combinations(named, count) for count in range(len(named) + 1))
    return any(expression.evaluate(set(some).__contains__) for some in subsets)
