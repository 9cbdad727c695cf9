"""For all tests: the small live lab, an end for labs that are left, and Ctrl-C for programs of a run in the background.

A shell starts background jobs with SIGINT ignored, which every program below inherits; those that a test sends a
Ctrl-C to would not hear it.
"""

import signal
from typing import Any

import pytest

from tests.support.labs.left_labs import take_down_left_labs
from tests.support.labs.two_switches import eeectl, eeectl_environment, make_lab, rights, running_lab
from tests.support.laws import load_profile
from tests.support.longest_first import Scheduling, order

__all__ = ["eeectl", "eeectl_environment", "make_lab", "rights", "running_lab"]

load_profile()
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Labs that an earlier run left hold numbers and processors."""
    _clean(config)


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option of `make test`."""
    parser.addoption("--longest-first", action="store_true", help="order and group tests for several workers")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    """Hand out tests by their groups."""
    return Scheduling(config, log) if config.getoption("longest_first") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    if config.getoption("longest_first"):
        order(items)


def pytest_unconfigure(config: pytest.Config) -> None:
    """After Ctrl-C workers end without their fixtures."""
    _clean(config)


def _clean(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        for name in take_down_left_labs():
            print(f"taken down, as its test was ended: lab {name}")
