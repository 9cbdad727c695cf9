"""What is true of a device: what the shipped files say, with overrides merged key by key."""

from pathlib import Path

import pytest

from eee_testbed.twin.truth.truth import StripTruth, SupplyTruth, Truth, TruthError
from eee_testbed.twin.truth.truth_file import load_truth
from tests.support import ROOT
from tests.support.truth_draw import random_truth

INVENTORY = ROOT / "inventory"
DELL, NETGEAR = "dell_powerconnect_55xx", "netgear_m4300"

SMALL = """
seed: 7
switches:
  families:
    dell_powerconnect_55xx:
      interruption_s: {100: 1.5, 1000: 2.5}
      power:
        base_watt: 10.0
        port: {up_watt: {100: 0.2, 1000: 0.6}}
        supply: {capacity_watt: 50.0}
  overrides:
    sw2: {power: {port: {up_watt: {1000: 0.9}}}}
nodes:
  defaults:
    power:
      idle_watt: 40.0
      full_watt: 90.0
      nic: {up_watt: {1000: 0.8}}
      supply: {capacity_watt: 300.0}
  overrides:
    n02: {eee_capable: false}
strips:
  overrides:
    pdu1: {noise_watt: 0.5}
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "truth.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("lab", ["virtual", "miwa", "koibuchi"])
def test_shipped_truths_are_read(lab: str) -> None:
    truth = load_truth(INVENTORY / lab / "twin" / "truth.yaml")
    assert truth.switch("sw1", DELL).power.base_watt > 0


def test_miwa_lab_has_the_timing_of_the_paper() -> None:
    timing = load_truth(INVENTORY / "miwa" / "twin" / "truth.yaml").switch("sw1", DELL).lpi.timing()
    assert (timing["hold_us"], timing["sleep_us"], timing["wake_us"]) == (1000.0, 182.0, 60.0)


def test_families_differ_in_the_virtual_lab() -> None:
    truth = load_truth(INVENTORY / "virtual" / "twin" / "truth.yaml")
    assert truth.switch("sw1", DELL).lpi.hold_us != truth.switch("sw5", NETGEAR).lpi.hold_us


def test_overrides_are_merged_key_by_key(tmp_path: Path) -> None:
    truth = load_truth(write(tmp_path, SMALL))
    assert truth.switch("sw2", DELL).power.port.up_watt == {100: 0.2, 1000: 0.9}
    assert truth.switch("sw1", DELL).power.port.up_watt == {100: 0.2, 1000: 0.6}
    assert not truth.node("n02").eee_capable
    assert truth.node("n02").power == truth.node("n01").power
    assert truth.strip("pdu1", "gude") == StripTruth(noise_watt=0.5)
    assert truth.unknown_overrides(switches={"sw1"}, nodes={"n02"}, strips=set()) == [
        "switches.overrides.sw2",
        "strips.overrides.pdu1",
    ]


def test_an_unknown_family_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(TruthError, match="it has dell_powerconnect_55xx"):
        load_truth(write(tmp_path, SMALL)).switch("sw1", NETGEAR)


def test_a_supply_whose_input_falls_with_load_is_refused() -> None:
    with pytest.raises(ValueError, match="would draw less AC power"):
        SupplyTruth(capacity_watt=100, efficiency=((0.1, 0.3), (0.2, 0.9)))


def test_drawn_truths_repeat_and_differ() -> None:
    assert random_truth(5) == random_truth(5)
    drawn = {random_truth(seed).model_dump_json() for seed in range(50)}
    assert len(drawn) == 50
    assert Truth.model_validate_json(random_truth(5).model_dump_json()) == random_truth(5)
