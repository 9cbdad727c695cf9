"""A drawn lab's truth: that of a shipped lab, less families and devices that the new one does not have."""

import pytest

from eee_testbed.lab.folder import find_lab
from eee_testbed.twin.drawing.truth_text import truth_of
from eee_testbed.twin.truth.truth_file import load_truth

VIRTUAL = find_lab("virtual") / "twin" / "truth.yaml"


@pytest.mark.parametrize("family", ["dell_powerconnect_55xx", "netgear_m4300"])
def test_what_is_copied_is_unchanged(family: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("truth") / "truth.yaml"
    path.write_text(truth_of(VIRTUAL.read_text(encoding="utf-8"), [family]), encoding="utf-8")
    made, whole = load_truth(path), load_truth(VIRTUAL)
    assert made.switches.families == {family: whole.switches.families[family]}
    assert (made.nodes, made.strips, made.switches.overrides) == (whole.nodes, whole.strips, {})


def test_the_comments_of_what_is_copied_come_along() -> None:
    made = truth_of(VIRTUAL.read_text(encoding="utf-8"), ["netgear_m4300"])
    assert "# All invented." in made
    assert "Miwa" not in made


def test_a_family_that_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match=r"switches\.families\.cisco_ios"):
        truth_of(VIRTUAL.read_text(encoding="utf-8"), ["cisco_ios"])
