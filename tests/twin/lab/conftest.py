"""A lab with a clock of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.labs.lab_numbers import reserve
from tests.support.labs.two_switches import Eeectl, write_two_switches
from tests.support.needs import needs_lab


@pytest.fixture(scope="module")
def clocked(
    eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path, Path]]:
    """A lab at a tenth of real time: (its name, its folder, its clock's page)."""
    needs_lab()
    number = reserve()
    folder = write_two_switches(tmp_path_factory.mktemp("labs"), f"c{number}", number)
    done = eeectl("lab", "up", str(folder), "--rate", "1/10")
    assert done.returncode == 0, done.stderr
    yield folder.name, folder, Path(eeectl_environment["EEE_STATE_DIR"]) / folder.name / "clock"
    done = eeectl("lab", "down", folder.name)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def at_a_tenth(clocked: tuple[str, Path, Path], eeectl: Eeectl) -> Iterator[tuple[str, Path, Path]]:
    yield clocked
    assert eeectl("lab", "clock", clocked[0], "1/10").returncode == 0
