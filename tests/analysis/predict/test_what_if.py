"""What-if questions are parsed correctly or refused in one sentence."""

import pytest

from analysis.predict.what_if import WhatIf, parse_what_if
from lab.errors import LabError


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("off", {"mode": "off"}),
        ("measured", {"mode": "measured"}),
        ("deep,hold_us=12.5", {"mode": "deep", "hold_us": 12.5}),
        ("fast, hold_us=0, phy=100GBASE-R", {"mode": "fast", "hold_us": 0.0, "phy": "100GBASE-R"}),
        ("hybrid,hold_us=1,deep_after_us=10", {"mode": "hybrid", "hold_us": 1.0, "deep_after_us": 10.0}),
        ("coalescing,wait_us=100", {"mode": "coalescing", "wait_us": 100.0}),
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
    ],
)
def test_invalid_ones_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(LabError, match=sentence):
        parse_what_if(text)
