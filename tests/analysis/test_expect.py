"""Expectations: how they are read, and what an interval answers."""

import math

import pytest

from eee_testbed.analysis.expect import Answer, Expectation, Figure, judge, worst
from eee_testbed.analysis.interval import Interval
from eee_testbed.lab.errors import LabError


def _figure(low: float, high: float, unit: str = "%", name: str = "time.slowdown") -> Figure:
    return Figure(name, unit, "halo 2x1", Interval((low + high) / 2, low, high), changed={"eee": "on"}, by_eee=True)


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [(0.2, 0.8, "met"), (1.2, 1.8, "broken"), (0.8, 1.2, "not shown"), (math.nan, math.nan, "not shown")],
)
def test_the_whole_interval_has_to_be_on_one_side(low: float, high: float, answer: Answer) -> None:
    assert _figure(low, high).answer(Expectation.of("time.slowdown < 1%")) == answer
    turned = {"met": "broken", "broken": "met"}.get(answer, answer)
    assert _figure(low, high).answer(Expectation.of("time.slowdown>=1 %")) == turned


@pytest.mark.parametrize(
    ("limit", "unit", "answer"),
    [("1500 ms", "s", "met"), ("0.5 s", "s", "broken"), ("2 kJ", "J", "met"), ("900 mJ", "J", "broken")],
)
def test_limits_may_have_a_prefix(limit: str, unit: str, answer: Answer) -> None:
    one = Figure("time", unit, "", Interval(1.0, 0.99, 1.01))
    assert one.answer(Expectation.of(f"time < {limit}")) == answer


def test_a_count_needs_no_unit_and_no_blocks() -> None:
    counted = Figure("trials.invalid", "1", "", Interval(0.0, 0.0, 0.0))
    assert counted.answer(Expectation.of("trials.invalid <= 0")) == "met"
    assert counted.answer(Expectation.of("trials.invalid > 0")) == "broken"


@pytest.mark.parametrize(
    "text", ["time.slowdown", "time < fast", "< 1 %", "time = 1 s", "time[eee] < 1 s", "t < 1e999"]
)
def test_what_is_no_expectation_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(LabError, match=r"such as|for example"):
        Expectation.of(text)


@pytest.mark.parametrize("text", ["time.slowdown < 1", "time.slowdown < 1 s", "time.slowdown < 1 ms"])
def test_a_limit_in_another_unit_is_refused(text: str) -> None:
    with pytest.raises(LabError, match=r"time\.slowdown is in %"):
        judge(Expectation.of(text), [_figure(0.0, 1.0)])


def test_an_unknown_name_is_told_with_those_that_exist() -> None:
    off = Figure("time.slowdown", "%", "", Interval(1, 0, 2), lab={"link": "off"}, changed={"link": "off"})
    with pytest.raises(LabError, match=r"no figure time.slowness; those that exist: time.slowdown\[link=off\], time"):
        judge(Expectation.of("time.slowness < 1 %"), [off, Figure("time", "s", "", Interval(1, 1, 1))])
    with pytest.raises(LabError, match=r"time.slowdown with link=on"):
        judge(Expectation.of("time.slowdown[link=on] < 1 %"), [off])


def test_levels_choose_the_change_and_the_configuration() -> None:
    eee = {"eee": "on", "link": "off"}
    by_eee = Figure("t", "%", "", Interval(1, 1, 1), eee, {"size": "4"}, {"eee": "on"}, by_eee=True)
    by_both = Figure("t", "%", "", Interval(1, 1, 1), eee, {"size": "4"}, eee)
    value = Figure("t", "s", "", Interval(1, 1, 1), eee, {"size": "4"})
    for levels, meant in (
        ("", (True, False, True)),
        ("[size=4]", (True, False, True)),
        ("[size=8]", (False, False, False)),
        ("[link=off]", (False, False, True)),
        ("[link=off,eee=on]", (False, True, True)),
        ("[eee=off]", (False, False, False)),
    ):
        one = Expectation.of(f"t{levels} < 1 %")
        assert tuple(figure.is_meant(one) for figure in (by_eee, by_both, value)) == meant, levels


def test_broken_comes_before_not_shown() -> None:
    assert worst(["met", "not shown", "broken"]) == "broken"
    assert worst(["met", "not shown"]) == "not shown"
    assert worst(["met"]) == "met"
