"""Links by the name of a PHY: cycles from the standard's times, and a sentence where it gives none."""

from pathlib import Path
from typing import Any

import pytest
from eee_engine import phy_profiles

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.simulation.description import Links
from eee_testbed.simulation.description_file import read_description
from eee_testbed.simulation.standard_links import LINKS, WrongLink, with_times
from eee_testbed.simulation.studies.expand import cases_of
from eee_testbed.simulation.studies.study import read_study
from tests.support.studies import TINY, tiny


def links_of(gbps: float, **given: Any) -> dict[str, Any]:
    """Of flits of 16 bytes at a rate."""
    found: dict[str, Any] = with_times({"programs": {"cycle_ns": 128 / gbps, "flit_byte": 16}, "links": given})["links"]
    return found


def test_every_row_is_a_profile_of_that_rate_or_says_what_is_missing() -> None:
    for name, link in LINKS.items():
        profile = phy_profiles().get(name)
        assert (profile is not None) is link.timed, name
        if profile is None:
            assert link.lacks, name
        else:
            assert profile["speed_mbps"] == 1000 * link.gbps
            assert bool(link.lacks) is not bool(profile["sleep_us"]), name


def test_deep_sleep_of_copper_at_100_gbps() -> None:
    found = links_of(100, phy="100GBASE-KR4", mode="deep", hold_us=1.1, ends_sleep=True)
    times = {"hold": 859, "sleep": 703, "quiet": 1_328_125, "refresh": 4609, "wake": 4297, "wake_during_sleep": 4297}
    assert Links.model_validate(found) == Links.model_validate({"mode": "deep", "ends_sleep": True} | times)


def test_fast_wake_takes_the_same_time_at_every_rate() -> None:
    cycles = [links_of(LINKS[name].gbps, phy=name, mode="fast")["fast_wake"] for name in ("100GBASE-R", "400GBASE-R")]
    assert cycles == [266, 1062]
    hybrid = links_of(100, phy="100GBASE-KR4", mode="hybrid", hold_us=1, deep_after_us=10)
    assert (hybrid["fast_wake"], hybrid["deep_after"], hybrid["wake"]) == (266, 7812, 4297)


def test_without_a_mode_links_never_sleep() -> None:
    assert links_of(800, phy="800GBASE-R") == {}


@pytest.mark.parametrize(
    ("gbps", "given", "place", "sentence"),
    [
        (800, {"phy": "800GBASE-R", "mode": "fast"}, "links.phy", "has no times of sleep .802.3-2022 ends at 400"),
        (128, {"phy": "128G", "mode": "fast"}, "links.phy", "no rate of 128 Gb/s"),
        (400, {"phy": "400GBASE-R", "mode": "deep"}, "links.mode", "400GBASE-R has no deep sleep.*; write mode: fast"),
        (10, {"phy": "10GBASE-T", "mode": "fast"}, "links.mode", "10GBASE-T has no fast wake"),
        (100, {"phy": "400GBASE-R", "mode": "fast"}, "links.phy", "has 400 Gb/s, and 16 bytes in 1.28 ns are 100 Gb/s"),
        (100, {"phy": "100GBASE-X"}, "links.phy", "there is no PHY 100GBASE-X; write one of 25GBASE-KR, "),
        (100, {"phy": ["100GBASE-R"]}, "links.phy", "there is no PHY"),
        (100, {"phy": "100GBASE-R", "hold": 5}, "links.hold", "is not a key beside phy"),
        (100, {"phy": "100GBASE-R", "mode": "fast", "hold_us": -1}, "links.hold_us", "-1 is not a time"),
        (100, {"phy": "100GBASE-R", "mode": "fast", "hold_us": 10**400}, "links.hold_us", "0 is not a time"),
    ],
)
def test_what_the_standard_does_not_give_is_said(gbps: float, given: Any, place: str, sentence: str) -> None:
    with pytest.raises(WrongLink, match=sentence) as found:
        links_of(gbps, **given)
    assert found.value.place == place


def test_a_mistake_in_a_file_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(
        "name: one\nnetwork: {kind: torus, radix: [4]}\nrouting: dor\nloads: [0.1]\n"
        "links:\n  phy: 100GBASE-R\n  mode: fast\n",
        encoding="utf-8",
    )
    with pytest.raises(ExperimentError, match=r"one.yaml:6: links.phy: needs programs with cycle_ns and flit_byte"):
        read_description(file)


def test_a_study_names_the_case_whose_links_do_not_fit(tmp_path: Path) -> None:
    text = TINY.replace("{mode: deep, hold: 1000", "{phy: 200GBASE-R, mode: deep, hold: 1000")
    with pytest.raises(ExperimentError, match=r"network ring, program stencil, links deep: links.hold: is not a key"):
        cases_of(read_study(tiny(tmp_path, text)), tmp_path, whole=True)
