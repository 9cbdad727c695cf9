"""What a probe records of EEE before it, and says."""

import json
from pathlib import Path

from analysis.links.probed_path import EEE_FILE, probed_path
from controller.experiments.probing import eee_sentence, note_eee
from lab.folder import find_lab, load_lab

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
