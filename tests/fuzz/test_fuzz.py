"""A short run of fixed seed over all readers; `make soak` is the long one."""

import random

import pytest

from tests.fuzz.engine import Target, run_case
from tests.fuzz.mutations import Tree, damaged
from tests.fuzz.targets import TARGETS

_SLOW = frozenset(
    {
        "profile",
        "calibration",
        "report",
        "trace-otf2",
        "compare",
        "fit",
        "predict",
        "watch",
        "replay",
        "simulation-report",
        "ros",
        "m4300",
    }
)
"""Whole commands, long files, and switches whose answers take long to make: for the long run."""


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in _SLOW])
def test_a_reader_takes_whole_files_and_refuses_damaged_ones_in_words(name: str) -> None:
    failures = [failure for number in range(2) if (failure := run_case(TARGETS[name], 1, number)) is not None]
    assert not failures, failures[0].trace


def _tree() -> Tree:
    return {"x.json": b'{"a": 1}'}


def test_an_escape_and_a_hang_are_failures() -> None:
    def escape(_folder: object) -> None:
        raise KeyError("a")

    failure = run_case(Target("escape", _tree, escape), 1, 0)
    assert failure is not None
    assert "KeyError" in failure.trace


def test_damage_is_the_same_each_time() -> None:
    first, second = (damaged(_tree(), random.Random(seed), ("x.json",)) for seed in (7, 7))  # noqa: S311
    assert first == second
