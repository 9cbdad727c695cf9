"""Records of running labs below the state root: a damaged one is left out and said, the others are known."""

from pathlib import Path

import pytest

from eee_testbed.lab.untrusted_files import DamagedPart
from eee_testbed.twin.machine.statedir import running_labs
from tests.fuzz.corpus import state_folder


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b"[" * 5_000, b'{"lab": "other\\u001b[2J"}'])
def test_a_damaged_record_of_a_lab_is_lost_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path))
    for name, data in state_folder().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "other" / "lab.json").write_bytes(damage)
    with pytest.warns(DamagedPart, match="other"):
        assert running_labs().keys() == {"virtual"}
