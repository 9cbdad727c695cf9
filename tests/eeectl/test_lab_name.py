"""A folder is never taken for another lab of the same name."""

from pathlib import Path

import pytest

from eeectl.lab_name import chosen
from lab.errors import LabError
from twin.machine.statedir import Journal, StateDir


def test_a_lab_that_is_up_from_another_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
    one, other = tmp_path / "one" / "toy", tmp_path / "other" / "toy"
    for folder in (one, other):
        folder.mkdir(parents=True)
        (folder / "hosts.yml").write_text("all: {}\n")
    assert chosen(str(other)) == str(other)  # none is up
    state = StateDir("toy")
    state.create()
    state.save(Journal(lab="toy", folder=str(one), group=1, bridge="", management_network="", listeners=(), cgroups=""))
    assert chosen(str(one)) == str(one)
    assert chosen("toy") == "toy"
    assert chosen("") == "toy"
    with pytest.raises(LabError, match=rf"the lab toy that is up is that of {one}, not of {other}"):
        chosen(str(other))
