"""Formatted numbers, error bars justified by the trials, energies of trials, states of the lab."""

import math
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from eee_testbed.analysis.configurations import Factors
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.drawing import STYLES, draw, error_bars, label
from eee_testbed.analysis.report.energies import added, energy_of_trial, meters_of, ratio, repeated
from eee_testbed.analysis.report.report_data import bars_text, pairs_of, read_report_data, short_names, spread_of
from eee_testbed.analysis.report.table import Column, Table, cell_text
from tests.support.laws import law
from tests.support.measured.synthetic_run import Writer, write_regulation, write_run


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),  # noqa: RUF001
        (3, "3"),
        (0.123456, "0.1235"),
        (12_345.6, "12,346"),
        (1.5e-7, "1.500e-07"),
        (float("inf"), "∞"),
        (Interval(2.0, 2.0, 2.0), "2"),
        (Interval(123.456, 120.1, 126.9), "123.5 (120.1 to 126.9)"),
        (Interval(0.18749, 0.18742, 0.18792), "0.18749 (0.18742 to 0.18792)"),
        (Interval(1.0, 0.0, float("inf")), "1 (0 to ∞)"),
        (Interval(100.0, 100.0 - 1e-10, 100.0), "100"),
    ],
)
def test_cells(cell: object, text: str) -> None:
    assert cell_text(cell) == text  # type: ignore[arg-type]


def test_an_interval_is_three_columns_of_a_file() -> None:
    table = Table("t", "T", (Column("a", "us"), Column("b")), ((Interval(1.0, 0.5, 2.0), "x"), (None, "y")))
    assert table.csv.splitlines() == ["a (us),a (us) low,a (us) high,b", "1.0,0.5,2.0,x", ",,,y"]
    assert table.heads == [("a (µs)", "number"), ("b", "text")]
    assert table.shown[0] == [("1.00 (0.50 to 2.00)", "number"), ("x", "short")]


def test_bars_of_few_trials_are_their_range() -> None:
    one, three, many = spread_of([5.0]), spread_of([3.0, 1.0, 9.0]), spread_of([float(n) for n in range(30)])
    assert (one.below, one.above, one.count) == (0.0, 0.0, 1)
    assert three.interval == Interval(3.0, 1.0, 9.0)
    assert 0 < many.below < 14
    with pytest.raises(ValueError, match="at least one value"):
        spread_of([])


def test_captions() -> None:
    assert "nothing is known about their spread" in bars_text([1, 1])
    assert "least to the most of n = 3" in bars_text([3, 3])
    assert "95 % bootstrap intervals, n = 6 to 9" in bars_text([6, 9])
    assert "from 6 trials on" in bars_text([3, 9])


@law(50)
@given(st.floats(1, 1e3), st.floats(0, 0.2), st.floats(1, 1e3), st.floats(0, 0.2))
def test_a_ratio_is_no_more_certain_than_its_parts(a: float, spread_a: float, b: float, spread_b: float) -> None:
    first = Interval(a, a * (1 - spread_a), a * (1 + spread_a))
    second = Interval(b, b * (1 - spread_b), b * (1 + spread_b))
    found = ratio(first, second)
    assert found.low <= found.value <= found.high
    share = found.high / found.value - 1
    assert share == pytest.approx(math.hypot(spread_a, spread_b), abs=1e-9)


def test_sums_and_repetitions() -> None:
    total = added([Interval(1, 0.7, 1.3), Interval(2, 1.6, 2.4)])
    assert total is not None
    assert total.half_width == pytest.approx(0.5)
    assert added([]) is None
    # Three readings that agree are no more certain than the meter's own error allows.
    same = repeated([Interval(10, 8, 12)] * 3)
    assert same.interval.half_width == pytest.approx(2 / math.sqrt(3))


def test_energy_is_split_by_the_device_that_an_outlet_feeds(tmp_path: Path) -> None:
    (run,) = read_report_data([write_run(tmp_path, write_regulation)], None, "").runs
    meters = meters_of(run)
    assert {meter.feeds for meter in meters} == {"sw1", "n01"}
    trial = next(trial for trial in run.trials if trial.levels == {"trunks": "on", "uplink": "on"})
    found = energy_of_trial(run, trial, meters)
    assert found.network_watt is not None
    assert found.all_joule is not None
    assert found.network_watt.holds(60.0)
    assert found.all_joule.value / found.run_s == pytest.approx(310.0, rel=0.01)


def test_a_programs_start_is_in_no_energy(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        figures = [("time", 10.0, "s")]
        begun_ns, ended_ns = writer.write({"eee": "off"}, 30.0, figures=figures, program="p", hosts=("n01",))
        writer.watts(begun_ns, ended_ns, 50.0)
        writer.watts(begun_ns, ended_ns, 0.0, feeds="", outlet=8)

    (run,) = read_report_data([write_run(tmp_path, part)], None, "").runs
    assert [meter.outlet for meter in meters_of(run)] == [1]
    found = energy_of_trial(run, run.trials[0], meters_of(run)).network_joule
    assert found is not None
    assert found.value == pytest.approx(500.0, rel=0.01)


def test_states_and_configurations(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        writer.write({"uplink": "off", "size": 3}, 1.0, program="p", parameters={"size": 3}, hosts=("n01",))
        writer.write({"uplink": "on", "size": 4}, 1.0, program="p", parameters={"size": 4}, hosts=("n01",))

    (run,) = read_report_data([write_run(tmp_path, part)], None, "").runs
    one, other = run.trials
    factors = run.factors
    # `uplink` is of kind link because the run's own description says so.
    assert factors.state_of(one) == (("uplink", "off"),)
    assert not factors.saves_nothing(factors.state_of(one))
    assert factors.saves_nothing(factors.state_of(other))
    assert Factors().saves_nothing((("eee", "off"), ("hold_us", 10), ("speed_mbps", "auto")))
    assert not Factors().saves_nothing((("speed_mbps", 100),))
    assert Factors(top_mbps={"speed_mbps": 1000}).saves_nothing((("speed_mbps", 1000),))
    assert Factors().with_eee((("eee", "on"),)) is True
    assert Factors().with_eee((("eee", "off"), ("link", "off"))) is None
    names = short_names([factors.configuration_of(one), factors.configuration_of(other)])
    assert list(names.values()) == ["size=3", "size=4"]


def test_different_holds_are_not_compared_as_one(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        for hold_us, on_s in ((100, 1.4), (1_000, 1.1)):
            for eee, time_s in (("off", 1.0), ("on", on_s)):
                figures = [("time", time_s, "s"), ("communications", 1_000.0, "call")]
                writer.write({"eee": eee, "hold_us": hold_us}, time_s, figures=figures, program="p", hosts=("n01",))

    (run,) = read_report_data([write_run(tmp_path, part)], None, "").runs
    pairs = pairs_of(run)
    assert sorted(run.factors.hold_us(pair.configuration) or 0 for pair in pairs) == [100, 1_000]
    assert sorted(pair.overhead_us.interval.value for pair in pairs) == pytest.approx([100, 400])


def test_an_axis_without_a_unit_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="without a unit: 'Run time'"):
        label(Figure().add_subplot(), "Run time", "Energy (J)")


def test_all_series_are_distinguishable_in_grey() -> None:
    assert len({style.marker for style in STYLES}) == len(STYLES)
    assert len({str(style.line) for style in STYLES}) == len(STYLES)

    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    values = sorted(lightness(style.colour) for style in STYLES)
    assert all(b - a >= 10 for a, b in pairwise(values))


def test_a_drawing_is_made_at_two_widths() -> None:
    def paint(figure: Figure) -> None:
        label(figure.add_subplot(), "Time (s)", "Power (W)")

    found = draw("x", "A & B", "", paint, wide_inch=7.0)
    assert "A &amp; B" in found.svg
    assert 'id="x-figure_1"' in found.svg
    assert 'id="x-wide-figure_1"' in found.wide_svg
    assert found.pdf.startswith(b"%PDF-")


@pytest.mark.parametrize(("values", "text"), [([1.0], "1 (–)"), ([1.0, 1.2], "1.1 (–)")])  # noqa: RUF001
def test_fewer_than_three_trials_have_no_interval_in_a_table(values: list[float], text: str) -> None:
    assert cell_text(spread_of(values).shown) == text
    assert "to" in cell_text(spread_of([*values, 1.3, 1.4]).shown)


def test_single_trials_have_no_error_bars() -> None:
    below, above = error_bars([Interval(1.0, 1.0, 1.0), Interval(1.0, 0.9, 1.2)])
    assert math.isnan(below[0])
    assert math.isnan(above[0])
    assert (below[1], above[1]) == (pytest.approx(0.1), pytest.approx(0.2))
