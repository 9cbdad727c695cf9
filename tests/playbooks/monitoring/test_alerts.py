"""Alert rules: each fires on what `eeectl watch` warns of, and is quiet otherwise; judged by Prometheus' own tool."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support.ansible_play import PLAYBOOKS
from tests.support.needs import needs

RULES = PLAYBOOKS / "roles" / "monitoring" / "files" / "prometheus" / "eee-testbed.rules.yml"
_LINK = 'link="sw1:1--sw2:1",kind="trunk"'
_INFO = {
    f'eee_link_info{{lab="l",switch="sw1",port="1",end="a",{_LINK}}}': "1x200",
    f'eee_link_info{{lab="l",switch="sw2",port="1",end="b",{_LINK}}}': "1x200",
}
_METER = 'eee_outlet_power_watts{lab="l",strip="pdu1",outlet="1",feeds="sw1"}'
_STRIP = 'eee_source_up{lab="l",source="pdu1",kind="strip"}'
_SAMPLED = 'eee_source_last_sample_timestamp_seconds{lab="l",source="sw1",kind="switch"}'
_POLLS = 'eee_polls_total{lab="l",source="sw1",kind="switch",outcome="missed"}'
_UP = 'eee_port_up{{lab="l",switch="sw{}",port="1"}}'
_ACTUATION = 'eee_actuation_timestamp_seconds{lab="l",what="link",link="sw1:1--sw2:1",after="off"}'
_FRAMES = 'eee_port_{}_frames_total{{lab="l",switch="sw1",port="1",direction="receive"}}'
_RUN = 'eee_run_info{lab="l",run="r1",experiment="e",state="running"}'
_LOST = {_FRAMES.format("discarded"): "0x40 3x160", _FRAMES.format("error"): "0x200"}

# (alert, series with a value each 5 s, whether it fires 250 s after the start)
_CASES: list[tuple[str, dict[str, str], bool]] = [
    ("EeeSourceFails", {_STRIP: "0x200"}, True),
    ("EeeSourceFails", {_STRIP: "1x200"}, False),
    ("EeeSourceSilent", {_SAMPLED: "100x200"}, True),
    ("EeeSourceSilent", {_SAMPLED: "0+5x200"}, False),
    ("EeePollsMissed", {_POLLS: "0+1x200"}, True),
    ("EeePollsMissed", {_POLLS: "7x200"}, False),
    ("EeeMeterStopped", {_METER: "40x30 stale", _STRIP: "1x200"}, True),
    ("EeeMeterStopped", {_METER: "40x30 stale", _STRIP: "0x200"}, False),  # the strip is silent: another alert says so
    ("EeeMeterStopped", {_METER: "40x200", _STRIP: "1x200"}, False),
    ("EeeLinkUpAtOneEnd", {**_INFO, _UP.format(1): "1x200", _UP.format(2): "0x200"}, True),
    ("EeeLinkUpAtOneEnd", {**_INFO, _UP.format(1): "0x200", _UP.format(2): "0x200"}, False),
    ("EeeLinkWentDown", {**_INFO, _UP.format(1): "1x40 0x4 1x150", _UP.format(2): "1x200"}, True),
    ("EeeLinkWentDown", {**_INFO, _UP.format(1): "1x40 0x4 1x150", _ACTUATION: "200x200"}, False),  # it was set down
    ("EeeLinkWentDown", {**_INFO, _UP.format(1): "0x40 1x160"}, False),  # it came up
    ("EeeFramesLost", _LOST, True),
    ("EeeFramesLost", {**_LOST, _FRAMES.format("discarded"): "3x200"}, False),
    ("EeeRunSilent", {_RUN: "1x200", _SAMPLED: "100x200"}, True),
    ("EeeRunSilent", {_RUN: "1x200", _SAMPLED: "0+5x200"}, False),
]


def _rules() -> list[dict[str, Any]]:
    groups = YAML(typ="safe").load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_alert_is_tried_in_both_ways() -> None:
    for rule in _rules():
        assert {fires for name, _, fires in _CASES if name == rule["alert"]} == {True, False}, rule["alert"]
        assert rule["labels"]["severity"] in {"bad", "odd"}
        assert rule["annotations"]["summary"]


def _firing(series: dict[str, str], alert: str, folder: Path) -> bool:
    """Whether the alert fires: promtool's tests state what is expected, so it is asked whether none is."""
    test = {
        "interval": "5s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": "250s", "alertname": alert, "exp_alerts": []}],
    }
    file = folder / "test.yml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "5s", "tests": [test]}))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, timeout=60, check=False)
    assert "exp:[]" in done.stdout + done.stderr or done.returncode == 0, done.stdout + done.stderr
    return done.returncode != 0


@pytest.mark.parametrize(("alert", "series", "fires"), _CASES)
def test_an_alert_fires_on_its_condition_only(
    alert: str, series: dict[str, str], *, fires: bool, tmp_path: Path
) -> None:
    needs("promtool")
    assert _firing(series, alert, tmp_path) is fires
