"""Which lab's time a command lives in: the lab that its words, its run or its experiment's file name."""

from pathlib import Path

import pytest

from eee_testbed.eeectl.lab_time import clock_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Folder of three labs' states; `wall` has no clock."""
    for name in ("slow", "fast", "wall"):
        (tmp_path / "state" / name).mkdir(parents=True)
        (tmp_path / "state" / name / "lab.json").touch()
    for name in ("slow", "fast"):
        (tmp_path / "state" / name / "clock").touch()
    return tmp_path / "state"


def _file(folder: Path, text: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "run.yaml"
    file.write_text(f"name: some\n{text}\nblocks: 1\n", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("line", ["lab: slow", "lab: /root/labs/slow", 'lab: "slow"', "lab: slow  # at a tenth"])
def test_an_experiments_file_names_the_lab(root: Path, tmp_path: Path, line: str) -> None:
    file = _file(tmp_path / "files", line)
    assert clock_of(["run", file], root, "") == root / "slow" / "clock"
    assert clock_of(["run", file], root, "fast") == root / "slow" / "clock"
    assert clock_of(["run", file, "--lab=fast"], root, "") == root / "fast" / "clock"
    assert clock_of(["run", file, "--lab", "fast"], root, "") == root / "fast" / "clock"


def test_a_run_names_the_lab(root: Path, tmp_path: Path) -> None:
    run = Path(_file(tmp_path / "runs" / "1", "lab: fast")).parent
    assert clock_of(["run", str(run), "--resume"], root, "slow") == root / "fast" / "clock"


def test_a_study_names_the_lab(root: Path, tmp_path: Path) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "study.yaml").write_text("format: 1\nlab: fast\n", encoding="utf-8")
    assert clock_of(["watch", str(tmp_path / "studies")], root, "slow") == root / "fast" / "clock"


def test_a_lab_without_a_clock_has_the_walls_time(root: Path, tmp_path: Path) -> None:
    assert clock_of(["run", _file(tmp_path / "files", "lab: wall")], root, "slow") is None
    assert clock_of(["status"], root, "wall") is None
    assert clock_of(["status"], root, "") is None  # three labs are up, and none of them is `virtual`


def test_without_a_name_it_is_the_preferred_lab_or_the_only_one(root: Path, tmp_path: Path) -> None:
    nothing_said = _file(tmp_path / "files", "about: no lab")
    assert clock_of(["run", nothing_said], root, "fast") == root / "fast" / "clock"
    for name in ("wall", "fast"):
        (root / name / "lab.json").unlink()
    assert clock_of(["status"], root, "") == root / "slow" / "clock"


def test_words_after_two_dashes_are_anothers(root: Path) -> None:
    assert clock_of(["lab", "exec", "n01", "--lab", "slow", "--", "ls", "fast"], root, "") == root / "slow" / "clock"
    assert clock_of(["lab", "exec", "n01", "--", "ls", "fast"], root, "slow") == root / "slow" / "clock"


@pytest.mark.parametrize("method", [["--method", "fast"], ["--method=fast"], ["--method", "koibuchi"]])
def test_a_method_called_as_a_lab_is_none(root: Path, method: list[str]) -> None:
    """`koibuchi` is a lab of the repository, too, from whose folder this may be called."""
    assert clock_of(["regulate", "run", "hpcc", *method, "--lab", "slow"], root, "") == root / "slow" / "clock"
    assert clock_of(["regulate", "run", "hpcc", *method], root, "slow") == root / "slow" / "clock"


@pytest.mark.parametrize("words", [["--lab", "slow"], ["--lab=slow"]])
def test_the_option_goes_before_other_words(root: Path, words: list[str]) -> None:
    assert clock_of(["bench", "fast", *words], root, "") == root / "slow" / "clock"
    assert clock_of(["bench", "koibuchi", *words], root, "") == root / "slow" / "clock"
