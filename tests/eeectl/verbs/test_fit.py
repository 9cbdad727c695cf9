"""`eeectl fit` on run folders with known parameters, and its errors for runs that cannot be fitted."""

import contextlib
import functools
import io
import json
import math
from pathlib import Path

import pytest

from eee_testbed.analysis.calibration import Calibration, load_calibration, save_calibration
from eee_testbed.eeectl.cli import run as eeectl
from tests.support.measured.stage_run import TRUTH, StageRun
from tests.support.measured.synthetic_run import (
    HOLD_US,
    SLEEP_US,
    WAKE_US,
    write_alltoall,
    write_probe,
    write_run,
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs"), write_probe, write_alltoall)


@pytest.fixture(scope="module")
def found(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    path = tmp_path_factory.mktemp("fit") / "calibration.yaml"
    assert eeectl(["fit", str(study), "-o", str(path)]) == 0
    return load_calibration(path)


@pytest.mark.slow
def test_the_links_policy_is_that_of_the_echoes(found: Calibration) -> None:
    link = found.links["n01-n02"]
    assert link.kind == "hold"
    assert link.hold_us is not None
    assert link.sleep_us is not None
    assert link.wake_us is not None
    assert link.path_wake_us is not None
    assert not link.which  # unknown whether ports or cards sleep
    assert link.hold_us.value == pytest.approx(HOLD_US, rel=0.03)
    assert link.sleep_us.value == pytest.approx(SLEEP_US, rel=0.1)
    assert link.path_wake_us.value == pytest.approx(2 * WAKE_US, rel=0.02)
    for found_us, truth_us in ((link.hold_us, HOLD_US), (link.sleep_us, SLEEP_US), (link.wake_us, WAKE_US)):
        assert found_us.low * 0.99 <= truth_us <= found_us.high * 1.01
    assert link.lost_count == 1
    assert link.symptoms == ()
    assert len(link.ends) == 2


@pytest.mark.slow
def test_run_time_is_fitted_with_that_policy_and_judged_on_what_was_held_out(found: Calibration) -> None:
    program = found.run_time["alltoall 4x1"]
    assert (program.node_count, program.rank_count, program.configuration_count) == (4, 4, 16)
    assert program.link == "n01-n02"
    assert program.miwa is not None
    assert program.wakes is not None
    assert program.rounds is not None
    assert math.isfinite(program.miwa.plateau_us.high)
    for model in (program.miwa, program.wakes, program.rounds):
        assert model.error is not None
        assert model.error.held_out
        assert model.error.configuration_count == 16
    assert program.wakes.error is not None
    assert program.wakes.error.mean_percent < 1


@pytest.mark.slow
def test_models_that_explain_nothing_are_reported_and_not_stored(
    found: Calibration, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """EEE was asked for, but no link slept in the program: run times scatter alike."""
    run = write_run(tmp_path / "runs", functools.partial(write_alltoall, effect=0.0))
    links, both = tmp_path / "links.yaml", tmp_path / "both.yaml"
    save_calibration(links, found.model_copy(update={"run_time": {}}))
    assert eeectl(["fit", str(run), "--with", str(links), "-o", str(both)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert load_calibration(both).run_time == {}
    for model in ("Miwa's model", "gaps and wakes", "replayed rounds"):
        assert f"alltoall 4x1, {model}:" in printed


@pytest.mark.slow
def test_provenance_is_printed(found: Calibration, study: Path) -> None:
    assert (found.lab, found.lab_digest, found.runs) == ("virtual", "ab" * 32, (study.name,))
    assert "numpy" in found.versions


# -- power


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs"), StageRun(), name="power")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_sentences_about_a_fit_wrap_between_words(stages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    with contextlib.redirect_stdout(_Terminal()) as terminal:
        assert eeectl(["fit", str(stages), "--what", "power"]) == 0
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert any(line.startswith("    ") for line in lines), "what follows is indented"


def test_power_of_a_switch_from_a_runs_folder(stages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["fit", str(stages), "--what", "power", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    switch = printed["calibration"]["power"]["switches"]["sw1"]
    port = switch["port_by_mbps"]["1000"]
    for estimate, truth in (
        (switch["base_watt"], TRUTH.base),
        (port["enabled_watt"], TRUTH.enabled),
        (port["link_watt"], TRUTH.link),
        (port["lpi_fraction"], TRUTH.lpi_fraction),
        (port["residual_watt"], TRUTH.left),
        (switch["bit_picojoule"], TRUTH.bit),
        (switch["packet_nanojoule"], TRUTH.packet),
    ):
        assert estimate["low"] - 0.005 <= truth <= estimate["high"] + 0.005
    assert switch["family"] == "dell_powerconnect_55xx"
    assert printed["troubles"] == []


@pytest.mark.slow
def test_a_calibration_can_be_added_to(found: Calibration, study: Path, stages: Path, tmp_path: Path) -> None:
    first, both = tmp_path / "first.yaml", tmp_path / "both.yaml"
    assert eeectl(["fit", str(stages), "-o", str(first)]) == 0
    assert eeectl(["fit", str(study), "--what", "links", "--with", str(first), "-o", str(both)]) == 0
    merged = load_calibration(both)
    assert merged.runs == (stages.name, study.name)
    assert merged.links == found.links
    assert "sw1" in merged.power.switches


# -- what cannot be fitted


@pytest.fixture
def nothing(tmp_path: Path) -> Path:
    return write_run(tmp_path, name="nothing")


def test_a_run_without_trials_is_refused(nothing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["fit", str(nothing)]) == 1
    assert "measured nothing that can be fitted" in capsys.readouterr().err
    assert eeectl(["fit", str(nothing), "--what", "power"]) == 1
    assert "has trials of the kind power or idle" in capsys.readouterr().err


def test_a_requested_model_that_cannot_be_fitted_is_an_error(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["fit", str(study), "--what", "links", "--what", "power"]) == 1
    assert "power is fitted to" in " ".join(capsys.readouterr().out.split())


def test_invalid_arguments_are_reported_in_one_sentence(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["fit"]) == 1
    assert "name a run to fit" in capsys.readouterr().err
    assert eeectl(["fit", "nowhere"]) == 1
    assert "not a run's folder" in capsys.readouterr().err
    assert eeectl(["fit", str(study), "--accuracy-percent", "120"]) == 1
    assert "from 0 to below 100" in capsys.readouterr().err
    assert eeectl(["fit", str(study), "--what", "weather"]) == 2


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_fitted(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert eeectl(["fit", str(study), "-o", str(tmp_path / "no-such-folder" / "c.yaml")]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert "no-such-folder is not a folder, so c.yaml cannot be written: make it, or change -o." in printed.err
    assert eeectl(["fit", str(study), "-o", str(tmp_path)]) == 1
    assert "is a folder: name a file for the calibration" in capsys.readouterr().err
