"""Methods in sentences, from what a run's folder says; what it does not say is named."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.analysis.report.methods import methods
from eee_testbed.analysis.report.report_data import read_report_data
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.store import Run
from tests.support.measured.synthetic_run import Writer, write_alltoall, write_run


def _text(folder: Path) -> str:
    return methods(read_report_data([folder], None, "")).text


def _with_facts(root: Path, experiment: Mapping[str, Any], **facts: Any) -> Path:
    with Run.create(root, "study", {"lab": "elsewhere", "experiment": experiment, **facts}) as run:
        writer = Writer(run)
        header = {"kind": "header", "node": {"name": "n01", "kernel": "5.10.0-node"}}
        files = {"gaps-n01.jsonl": f"{json.dumps(header)}\n"}
        writer.write({"eee": "on"}, 1.0, files=files, program="p", hosts=("n01", "n02"))
        writer.write({"eee": "on"}, 1.0, state="invalid", program="p", hosts=("n01", "n02"))
        run.event(EventKind.TRIAL_NOTE, trial=0, note="from this trial on, lab time runs at 1/50 of real time.")
    return run.folder


def test_lab_design_counts_and_clocks_are_sentences(tmp_path: Path) -> None:
    text = _text(write_run(tmp_path, write_alltoall))
    for part in (
        "The lab was virtual: 6 switches (4 PowerConnect 5524 and 2 M4300-28G), 12 hosts at 1,000 Mb/s, 42 cables.",
        "alltoall ran on n01, n02, n03 and n04 with 1 rank each (iterations 1000).",
        "Varied were eee (on, off), trunks (on, off) and uplink (on, off).",
        "3 blocks have every combination once, each in a random order of its own (seed 1).",
        "n = 96 trials count; 1 more do not",
        "1 meter measured power, with a new value every ",
        "sw1 within 2.4 ms and pdu1 within 80 ms.",
        "Intervals are 95 %.",
    ):
        assert part in text


def test_hosts_kernels_and_lab_time_are_told_and_what_is_not_known(tmp_path: Path) -> None:
    experiment = {"name": "x", "blocks": 2, "repetitions": 3, "slow": ["eee"], "settle_s": 1.5}
    text = _text(_with_facts(tmp_path, experiment, versions={"eee-testbed": "0.1.0", "kernel": "6.1", "commit": "v1"}))
    assert "elsewhere, whose inventory is not on this machine" in text
    assert "Kernel of the hosts: 5.10.0-node (n01)." in text
    assert "lab time runs at 1/50 of real time." in text
    assert "2 blocks have every combination 3 times" in text
    assert "Measured with eee-testbed 0.1.0, commit v1" in text
    assert "do not say the version of the MPI library and the switches' firmware: note them yourself." in text
    assert "No meter measured power." in text


def test_the_firmware_that_switches_said_is_told(tmp_path: Path) -> None:
    said = {"model": "M4300-28G", "firmware": "12.0.19.6"}
    switches = {
        "sw1": {"model": "", "firmware": "4.1"},
        "sw2": said,
        "sw3": said,
        "sw4": {"model": "X", "firmware": ""},
    }
    text = _text(_with_facts(tmp_path, {"name": "x"}, switches=switches))
    assert "Firmware of the switches: 4.1 (sw1); M4300-28G 12.0.19.6 (sw2 and sw3)." in text
    assert "the switches' firmware" not in text


def test_a_firmware_that_changed_before_a_run_was_resumed_is_told_with_its_time(tmp_path: Path) -> None:
    old, new = {"model": "M4300-28G", "firmware": "12.0.19.6"}, {"model": "M4300-28G", "firmware": "12.0.20.1"}
    changed = [{"time_ns": 1_795_833_164_854_609_556, "switches": {"sw2": new}}, "damaged"]
    text = _text(_with_facts(tmp_path, {"name": "x"}, switches={"sw2": old}, switches_changed=changed))
    assert "Firmware of the switches: M4300-28G 12.0.19.6 (sw2)." in text
    assert "From 2026-11-28 02:32 UTC on, sw2 said 12.0.20.1." in text


@pytest.mark.parametrize(
    "measure",
    [
        {"program": {"name": "p", "hosts": 3, "parameters": {"words": 7}}},
        {"probe": {"gap_us": ["a", None], "count": 5}},
        {"idle": {"window_s": "long"}},
        {"power": []},
    ],
)
def test_a_strangers_experiment_is_read_as_far_as_it_can_be(tmp_path: Path, measure: Mapping[str, Any]) -> None:
    experiment = {"name": "x", "measure": measure, "slow": 5, "settle_s": "x", "sampling": {"period_s": []}}
    assert "Intervals are 95 %." in _text(_with_facts(tmp_path, experiment))
