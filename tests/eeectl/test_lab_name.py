"""Which lab a command works on, and what it says of one that is down."""

import re
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.eeectl.lab_name import chosen, known_lab, lab_operand, require_up
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import load_lab
from eee_testbed.twin.machine.statedir import Journal, StateDir
from tests.support.labs.two_switches import write_two_switches


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
    with pytest.raises(LabError, match=rf"lab toy was brought up from {one}, not from {other}"):
        chosen(str(other))
    assert lab_operand(str(other)) == str(other)  # another inventory of the same devices


@pytest.fixture
def down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a virtual lab that is not up."""
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    return write_two_switches(tmp_path, "t201", 201)


WORDS = (
    "apply --yes", "plan", "confirm", "rollback --yes", "recover --yes", "adopt --yes", "eee show", "lab check",
    "lab first-hour", "lab truth", "link off sw1:gi1/0/11 --yes", "eee on n01 --yes", "power read",
    "power off n01 --yes", "probe n01 n03", "probe n01:n03", "bench alltoall", "sweep alltoall --factor eee=on,off",
)  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_a_virtual_lab_that_is_down_is_said_to_be_down_in_one_sentence(
    down: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words.split(), "--lab", str(down)]) == 1
    said = capsys.readouterr()
    assert said.err == f"eeectl: lab t201 is down: `eeectl lab up {down}` brings it up.\n"
    assert said.out == ""
    assert not list(Path().glob("runs/*"))


def test_a_lab_is_named_as_the_first_word_or_by_an_option(down: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("plan", str(down)), ("plan", "--lab", str(down)), ("lab", "check", str(down))):
        assert run([*words, "--start=factory"] if words[0] == "plan" else [*words, "--files-only"]) in (0, 3)
    assert "t201" in capsys.readouterr().out


def test_a_rack_is_not_taken_for_a_virtual_lab(down: Path) -> None:
    hosts = down / "hosts.yml"
    (secret := down / "secret").write_text("x")
    text = re.sub(r"(password_file|community_file|known_hosts_file): .*", rf"\1: {secret}", hosts.read_text())
    hosts.write_text(text)
    require_up(load_lab(down))


def test_a_lab_that_is_up_goes_by_its_name_wherever_its_folder_is(down: Path) -> None:
    with pytest.raises(LabError, match="no lab 't201'"):
        known_lab("t201")
    state = StateDir("t201")
    state.create()
    made = Journal(lab="t201", folder=str(down), group=1, bridge="", management_network="", listeners=(), cgroups="")
    state.save(made)
    assert known_lab("t201").folder == str(down)
    assert known_lab("").folder == str(down)  # the only one
    with pytest.raises(LabError, match="t201 has crashed"):
        require_up(known_lab("t201"))
