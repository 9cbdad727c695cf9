"""`eeectl plan`: what it prints, its exit status, its refusals."""

import json
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from tests.support import ROOT

INVENTORY = ROOT / "inventory"


def _plan(*words: str) -> int:
    return run(["plan", *words, "--start", "factory"])


def test_the_summary_shows_vlans_paths_entries_and_the_assumed_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert _plan(str(INVENTORY / "koibuchi")) == 3
    out = capsys.readouterr().out
    assert "assumed, nothing was observed" in out
    assert "6 VLANs; switches between two hosts: 1.83 on average" in out
    assert "VLANs at once, the default one included: 7 o" in out
    assert "static entries: 110 o" in out
    assert "nothing was sent" in out
    assert len(out.splitlines()) < 40


def test_json_holds_every_step_and_is_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert _plan(str(INVENTORY / "virtual"), "--policy", "one", "--roots", "sw2", "--json") == 3
    text = capsys.readouterr().out
    made = json.loads(text)
    assert [vlan["switches"] for vlan in made["vlans"]] == [[f"sw{n}" for n in range(1, 7)]]
    assert round(made["paths"]["mean_switches"], 2) == 2.39
    stages = [step["stage"] for step in made["steps"]]
    assert stages == sorted(stages, key=["wake", "move", "sleep"].index)
    assert {step["kind"] for step in made["steps"]} == {"port", "vlan", "stp"}
    moved = [step for step in made["steps"] if step["stage"] == "move"]
    assert [(step["before"], step["after"]) for step in moved] == [({"pvid": 1}, {"pvid": 11})] * 12
    _plan(str(INVENTORY / "virtual"), "--policy", "one", "--roots", "sw2", "--json")
    assert capsys.readouterr().out == text


def test_every_step_has_a_line_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert _plan(str(INVENTORY / "miwa"), "--every-step") == 3
    out = capsys.readouterr().out
    assert "sw1 VLAN 11: create" in out
    assert "sw1:gi1/0/1: pvid 1 -> 11; move a host's frames to their new tree; hitless" in out


def test_a_link_kept_off_is_in_no_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert _plan(str(INVENTORY / "virtual"), "--off", "sw1:gi1/0/11", "--json") == 3
    made = json.loads(capsys.readouterr().out)
    assert made["off"] == ["sw1:gi1/0/11--sw2:gi1/0/11"]
    assert all(made["off"][0] not in vlan["links"] for vlan in made["vlans"])


def test_hand_written_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trees.yml"
    links = [f"sw1:gi1/0/{number}" for number in (11, 13, 15, 17, 19)]
    switches = [f"sw{number}" for number in range(1, 7)]
    file.write_text(json.dumps({"trees": [{"switches": switches, "links": links}]}), encoding="utf-8")
    assert _plan(str(INVENTORY / "virtual"), "--policy", "file", "--trees", str(file), "--json") == 3
    made = json.loads(capsys.readouterr().out)
    assert [len(vlan["links"]) for vlan in made["vlans"]] == [5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("trees: [{switches: [sw1], links: [nowhere]}]", "has no link 'nowhere'"),
        ("trees: [{switches: [sw1]}]", "trees.0.links"),
        ("trees: [", "is not YAML"),
        ("trees: [{switches: [sw1], links: [], root: sw1}]", "trees.0.root"),
    ],
)
def test_wrong_files_of_trees_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    file = tmp_path / "trees.yml"
    file.write_text(text, encoding="utf-8")
    assert _plan(str(INVENTORY / "virtual"), "--policy", "file", "--trees", str(file)) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policy", "file"], "--trees FILE"),
        (["--roots", "sw1"], "leave --roots out"),
        (["--policy", "one", "--roots", "sw1", "sw2"], "one root"),
        (["--policy", "star"], "roots have to be"),
        (["--off", "sw1:gi1/0/1"], "host's only link"),
        (["--off", "sw9:gi1/0/1"], "no link 'sw9:gi1/0/1'"),
        (["--management", "sw1"], "invalid in-band management"),
        (["--management", "sw1:9999"], "invalid in-band management"),
        (["--trees-per-switch", "0"], "at least one tree"),
        (["--policy", "file", "--trees", "/nonexistent"], "No such file"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert _plan(str(INVENTORY / "virtual"), *options) == 1
    assert words in capsys.readouterr().err
