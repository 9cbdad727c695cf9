"""What-if questions are parsed correctly or refused in one sentence."""

import math

import pytest
from eee_engine import phy_profiles

from eee_testbed.analysis.predict.what_if import PHYS, WhatIf, parse_what_if
from eee_testbed.lab.errors import LabError


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("off", {"mode": "off"}),
        ("measured", {"mode": "measured"}),
        ("deep,hold_us=12.5", {"mode": "deep", "hold_us": 12.5}),
        ("fast, hold_us=0, phy=100GBASE-R", {"mode": "fast", "hold_us": 0.0, "phy": "100GBASE-R"}),
        ("hybrid,hold_us=1,deep_after_us=10", {"mode": "hybrid", "hold_us": 1.0, "deep_after_us": 10.0}),
        ("coalescing,wait_us=100", {"mode": "coalescing", "wait_us": 100.0}),
        ("deep,sleep_waits=no", {"mode": "deep", "sleep_waits": False}),
        ("measured,sleep_waits=no", {"mode": "measured", "sleep_waits": False}),
        ("deep,sleep_waits=yes", {"mode": "deep", "sleep_waits": True}),
        ("off_links=sw1:gi1/0/23+5", {"mode": "off", "off_links": ("sw1:gi1/0/23", "5")}),
        ("measured,speed_mbps=100", {"mode": "measured", "speed_mbps": 100}),
    ],
)
def test_questions(text: str, wanted: dict[str, object]) -> None:
    assert parse_what_if(text) == WhatIf(text, **wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("deeper", "is not a mode"),
        ("deep,hold=3", "is not a valid setting"),
        ("deep,hold_us=-1", "is not a time"),
        ("deep,hold_us=inf", "is not a time"),
        ("deep,hold_us=x", "is not a time"),
        ("off,hold_us=3", "off has no hold_us"),
        ("measured,wait_us=3", "measured has no wait_us"),
        ("fast,deep_after_us=3", "fast has no deep_after_us"),
        ("hybrid,hold_us=1", "deep_after_us=10"),
        ("coalescing", "wait_us=100"),
        ("deep,phy=1000BASE-X", "is not a known PHY"),
        ("fast,phy=1000BASE-T", "has no fast wake"),
        ("speed_mbps=99", "is not a speed"),
        ("deep,sleep_waits=maybe", "neither yes nor no"),
        ("off,sleep_waits=no", "off has no Ts"),
        ("fast,sleep_waits=no", "fast has no Ts"),
    ],
)
def test_invalid_ones_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(LabError, match=sentence):
        parse_what_if(text)


@pytest.mark.parametrize("name", PHYS)
def test_a_phy_has_the_times_of_the_engines_profile(name: str) -> None:
    phy = PHYS[name]
    profile = phy_profiles()[phy.profile]
    assert (phy.sleep_us, phy.wake_us) == (profile["sleep_us"], profile["wake_us"])
    assert (0.0 if math.isnan(phy.fast_wake_us) else phy.fast_wake_us) == profile["fast_wake_us"]
    assert (0.0 if math.isinf(phy.quiet_us) else phy.quiet_us, phy.refresh_us) == (
        profile["quiet_us"],
        profile["refresh_us"],
    )
