"""Makes `toy_lab` importable by its name; every test keeps its journals and locks in a folder of its own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "state"))
    return tmp_path / "state"
