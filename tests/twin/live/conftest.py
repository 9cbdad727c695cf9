"""One live `virtual` lab for the whole session. Each test leaves it as it found it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.labs.lab_client import ROOT, LabClient, eeectl, state_root


def _why_not() -> str:
    if os.geteuid() != 0:
        return "a virtual lab needs root"
    if not Path("/dev/net/tun").exists():
        return "a virtual lab needs /dev/net/tun"
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    reason = _why_not()
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.lab)
            item.add_marker(pytest.mark.alone)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def lab() -> Iterator[LabClient]:
    eeectl("lab", "up", "virtual")
    try:
        yield LabClient.of(ROOT / "inventory" / "virtual", state_root())
    finally:
        eeectl("lab", "down", "virtual")
