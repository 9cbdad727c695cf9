"""Each script of `evaluation/speed` and `evaluation/accuracy` works, on the least that passes through its code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.records import read_records
from tests.support import ROOT
from tests.support.labs.left_labs import state_root
from tests.support.scripts import SCRIPTS, modules_with_main

TRIED = [name for name, script in SCRIPTS.items() if script.smoke is not None]


def test_every_script_stands_in_the_table() -> None:
    assert modules_with_main() == set(SCRIPTS)


def test_whoever_is_not_tried_says_why() -> None:
    assert all(script.lacking for script in SCRIPTS.values() if script.smoke is None)


def test_a_claim_is_measured_by_a_script_that_records() -> None:
    commands = {
        record.command for record in read_records().values() if record.command.startswith("python -m evaluation.")
    }
    modules = {command.split()[2] for command in commands}
    assert modules <= SCRIPTS.keys()
    sources = {module: (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8") for module in modules}
    assert [module for module, source in sources.items() if "recording.begin(" not in source] == []


def test_what_a_night_records_is_a_claim() -> None:
    commands = {record.command for record in read_records().values()}
    for module, script in SCRIPTS.items():
        if "--record" in (script.soak or ()):
            words = [word for word in script.soak or () if word != "--record"]
            assert " ".join(["python", "-m", module, *words]) in commands


@pytest.mark.alone
@pytest.mark.smoke
@pytest.mark.parametrize("name", TRIED)
def test_a_script_works(name: str, tmp_path: Path, rights: None) -> None:  # noqa: ARG001 - some bring a lab up
    words = [word.format(folder=tmp_path) for word in SCRIPTS[name].smoke or ()]
    done = subprocess.run(
        [sys.executable, "-m", name, *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "EEE_STATE_DIR": str(state_root("-smoke"))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
