"""A node's power: idle, under load, and what its card saves asleep."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from eee_testbed.analysis.power.node_power import CardLink, NodeRun, node_power
from eee_testbed.analysis.power.plausible import most_port_watt
from eee_testbed.analysis.power.port_states import PortReader
from eee_testbed.analysis.power.power_windows import Meter
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import read_trials
from tests.support.measured.synthetic_run import Writer, write_run

NS = 1_000_000_000
PORT = "gi1/0/1"
FRAMES = [f"{cast}_frame" for cast in ("unicast", "multicast", "broadcast")]
COUNTED = [f"{way}_{name}" for way in ("in", "out") for name in ("byte", *FRAMES)]


@pytest.mark.parametrize("wrong_watt", [0.0, 95.0, 400.0])
def test_one_bad_window_of_a_node_is_left_out_and_reported(tmp_path: Path, wrong_watt: float) -> None:
    watts = [150.0, 150.3, 149.8, 150.1, wrong_watt, 149.9, 150.2]

    def write(writer: Writer) -> None:
        for watt in watts:
            begun_ns, ended_ns = writer.write({}, 20.0, what="idle", hosts=())
            writer.watts(begun_ns - 10**9, ended_ns + 10**9, watt, feeds="n01")

    folder = write_run(tmp_path, write, name="idle")
    found = node_power([NodeRun(Meter("n01", RunSamples(folder).power("pdu1", 1)), read_trials(folder))])
    assert found.idle_watt.interval.holds(150.05)
    assert found.idle_watt.interval.half_width < 0.5
    (sentence,) = found.warnings
    assert sentence.startswith("A window (idle) of")


@dataclass
class CardRun:
    """Windows of n01, whose card saves `saved_watt` asleep, on a drift; `eee` at its link, window by window."""

    eee: Sequence[bool]
    saved_watt: float = 0.7
    load_pps: float = 0.0
    drift_watt: float = 0.3
    noise_watt: float = 0.05
    seed: int = 1

    def __call__(self, writer: Writer) -> None:
        """Write all trials."""
        random = np.random.default_rng(self.seed)
        drift, frames = 0.0, 0
        for number, eee in enumerate(self.eee):
            drift = 0.9 * drift + float(random.normal(0, self.drift_watt * np.sqrt(1 - 0.81)))
            setting = {"admin_up": True, "speed_mbps": None, "eee": eee, "hold_us": None}
            writer.run.event(EventKind.PORTS_SET, time_ns=writer.now_ns, ports={"sw1": {PORT: setting}})
            begun_ns, ended_ns = writer.write({"eee": eee}, 20.0, what="power", hosts=())
            watt = 50.0 + drift - self.saved_watt * eee + float(random.normal(0, self.noise_watt))
            writer.watts(begun_ns - NS, ended_ns + NS, watt, feeds="n01")
            for tick, due_ns in enumerate(range(begun_ns + NS // 2, ended_ns, 2 * NS)):
                frames += round(2 * self.load_pps)
                counted = {"in_unicast_frame": frames, "in_byte": 1_000 * frames}
                columns = {
                    "switch": "sw1",
                    "tick": number * 100 + tick,
                    "due_ns": due_ns,
                    "sent_ns": due_ns,
                    "received_ns": due_ns + 1_000_000,
                    "port": [PORT],
                    "up": [True],
                    "rate_mbps": [1_000],
                    **{name: [counted.get(name, 0)] for name in COUNTED},
                    "mark": "",
                }
                writer.run.append(Batch("ports", 1, columns))


def _node_run(root: Path, run: CardRun, name: str = "power") -> NodeRun:
    samples = RunSamples(write_run(root, run, name=name))
    meter = Meter("n01", samples.power("pdu1", 1))
    return NodeRun(meter, read_trials(samples.folder), CardLink(PortReader(samples, "sw1"), PORT))


IN_TURNS = (True, False, False, True) * 4


@pytest.mark.slow
@pytest.mark.parametrize("saved_watt", [0.0, 0.7, 3.0])
def test_what_a_card_saves_asleep_is_found_beside_a_drift(tmp_path: Path, saved_watt: float) -> None:
    held = []
    for seed in range(12):
        found = node_power([_node_run(tmp_path / str(seed), CardRun(IN_TURNS, saved_watt, seed=seed))], 0.1)
        assert found.card_saved_watt is not None
        assert found.card_mbps == 1_000
        assert found.card_saved_watt.interval.half_width < 0.4
        held.append(found.card_saved_watt.interval.holds(saved_watt))
    assert sum(held) >= 10


def test_a_saving_that_is_lost_in_the_meter_is_refused(tmp_path: Path) -> None:
    found = node_power([_node_run(tmp_path, CardRun(IN_TURNS[:8], drift_watt=8.0, noise_watt=8.0))], 0.1)
    assert found.card_saved_watt is None
    (sentence,) = found.unknown
    assert "is lost in the meter's noise" in sentence
    assert f"at most {most_port_watt(1_000):g} W" in sentence


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (CardRun((True,) * 8), "no windows differ in it"),
        (CardRun(IN_TURNS[:3]), "too few"),
        (CardRun((False,) * 8, load_pps=5_000.0), "no window shows its link up and without traffic"),
    ],
)
def test_without_windows_that_show_it_the_reason_is_given(tmp_path: Path, run: CardRun, why: str) -> None:
    found = node_power([_node_run(tmp_path, run)], 0.1)
    assert found.card_saved_watt is None
    assert why in found.unknown[0]
    assert found.idle_watt.value == pytest.approx(49.7, abs=1.5)


def test_runs_are_fitted_together(tmp_path: Path) -> None:
    """One has EEE on, the other off: neither shows the saving alone."""
    runs = [_node_run(tmp_path, CardRun((name == "on",) * 8, drift_watt=0.0), name) for name in ("on", "off")]
    assert all(node_power([run], 0.1).card_saved_watt is None for run in runs)
    found = node_power(runs, 0.1).card_saved_watt
    assert found is not None
    assert found.value == pytest.approx(0.7, abs=0.1)
