"""A script's figures go into the records of its own command, with the commit that the code is of."""

import argparse
import subprocess
from pathlib import Path

import pytest

from evaluation import recording
from evaluation.page import PAGE
from evaluation.quiet import MachineState
from evaluation.records import FOLDER, Figure, Record, read_records, write_record

_COMMAND = "python -m evaluation.speed.echoes FOLDER --rounds 5"
_CLAIM = {"kind": "speed", "unit": "us", "about": ("evaluation",)}


def _git(folder: Path, *words: str) -> str:
    argv = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.org", *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone with a script, and two claims of its command."""
    for folder in (FOLDER, PAGE.parent, Path("evaluation/speed")):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "evaluation" / "limits.md").write_text("## Limits\n", encoding="utf-8")
    (tmp_path / "evaluation" / "speed" / "echoes.py").write_text("", encoding="utf-8")
    for name, command in (("median", _COMMAND), ("worst", _COMMAND), ("by-hand", "make demo")):
        claim = Record.model_validate(_CLAIM | {"claim": f"{name} echo", "figure": name, "command": command})
        write_record(name, claim, tmp_path)
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "--message", "x")
    return tmp_path


def _quiet() -> MachineState:
    return MachineState(2, 0.0, 0.0)


def _argv(checkout: Path, *words: str) -> list[str]:
    return [str(checkout / "evaluation" / "speed" / "echoes.py"), *words]


def _given(checkout: Path, *, record: bool = True) -> argparse.Namespace:
    return argparse.Namespace(record=record, folder=checkout / "made", rounds=5)


def test_figures_are_appended_to_the_claims_of_the_command(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = _argv(checkout, str(checkout / "made"), "--rounds", "5", "--record", "--force")
    for value in (8.7, 9.1):
        records = recording.begin(_given(checkout), argv, checkout, look=_quiet)
        records.append({"median": Figure(value=value, n=5), "worst": None, "mean": Figure(value=1)})
    found = read_records(checkout)
    assert [one.value for one in found["median"].measured] == [8.7, 9.1]
    (one, _) = found["median"].measured
    assert _git(checkout, "rev-parse", "HEAD").startswith(one.commit)
    assert (one.n, one.quiet, one.machine) == (5, True, recording.machine())
    assert one.load is not None
    assert not found["worst"].measured
    assert "median echo | " in (checkout / PAGE).read_text(encoding="utf-8")
    assert "worst: nothing is recorded, as 'worst' was not measured." in capsys.readouterr().err


def test_what_others_measured_meanwhile_is_kept(checkout: Path) -> None:
    argv = _argv(checkout, str(checkout / "made"), "--rounds", "5", "--record")
    first, second = (recording.begin(_given(checkout), argv, checkout, look=_quiet) for _ in range(2))
    second.append({"median": Figure(value=2)})
    first.append({"median": Figure(value=1)})
    assert [one.value for one in read_records(checkout)["median"].measured] == [2, 1]


def test_without_the_option_nothing_is_written(checkout: Path) -> None:
    recording.begin(_given(checkout, record=False), _argv(checkout), checkout, look=_quiet).append(
        {"median": Figure(value=1)}
    )
    assert _git(checkout, "status", "--porcelain") == ""


def test_a_command_that_measures_no_claim_is_refused_before_it_begins(checkout: Path) -> None:
    argv = _argv(checkout, str(checkout / "made"), "--rounds", "1", "--record")
    with pytest.raises(SystemExit, match=r"`python -m evaluation.speed.echoes FOLDER --rounds 1` measures no claim"):
        recording.begin(_given(checkout), argv, checkout, look=_quiet)


def test_code_that_no_commit_has_is_refused(checkout: Path) -> None:
    (checkout / "evaluation" / "speed" / "echoes.py").write_text("changed = True\n", encoding="utf-8")
    argv = _argv(checkout, str(checkout / "made"), "--rounds", "5", "--record")
    with pytest.raises(SystemExit, match=r"not that of a commit \(1 changed files\)"):
        recording.begin(_given(checkout), argv, checkout, look=_quiet)


def test_a_folder_that_is_no_clone_is_refused(checkout: Path) -> None:
    (checkout / ".git").rename(checkout / "git")
    argv = _argv(checkout, str(checkout / "made"), "--rounds", "5", "--record")
    with pytest.raises(SystemExit, match="a record names its commit, and git says: "):
        recording.begin(_given(checkout), argv, checkout, look=_quiet)


def test_a_machine_has_a_processor_and_a_kernel_and_no_name() -> None:
    assert " cores, " in recording.machine()
    assert ", Linux " in recording.machine()
    assert subprocess.run(["hostname"], capture_output=True, text=True, check=True).stdout.strip() not in (
        recording.machine().split()
    )


def test_a_measurement_by_hand_is_quiet_if_that_is_said(checkout: Path) -> None:
    recording.main(["by-hand", "--value", "5.7", "--n", "1"], checkout)
    recording.main(["by-hand", "--value", "5.8", "--held", "4 of 5", "--quiet"], checkout)
    first, second = read_records(checkout)["by-hand"].measured
    assert (first.value, first.n, first.quiet) == (5.7, 1, False)
    assert (second.value, second.held, second.quiet) == (5.8, "4 of 5", True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none", "--value", "1"], "no claim none in evaluation/records"),
        (["median", "--value", "1"], f"median is recorded by its command: {_COMMAND} --record"),
        (["by-hand", "--value", "much"], "--value: Input should be a valid number"),
        (["by-hand", "--value", "1", "--n", "0"], "--n: Input should be greater than or equal to 1"),
        (["by-hand"], "the following arguments are required: --value"),
    ],
)
def test_what_cannot_be_entered_is_refused(
    checkout: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    with pytest.raises(SystemExit):
        recording.main(words, checkout)
    assert said in capsys.readouterr().err
    assert _git(checkout, "status", "--porcelain") == ""
