"""For all tests: the small live lab, an end for labs that are left, and Ctrl-C for programs of a run in the background.

A shell starts background jobs with SIGINT ignored, which every program below inherits; those that a test sends a
Ctrl-C to would not hear it.
"""

import signal
from pathlib import Path

import pytest

from tests.support.labs.left_labs import take_down_left_labs
from tests.support.labs.two_switches import eeectl, eeectl_environment, fault, lab, make_lab, rights, running_lab
from tests.support.laws import load_profile
from tests.support.unmarked import can_hold

__all__ = ["eeectl", "eeectl_environment", "fault", "lab", "make_lab", "rights", "running_lab"]

load_profile()
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Labs that an earlier run left hold numbers and processors."""
    _clean(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without a test of the marks that were asked for are not read."""
    if collection_path.suffix != ".py" or can_hold(collection_path, config.getoption("markexpr")):
        return None
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first: at the end the other processes would wait for it."""
    items.sort(key=lambda item: item.get_closest_marker("longest") is None)


def pytest_unconfigure(config: pytest.Config) -> None:
    """After Ctrl-C workers end without their fixtures."""
    _clean(config)


def _clean(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        for name in take_down_left_labs():
            print(f"taken down, as its test was ended: lab {name}")
