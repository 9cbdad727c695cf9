"""What a probe records of EEE before it, and says; and what a stream beside it does to its path."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from eee_testbed.analysis.links.probed_path import EEE_FILE, probed_path
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.measuring.experiments.awake_stream import STREAM_FILE, AwakeStream
from eee_testbed.measuring.experiments.experiment import ProbeRun
from eee_testbed.measuring.experiments.probing import eee_sentence, note_eee

SHOWN = {
    "sw1:gi1/0/1": {"enabled": True, "active": True, "hold_us": 1000},
    "sw1:gi1/0/2": {"enabled": True, "active": False, "hold_us": None},
}


def test_what_switches_showed_is_in_the_trials_folder(tmp_path: Path) -> None:
    note_eee(tmp_path / "0000", SHOWN)
    assert json.loads((tmp_path / "0000" / EEE_FILE).read_text()) == SHOWN


def test_the_sentence_names_links_on_which_eee_is_in_force_and_others() -> None:
    lab = load_lab(find_lab("virtual"))
    said = eee_sentence(probed_path(lab, ("n01", "n02"), SHOWN))
    first, second = said.split(" and ")
    assert "n01" in first
    assert "EEE is in force on" in first
    assert "n02" in second
    assert "not in force on" in second
    assert eee_sentence(probed_path(lab, ("n01", "n02"), {})) == ""


@pytest.mark.parametrize(("name", "pair", "awake"), [("miwa", ("n01", "n02"), 2), ("virtual", ("n01", "n03"), 2)])
def test_a_stream_to_both_hosts_keeps_the_last_ports_on_the_way_to_them_awake(
    name: str, pair: tuple[str, str], awake: int
) -> None:
    lab = load_lab(find_lab(name))
    plain, beside = (probed_path(lab, pair, {}, streamed=streamed).transmitters for streamed in (False, True))
    assert [one.end for one in plain] == [one.end for one in beside]
    changed = [after for before, after in zip(plain, beside, strict=True) if before != after]
    assert len(changed) == awake
    homes = {str(end) for link in lab.links for end in (link.a, link.b) if link.other(end.device).device in pair}
    for one in changed:
        assert (one.card, one.may_sleep) == (False, False)
        assert one.end in homes


def test_a_host_does_not_stream_to_itself() -> None:
    with pytest.raises(ValidationError, match="name a third one"):
        ProbeRun.model_validate({"from": "n01", "to": "n02", "stream_from": "n02"})


@pytest.mark.parametrize(
    ("rounds", "late", "refused", "words"),
    [(4000, 80, 0, ""), (4000, 81, 0, "late in 81 of 4000 rounds"), (4000, 0, 3, "could not send its stream")],
)
def test_a_stream_that_kept_nothing_awake_is_seen(
    tmp_path: Path, rounds: int, late: int, refused: int, words: str
) -> None:
    hosts = load_lab(find_lab("miwa")).hosts
    stream = AwakeStream(hosts[2], hosts[:2], 250.0, tmp_path)
    lines = [
        {"kind": "header", "agent": "keep_awake", "columns": [{"name": "refused"}]},
        {"kind": "rows", "rows": [[refused]]},
        {"kind": "summary", "ended_by": "SIGTERM", "rounds": rounds, "late": late},
    ]
    (tmp_path / STREAM_FILE).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert words in stream.why_late()
    assert bool(stream.why_late()) == bool(words)
