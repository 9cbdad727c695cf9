"""`eeectl fit` on run folders with known parameters, and its errors for runs that cannot be fitted."""

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.calibration import Calibration, load_calibration
from eeectl.cli import run as eeectl
from record.event_kinds import EventKind
from record.sample_tables import Batch
from tests.support.measured.power_bench import PORTS, STAGES, Stage, Truth
from tests.support.measured.synthetic_run import (
    HOLD_US,
    SLEEP_US,
    WAKE_US,
    Writer,
    write_alltoall,
    write_probe,
    write_run,
)

TRUTH = Truth(base=40.0, enabled=0.2, link=0.8, left=0.1)
NS = 1_000_000_000


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs"), write_probe, write_alltoall)


@pytest.fixture(scope="module")
def found(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    path = tmp_path_factory.mktemp("fit") / "calibration.yaml"
    assert eeectl(["fit", str(study), "-o", str(path)]) == 0
    return load_calibration(path)


def test_the_links_policy_is_that_of_the_echoes(found: Calibration) -> None:
    link = found.links["n01-n02"]
    assert link.kind == "hold"
    assert link.hold_us is not None
    assert link.sleep_us is not None
    assert link.wake_us is not None
    assert link.card_wake_us is not None  # unknown whether cards sleep
    assert link.hold_us.value == pytest.approx(HOLD_US, rel=0.03)
    assert link.sleep_us.value == pytest.approx(SLEEP_US, rel=0.1)
    assert 2 * (link.wake_us.value + link.card_wake_us.value) == pytest.approx(2 * WAKE_US, rel=0.05)
    for found_us, truth_us in ((link.hold_us, HOLD_US), (link.sleep_us, SLEEP_US), (link.wake_us, WAKE_US)):
        assert found_us.low * 0.99 <= truth_us <= found_us.high * 1.01
    assert link.lost_count == 1
    assert link.symptoms == ()
    assert len(link.ends) == 2


def test_run_time_is_fitted_with_that_policy_and_judged_on_what_was_held_out(found: Calibration) -> None:
    program = found.run_time["alltoall 4x1"]
    assert (program.node_count, program.rank_count, program.configuration_count) == (4, 4, 16)
    assert program.link == "n01-n02"
    assert program.miwa is not None
    assert program.wakes is not None
    assert program.rounds is not None
    for model in (program.miwa, program.wakes, program.rounds):
        assert model.error is not None
        assert model.error.held_out
        assert model.error.configuration_count == 16
    assert program.wakes.error is not None
    assert program.wakes.error.mean_percent < 8  # half of these gaps are a twentieth longer than what made the times


def test_provenance_is_printed(found: Calibration, study: Path) -> None:
    assert (found.lab, found.lab_digest, found.runs) == ("virtual", "ab" * 32, (study.name,))
    assert "numpy" in found.versions


# -- power


def _write_stages(writer: Writer) -> None:
    """Nine stages in four blocks at sw1, without LPI counters: windows with EEE count as asleep."""
    random, sent = np.random.default_rng(3), {"byte": 0.0, "frame": 0.0}
    for block in range(4):
        order = list(STAGES) if block == 0 else [STAGES[n] for n in random.permutation(len(STAGES))]
        for stage in order:
            _settings(writer, stage)
            begun_ns, ended_ns = writer.write({"stage": stage.name}, 20.0, what="power", hosts=())
            writer.watts(begun_ns - 2 * NS, ended_ns + 2 * NS, _watt(stage))
            _samples(writer, stage, begun_ns, ended_ns, sent)


def _watt(stage: Stage) -> float:
    port = TRUTH.enabled + TRUTH.link
    watt = TRUTH.base + TRUTH.enabled * stage.enabled + TRUTH.link * stage.up + TRUTH.left * stage.left
    watt -= stage.asleep * port * (1 - TRUTH.lpi_fraction)
    return watt + TRUTH.bit * 1e-12 * stage.rate_bps + TRUTH.packet * 1e-9 * stage.rate_pps


def _settings(writer: Writer, stage: Stage) -> None:
    ports = {
        f"gi1/0/{n}": {"admin_up": n <= stage.enabled, "speed_mbps": None, "eee": stage.asleep > 0, "hold_us": None}
        for n in range(1, PORTS + 1)
    }
    writer.run.event(EventKind.PORTS_SET, time_ns=writer.now_ns, ports={"sw1": ports})


def _samples(writer: Writer, stage: Stage, from_ns: int, to_ns: int, sent: dict[str, float]) -> None:
    for tick, due_ns in enumerate(range(from_ns + NS // 2, to_ns, 2 * NS)):
        sent["byte"] += 2 * stage.rate_bps / 8
        sent["frame"] += 2 * stage.rate_pps
        zero = [0] * PORTS
        columns = {
            "switch": "sw1",
            "tick": tick,
            "due_ns": due_ns,
            "sent_ns": due_ns,
            "received_ns": due_ns + 1_000_000,
            "port": [f"gi1/0/{n}" for n in range(1, PORTS + 1)],
            "up": [n <= stage.up for n in range(1, PORTS + 1)],
            "rate_mbps": [1000 if n <= stage.up else 0 for n in range(1, PORTS + 1)],
            "out_byte": [round(sent["byte"]), *zero[1:]],
            "out_unicast_frame": [round(sent["frame"]), *zero[1:]],
            "out_multicast_frame": zero,
            "out_broadcast_frame": zero,
            "mark": "",
        }
        writer.run.append(Batch("ports", PORTS, columns))


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs"), _write_stages, name="power")


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
