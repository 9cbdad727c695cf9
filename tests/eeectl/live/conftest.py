"""One lab for the whole session. Every test starts from the factory's settings, and leaves them behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.labs.engineer import Engineer
from tests.support.labs.lab_client import LabClient, eeectl
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.triangle import write_lab
from tests.support.needs import needs_lab


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.lab)


@pytest.fixture(scope="session", autouse=True)
def _rights() -> None:
    needs_lab()


@pytest.fixture(scope="session")
def engineer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engineer]:
    """An engineer with eeectl, at a lab in which hosts of all switches broadcast all the time."""
    folder = write_lab(tmp_path_factory.mktemp("labs"), reserve())
    eeectl("lab", "up", str(folder))
    try:
        with Engineer(LabClient.of(folder, Path("/run/eee-testbed")), tmp_path_factory.mktemp("kept")) as person:
            yield person
    finally:
        eeectl("lab", "down", folder.name)


@pytest.fixture(autouse=True)
def safe(engineer: Engineer) -> Iterator[None]:
    """After each test: check that no loop occurred, and restore factory settings."""
    engineer.forget()
    before = engineer.frames()
    yield
    engineer.require_no_loop_since(before)
    engineer.restore()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if Engineer.figures:
        terminalreporter.section("how long it took (on this machine, beside whatever else it did)")
        for what, taken_s in Engineer.figures:
            terminalreporter.line(f"{taken_s:6.1f} s  {what}")
