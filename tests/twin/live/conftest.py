"""One live `virtual` lab for the whole session. Each test leaves it as it found it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.labs.lab_client import ROOT, LabClient, eeectl, state_root
from tests.support.needs import needs_lab


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.lab)
            item.add_marker(pytest.mark.alone)


@pytest.fixture(scope="session", autouse=True)
def _rights() -> None:
    needs_lab()


@pytest.fixture(scope="session")
def lab() -> Iterator[LabClient]:
    eeectl("lab", "up", "virtual")
    try:
        yield LabClient.of(ROOT / "inventory" / "virtual", state_root())
    finally:
        eeectl("lab", "down", "virtual")
