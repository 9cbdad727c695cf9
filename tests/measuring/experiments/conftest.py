"""The small lab of two switches, with links that come up as fast as a test would like."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.labs.lab_numbers import reserve
from tests.support.labs.two_switches import Eeectl, brought_up, write_two_switches
from tests.support.needs import needs_lab


@pytest.fixture(scope="module")
def quick_lab(
    eeectl: Eeectl,
    eeectl_environment: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Path, Path]]:
    """A lab that is up: (its folder, its state folder)."""
    needs_lab()
    number = reserve()
    folder = write_two_switches(tmp_path_factory.mktemp("labs"), f"m{number}", number)
    truth = folder / "twin" / "truth.yaml"
    text = truth.read_text(encoding="utf-8")
    text = re.sub(r"interruption_s: \{.*\}", "interruption_s: {10: 0.3, 100: 0.3, 1000: 0.4, 10000: 0.4}", text)
    truth.write_text(re.sub(r"interruption_s: [\d.]+", "interruption_s: 0.3", text), encoding="utf-8")
    with brought_up(folder, eeectl, eeectl_environment) as state:
        yield folder, state
