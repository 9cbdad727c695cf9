"""The examples in docstrings of the product show what the code does."""

import doctest
import importlib
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.packages import PACKAGES, module_of

PURE_MODELS = (
    "eee_testbed.analysis.interval",
    "eee_testbed.analysis.links.path_delay",
    "eee_testbed.analysis.power.andujar_power",
    "eee_testbed.analysis.power.energy",
    "eee_testbed.analysis.power.plausible",
    "eee_testbed.analysis.power.preflight",
    "eee_testbed.analysis.power.screening",
    "eee_testbed.analysis.predict.topologies",
    "eee_testbed.analysis.predict.what_if",
    "eee_testbed.analysis.programs.miwa",
    "eee_testbed.analysis.programs.profile",
    "eee_testbed.analysis.programs.run_time",
    "eee_testbed.simulation.curve",
    "eee_testbed.simulation.energy",
    "eee_testbed.simulation.steadiness",
)
"""Models that have to have examples."""


WITH_EXAMPLES = sorted(
    module_of(str(path.relative_to(ROOT)))
    for package in (*PACKAGES, "evaluation", "playbooks", "website")
    for path in (ROOT / package).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
"""Modules with examples; those of `eee_testbed` itself need a run: tests/eee_testbed."""


def test_the_pure_models_have_examples() -> None:
    assert set(PURE_MODELS) <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_show_what_the_code_does(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0, "no docstring has them"
    assert result.failed == 0, "see the output above"
