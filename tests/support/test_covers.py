"""Every module has tests, which are found by the rule in ARCHITECTURE.md."""

import pytest

from tests.support import ROOT
from tests.support.covers import BY_NAME, Coverage

_SMALL = 40
"""Lines of a module that needs no test of its own kind."""


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return Coverage.read()


@pytest.mark.slow
def test_every_module_has_tests(coverage: Coverage) -> None:
    large = [one for one in coverage.modules if len((ROOT / one).read_text(encoding="utf-8").splitlines()) > _SMALL]
    assert [one for one in large if not coverage.of(one)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "tests"),
    [
        ("record/store.py", {"tests/record/test_store.py"}),  # by its name
        ("twin/families/fastpath/shows/green.py", {"tests/twin/families/fastpath/test_green.py"}),  # further up
        ("regulation/network.py", {"tests/regulation/test_closed_loop.py"}),  # by what imports it
        ("analysis/links/policy_groups.py", {"tests/analysis/links/test_eee_policy.py"}),  # over what imports it
        ("regulation/no_such_module.py", set()),
    ],
)
def test_tests_are_found_by_name_and_else_by_imports(coverage: Coverage, module: str, tests: set[str]) -> None:
    found = coverage.of(module)
    assert found >= tests
    assert bool(found) == bool(tests)


def test_what_is_said_to_be_reached_by_name_is(coverage: Coverage) -> None:
    """Each entry of the table is needed: without it some module would have no tests."""
    without = Coverage(coverage.modules, coverage.users, {})
    bare = [one for one in coverage.modules if not without.of(one)]
    assert [start for start in BY_NAME if not any(one.startswith(start) for one in bare)] == []
