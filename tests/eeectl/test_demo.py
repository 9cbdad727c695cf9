"""The table at the end of the demonstration."""

from typing import Any

from eee_testbed.eeectl.demo import _rows

_TRUTH: dict[str, Any] = {
    "timing": {
        "sw1": {"lpi": {"hold_us": 1000.0, "sleep_us": 182.0, "wake_us": 60.0}},
        "n01": {"lpi": {"wake_us": 16.5}},
        "n02": {"lpi": {"wake_us": None}},
    }
}


def _estimate(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 1.0, "high": value + 1.0}


def _policy(kind: str, *ends: str) -> dict[str, Any]:
    times = {name: _estimate(value) for name, value in (("hold_us", 1001), ("sleep_us", 180), ("path_wake_us", 153))}
    return {"kind": kind, "ends": list(ends), **times}


def test_the_path_over_one_switch_is_compared_with_the_truth() -> None:
    links = {
        "n01-n03": _policy("hold", "n01:eth0", "sw1:gi1/0/11", "sw2:gi1/0/1"),
        "n01-n02": _policy("hold", "n01:eth0", "sw1:gi1/0/1", "sw1:gi1/0/2"),
    }
    shown = list(_rows({"links": links}, _TRUTH))
    assert [truth for _, _, truth in shown] == ["1000", "182", "153"]
    assert shown[0] == ("n01-n02: hold, us", "1001 (1000 - 1002)", "1000")


def test_a_path_that_was_not_fitted_or_of_another_kind_is_named() -> None:
    for links in ({}, {"n01-n03": _policy("hold", "sw1:gi1/0/11", "sw2:gi1/0/1")}):
        assert [(found, truth) for _, found, truth in _rows({"links": links}, _TRUTH)] == [("not fitted", "hold")]
    off = {"n01-n02": _policy("off", "sw1:gi1/0/1")}
    assert list(_rows({"links": off}, _TRUTH)) == [("n01-n02: policy", "off", "hold")]
