"""`eeectl power` without a strip: the mistakes that it reports before anything is sent."""

from pathlib import Path

import pytest

from controller.applying.lock import Lock
from controller.applying.statefolder import StateFolder
from eeectl.cli import run
from lab.folder import find_lab, load_lab


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lab of this machine is meant, and no lock of its is held."""
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["power", "off", "sw1"], "give --yes"),
        (["power", "cycle", "pdu1:1"], "give --yes"),
        (["power", "off", "pdu1:13", "--yes"], "has no outlet pdu1:13"),
        (["power", "on", "nobody"], "has no outlet nobody"),
        (["power", "read", "pdu9:1"], "has no outlet pdu9:1"),
        (["power", "cycle", "sw1", "--off-s", "-1", "--yes"], "0 to 3600"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert run(words) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert says in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("words", [["off", "sw1", "--yes"], ["on", "n01"], ["cycle", "pdu1:1", "--yes"]])
def test_nothing_is_switched_while_somebody_works_in_the_lab(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """A meter that was reached for would fail: there is no strip, nor its community."""
    lab = load_lab(find_lab("miwa"))
    key = Path(lab.switch("sw1").password_file)
    key.parent.mkdir(parents=True)
    key.write_text("x")  # so it is somebody's lab, and not a virtual one that is down
    with Lock(StateFolder.of(lab), "run night.yaml", warn=print):
        assert run(["power", *words, "--lab", "miwa"]) == 1
    printed = capsys.readouterr()
    assert "run night.yaml" in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
