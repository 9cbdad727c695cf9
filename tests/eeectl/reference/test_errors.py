"""The tree of errors is whole."""

import importlib

from eee_testbed.eeectl.reference.errors import error_tree
from eee_testbed.lab.errors import LabError
from tests.support.packages import module_of


def test_each_error_stands_below_its_own_base() -> None:
    above: list[str] = []
    for line in error_tree().splitlines():
        name, file = line.split("`")[1], line.partition("(")[2].partition(")")[0]
        depth = (len(line) - len(line.lstrip())) // 2
        error = getattr(importlib.import_module(module_of(file)), name)
        assert issubclass(error, LabError)
        above = [*above[:depth], name]
        assert [base.__name__ for base in reversed(error.__mro__) if issubclass(base, LabError)] == above


def test_no_error_that_is_loaded_is_missing() -> None:
    known = {line.split("`")[1] for line in error_tree().splitlines()}
    waiting, found = [LabError], set()
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        if not error.__module__.startswith("tests"):
            found.add(error.__name__)
    assert found <= known
    assert len(known) > 30
