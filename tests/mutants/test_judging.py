"""A toy checkout with mutants of each kind: killed, alive, and not to be judged; and nothing is left of a run."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutants.judging import Judgement, Suite, judge_all
from tests.mutants.running import Ended, Runner
from tests.mutants.table import Mutant
from tests.support import ROOT
from tests.support.waiting import eventually

_FILES = {
    "toy.py": "def least(x, y):\n    return x if x < y else y\n\n\ndef first(x, y):\n    return x\n",
    "tests/test_named.py": "from toy import least\n\n\ndef test_least():\n    assert least(2, 1) == 1\n",
    "tests/test_unit.py": "from toy import first\n\n\ndef test_first():\n    assert first(1, 2) == 1\n",
    "tests/test_broken.py": "def test_broken():\n    assert False\n",
    "tests/test_nothing.py": "",
    "tests/test_endless.py": (
        "import os, pathlib, threading\n\n\ndef test_endless():\n"
        "    pathlib.Path(os.environ['TOY_PID']).write_text(str(os.getpid()))\n    threading.Event().wait()\n"
    ),
    "engine/Cargo.toml": '[workspace]\nmembers = ["toy"]\nresolver = "2"\n',
    "engine/Cargo.lock": 'version = 4\n\n[[package]]\nname = "toy"\nversion = "0.1.0"\n',
    "engine/toy/Cargo.toml": '[package]\nname = "toy"\nversion = "0.1.0"\nedition = "2024"\n',
    "engine/toy/src/lib.rs": (
        "pub fn least(x: u8, y: u8) -> u8 {\n    x.min(y)\n}\n\n"
        "#[test]\nfn the_least() {\n    assert_eq!(least(2, 1), 1);\n}\n"
    ),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("checkout")
    for name, text in _FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "tests/mutants", root / "tests/mutants", ignore=shutil.ignore_patterns("test_*", "__py*"))
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\nmarkers =\n    lab\n    alone\n", encoding="utf-8")
    (root / "tests/__init__.py").touch()
    subprocess.run(("git", "init", "-q"), cwd=root, check=True)
    return root


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with _runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copies")


def _runner(limit_s: float = 300.0) -> Runner:
    return Runner(limit_s, preloaded=("pytest",))


def _mutant(name: str, tests: str, new: str = "return x if x > y else y", **others: str) -> Mutant:
    line = {"file": "toy.py", "old": "return x if x < y else y", "unit": "tests/test_named.py", **others}
    return Mutant(area="check", name=name, new=new, law="the least of two", tests=tests, **line)


def _judged(checkout: Path, copies: Path, runner: Runner, *mutants: Mutant, suite: Suite = "unit") -> list[Judgement]:
    told: list[Judgement] = []
    found = judge_all(checkout, copies, mutants, runner, suite=suite, jobs=1, tell=told.append)
    assert sorted(found, key=lambda one: one.mutant.name) == sorted(told, key=lambda one: one.mutant.name)
    return found


@pytest.mark.slow
def test_a_mutant_is_killed_by_a_test_it_names_or_one_of_its_area_or_lives(
    checkout: Path, copies: Path, runner: Runner
) -> None:
    named, unit, alive, twin = _judged(
        checkout,
        copies,
        runner,
        _mutant("named", "tests/test_named.py"),
        _mutant("unit", "tests/test_unit.py"),
        _mutant("alive", "tests/test_named.py", "return x if x <= y else y", unit="tests/test_unit.py"),
        _mutant("listed", "tests/test_unit.py", unit="tests/test_unit.py", survives="it is a toy"),
    )
    assert (named.outcome, named.by, named.suite) == ("killed", "tests/test_named.py::test_least", "targeted")
    assert (unit.outcome, unit.by, unit.suite) == ("killed", "tests/test_named.py::test_least", "unit")
    assert (alive.outcome, alive.is_surprise) == ("survived", True)
    assert (twin.outcome, twin.is_surprise) == ("survived", False)
    text = (copies / "copy0/toy.py").read_text(encoding="utf-8")
    assert text == _FILES["toy.py"]


@pytest.mark.slow
def test_what_shows_nothing_is_not_judged(checkout: Path, copies: Path, runner: Runner) -> None:
    broken, nothing, moved = _judged(
        checkout,
        copies,
        runner,
        _mutant("broken", "tests/test_broken.py"),
        _mutant("nothing", "tests/test_nothing.py"),
        _mutant("moved", "tests/test_named.py", old="return x if x << y else y"),
        suite="targeted",
    )
    assert {one.outcome for one in (broken, nothing, moved)} == {"not judged"}
    assert "fails without any mutant" in broken.by
    assert "runs no test" in nothing.by
    assert "old line is not in toy.py" in moved.by


@pytest.mark.slow
def test_mutants_of_rust_are_killed_by_cargo(checkout: Path, copies: Path, runner: Runner) -> None:
    rust = {"file": "engine/toy/src/lib.rs", "old": "x.min(y)", "unit": "-p toy"}
    killed, none, wrong = _judged(
        checkout,
        copies,
        runner,
        _mutant("killed", "-p toy least", "x.max(y)", **rust),
        _mutant("none", "-p toy nothing_of_that_name", "x.max(y)", **rust),
        _mutant("wrong", "-p toy", "x.most(y)", **rust),
        suite="targeted",
    )
    assert (killed.outcome, killed.by) == ("killed", "the_least")
    assert (none.outcome, wrong.outcome) == ("not judged", "not judged")
    assert "runs no test" in none.by
    assert "does not compile" in wrong.by


@pytest.mark.slow
def test_a_run_that_takes_too_long_has_failed(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_PID", str(tmp_path / "pid"))
    with _runner(0.5) as runner:
        ending = _judged(checkout, tmp_path, runner, _mutant("endless", "tests/test_endless.py"))[0]
    assert ending.outcome == "not judged"  # as it does so without the mutant, too
    assert "no end within 0.5 s" in ending.by


@pytest.mark.slow
def test_nothing_runs_any_more_after_a_stop(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = tmp_path / "pid"
    monkeypatch.setenv("TOY_PID", str(pid))
    with _runner() as runner:
        mutants = [_mutant("endless", "tests/test_endless.py")]
        ends: list[str] = []

        def work() -> None:
            with pytest.raises(Ended):
                judge_all(checkout, tmp_path / "copies", mutants, runner, suite="unit", jobs=1, tell=lambda _: None)
            ends.append("ended")

        judge = threading.Thread(target=work)
        judge.start()
        eventually("the endless test runs", lambda: pid.exists() and pid.read_text(encoding="utf-8"))
        assert judge.is_alive()
        runner.stop()
        judge.join()
    assert ends
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text(encoding="utf-8")), 0)
