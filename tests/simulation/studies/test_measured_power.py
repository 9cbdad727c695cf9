"""Which switch, link and node of a calibration a study takes, and what it says about it."""

import shutil
from pathlib import Path

import pytest

from eee_testbed.analysis.calibration import load_calibration, save_calibration
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.studies.measured_power import read_power
from tests.support import ROOT

CALIBRATION = ROOT / "tests" / "support" / "releases" / "0.1.0" / "calibration.yaml"
LINK = "path n01 - n02"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A calibration with a second switch and a second link."""
    found = load_calibration(CALIBRATION)
    (switch,), (policy,) = found.power.switches.values(), found.links.values()
    other = switch.model_copy(update={"base_watt": switch.base_watt.model_copy(update={"value": 39.9})})
    power = found.power.model_copy(update={"switches": {"sw1": switch, "sw2": other}})
    links = {LINK: policy, "path a:1 - b": policy.model_copy(update={"kind": "off"})}
    path = tmp_path / "two.yaml"
    save_calibration(path, found.model_copy(update={"power": power, "links": links}))
    return path


def test_the_first_switch_and_link_are_taken_unless_others_are_named(two: Path) -> None:
    first = read_power(str(two))
    assert (first.switch_name, first.link_name, first.node_name) == ("sw1", LINK, "n01")
    assert first.others == ("switch sw2", "links of path a:1 - b")
    second = read_power(f"{two}:sw2")
    assert (second.switch_name, second.switch.base_watt.value, second.link_name) == ("sw2", 39.9, LINK)
    other = read_power(f"{two}::path a:1 - b")
    assert (other.switch_name, other.link_name, other.policy) == ("sw1", "path a:1 - b", None)
    assert read_power(f"{two}:sw2:{LINK}").policy == first.policy


def test_what_was_taken_is_said_with_intervals(two: Path) -> None:
    said = read_power(f"{two}:sw2").taken()
    assert said.startswith("Taken from two.yaml: switch sw2, base 39.90 W (39.80 to 40.20); links of path n01 - n02, ")
    assert "1000.0 us (995.0 to 1005.0)" in said
    assert "node n01, idle 150.0 W (147.0 to 153.0), busy 250.0 W (245.0 to 255.0)" in said
    assert said.endswith("Not taken: switch sw1, links of path a:1 - b.")


def test_a_file_may_have_colons_in_its_name(tmp_path: Path) -> None:
    path = Path(shutil.copy(CALIBRATION, tmp_path / "10:30.yaml"))
    assert read_power(f"{path}:sw1").file == str(path)


@pytest.mark.parametrize(
    ("rest", "sentence"),
    [(":sw9", "has no switch 'sw9': use one of sw1, sw2"), (":sw1:nowhere", "has no link 'nowhere': use one of path")],
)
def test_unknown_names_are_refused_with_those_that_there_are(two: Path, rest: str, sentence: str) -> None:
    with pytest.raises(LabError, match=sentence):
        read_power(f"{two}{rest}")


def test_a_missing_file_is_named_without_what_follows_it(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"none\.yaml(?!:sw1)"):
        read_power(f"{tmp_path / 'none.yaml'}:sw1")
