"""`eeectl run --resume` and `eeectl regulate resume`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.controller.applying.statefolder import digest_of
from eee_testbed.eeectl.application import app
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.regulating.comparison import FACT, Comparison, Counted
from eee_testbed.record.store import Run
from tests.support.labs.toy_lab import small_lab

_COMPARED = Comparison(Counted("by hand", 1.0, 1000, 1000), (), {}, {}, {}, {})


@contextmanager
def _opened(name: str) -> Iterator[list[str]]:
    """Files of that name that are opened for reading meanwhile."""
    found: list[str] = []
    active = [True]

    def hook(event: str, facts: tuple[Any, ...]) -> None:
        if active and event == "open" and str(facts[0]).endswith(f"/{name}") and facts[1] in ("r", "rb"):
            found.append(str(facts[0]))

    sys.addaudithook(hook)  # cannot be removed again
    try:
        yield found
    finally:
        active.clear()


def _facts(folder: Path) -> dict[str, Any]:
    """Those of a run of an experiment on a small lab, without trials."""
    lab = small_lab(folder)
    program = {"name": "alltoall", "parameters": {"iterations": 1, "array_byte": 64}, "hosts": ["n1", "n2"]}
    experiment = Experiment.model_validate({"name": "x", "lab": str(folder), "measure": {"program": program}})
    kept = {"lab": lab.name, "lab_folder": str(folder), "lab_digest": digest_of(lab)}
    return {"what": "experiment", "slot_count": 0, **kept, "experiment": experiment.model_dump(mode="json")}


@pytest.mark.parametrize("regulated", [True, False])
@pytest.mark.parametrize("words", [("run", "--resume"), ("regulate", "resume")])
def test_run_yaml_is_read_once_until_a_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], *, regulated: bool
) -> None:
    """It goes on no further here, as it is being written."""
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))
    facts = _facts(tmp_path / "toy") | ({FACT: _COMPARED.plain()} if regulated else {})
    with Run.create(tmp_path, "x", facts) as run, _opened("run.yaml") as opened:
        why = "is not a run of" if words[0] == "regulate" and not regulated else "another process"
        with pytest.raises(LabError, match=why):
            app([*words, str(run.folder)], exit_on_error=False)
    assert len(opened) == 1


def test_run_yaml_is_read_once_for_the_table_of_a_run_that_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Run.create(tmp_path, "x", _facts(tmp_path / "toy") | {FACT: _COMPARED.plain()}) as run:
        pass
    with _opened("run.yaml") as opened:
        app(["regulate", "resume", str(run.folder)], exit_on_error=False, result_action="return_value")
    assert len(opened) == 1
    assert "by hand" in capsys.readouterr().out
