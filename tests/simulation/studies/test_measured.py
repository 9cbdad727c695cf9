"""A calibration's links and watts in a study: what is added, and what is saved with measured watts."""

from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.analysis.calibration import Estimate, PortPower, SwitchPower
from eee_testbed.analysis.interval import Interval
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.report.measured import measured, remarks
from eee_testbed.simulation.studies.advise import Choice, advised, by_papers
from eee_testbed.simulation.studies.expand import Case, cases_of
from eee_testbed.simulation.studies.measured import draws_of, energies_of, energy_with, is_draw, with_measured
from eee_testbed.simulation.studies.measured_power import MeasuredPower, read_power
from eee_testbed.simulation.studies.pairs import Pair, pairs_of
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.study import read_study
from tests.support import ROOT
from tests.support.studies import TINY, tiny

CALIBRATION = ROOT / "tests" / "support" / "releases" / "0.1.0" / "calibration.yaml"
GIGABIT = TINY.replace("cycle_ns: 1.6", "cycle_ns: 128")


def cases(folder: Path, text: str = GIGABIT) -> list[Case]:
    return cases_of(read_study(tiny(folder, text)), folder, whole=False)


def exactly(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def switch_of(base_watt: float) -> MeasuredPower:
    """Its ports draw 1 W awake and nothing asleep; nothing has an error."""
    nothing = exactly(0.0)
    port = PortPower(cable_watt=nothing, enabled_watt=nothing, link_watt=exactly(1.0), lpi_fraction=nothing)
    switch = SwitchPower(
        base_watt=exactly(base_watt), port_by_mbps={1000: port}, drift_watt=0, noise_watt=0, explained_fraction=1,
        window_count=1,
    )  # fmt: skip
    return MeasuredPower("some.yaml", "sw1", switch, None, "")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    own = cases(tmp_path_factory.mktemp("gigabit"))
    return pairs_of([task.simulate() for task in tasks_of(own)], own)


def test_links_get_the_fitted_times_and_draws_of_them(tmp_path: Path) -> None:
    added = with_measured(cases(tmp_path), read_power(str(CALIBRATION)))
    assert [case.labels["links"] for case in added] == ["always-on", "deep", "measured"] + [
        f"measured-{draw}" for draw in range(1, 9)
    ]
    fitted = added[2].description
    assert fitted.links == fitted.node_links
    assert fitted.links.mode == "deep"
    assert (fitted.links.hold, fitted.links.sleep, fitted.links.wake) == (
        round(1000 / 0.128), round(182 / 0.128), round(60 / 0.128),
    )  # fmt: skip
    assert len({case.description.links.hold for case in added[2:]}) > 1
    assert {case.awake_key for case in added} == {added[0].awake_key}


def test_draws_take_the_seeds_in_turn(tmp_path: Path) -> None:
    every = cases_of(read_study(tiny(tmp_path, GIGABIT)), tmp_path, whole=True)
    added = [case for case in with_measured(every, read_power(str(CALIBRATION))) if case.labels["network"] == "ring"]
    assert [case.description.seeds for case in added[2:6]] == [[1, 2, 3], [2], [3], [1]]


def test_another_rate_is_refused_and_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"ports of sw1 at 1000, 100 Mb/s, and links of .* have 80000 Mb/s"):
        with_measured(cases(tmp_path, TINY), read_power(str(CALIBRATION)))


def test_a_study_needs_an_axis_of_links_without_that_value(tmp_path: Path) -> None:
    taken = cases(tmp_path, GIGABIT.replace("deep:", "measured:").replace("[deep]", "[measured]"))
    with pytest.raises(LabError, match="adds 'measured' to the axis links"):
        with_measured(taken, switch_of(1))


def test_a_calibration_without_watts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "links-alone.yaml"
    head, _, rest = CALIBRATION.read_text(encoding="utf-8").partition("power:\n")
    path.write_text(head + rest[rest.index("run_time:") :], encoding="utf-8")
    with pytest.raises(LabError, match="has no power of a switch"):
        read_power(str(path))


def test_ports_that_draw_nothing_asleep_save_their_share_of_the_time(pairs: list[Pair], tmp_path: Path) -> None:
    """8 routers with a node each on a ring: 16 ports between routers, and 8 to nodes, which never sleep here."""
    awake, asleep = energies_of(pairs, cases(tmp_path), switch_of(0.0))
    pair = pairs[1]
    quiet = pair.point.replayed.shares.quiet + pair.point.replayed.shares.refresh
    assert quiet > 0
    watt = 24 - 16 * quiet
    assert awake.measured_saved_percent.value == pytest.approx(0)
    assert awake.measured_joule.value == pytest.approx(24 * pair.awake.replayed.run_time_s)
    assert asleep.measured_joule.value == pytest.approx(watt * pair.run_time_s)
    ratio = watt / 24 * (1 + pair.slowdown_percent / 100)
    assert asleep.measured_saved_percent.value == pytest.approx(100 * (1 - ratio))
    assert asleep.paper_joule.value == pytest.approx(pair.network_joule)
    assert asleep.paper_saved_percent.value == pytest.approx(-pair.network_change_percent)


def test_the_base_of_a_switch_makes_the_saving_smaller(pairs: list[Pair], tmp_path: Path) -> None:
    light, heavy = (energies_of(pairs, cases(tmp_path), switch_of(base))[1] for base in (0.0, 40.0))
    assert heavy.measured_saved_percent.value < light.measured_saved_percent.value
    assert heavy.paper_saved_percent == light.paper_saved_percent


def test_drawn_times_widen_the_intervals_of_the_fitted_ones(tmp_path: Path) -> None:
    power = read_power(str(CALIBRATION))
    added = with_measured(cases(tmp_path), power)
    found = pairs_of([task.simulate() for task in tasks_of(added)], added)
    *_, fitted = energies_of(found, added, power)
    assert fitted.labels == ("ring", "stencil", "measured")
    assert [one.labels for one in energies_of([pair for pair in found if is_draw(pair)], added, power)] == []
    value = fitted.measured_saved_percent
    assert value.low < value.value < value.high


def test_choices_are_compared_by_measured_watts(pairs: list[Pair], tmp_path: Path) -> None:
    """8 switches of 40 W and 24 ports of 1 W, and 8 nodes with the paper's watts, as this calibration has none."""
    own, power = cases(tmp_path), switch_of(40.0)
    energy = energy_with(own, power)
    awake, deep = (next(one for one in advised(pairs, ["program"], energy) if one.name == f"ring {links}")
                   for links in ("always-on", "deep"))  # fmt: skip
    assert awake.network_joule.value == pytest.approx((8 * 40 + 24) * awake.run_time_s.value)
    papers = by_papers(pairs[0])
    assert awake.cluster_joule.value - awake.network_joule.value == pytest.approx(papers[1].value - papers[0].value)
    quiet = pairs[1].point.replayed.shares
    watt = 8 * 40 + 24 - 16 * (quiet.quiet + quiet.refresh)
    assert deep.network_joule.value == pytest.approx(watt * deep.run_time_s.value)


def test_nodes_of_a_calibration_draw_by_the_share_of_time_that_they_compute(pairs: list[Pair], tmp_path: Path) -> None:
    """150 W idle and 250 W busy."""
    power = read_power(str(CALIBRATION))
    network, cluster = energy_with(cases(tmp_path), power)(pairs[0])
    busy = pairs[0].point.replayed.cpu_use
    assert 0 < busy < 1
    nodes_joule = 8 * (150 + 100 * busy) * pairs[0].run_time_s
    assert cluster.value - network.value == pytest.approx(nodes_joule)
    assert network.low < network.value < network.high
    (choice,) = [one for one in advised(pairs, ["program"], energy_with(cases(tmp_path), power)) if "deep" in one.name]
    # One seed does not scatter; what is left are the errors of watts.
    assert choice.cluster_joule.low < choice.cluster_joule.value < choice.cluster_joule.high


def test_a_page_says_whose_watts_and_times_they_are(pairs: list[Pair], tmp_path: Path) -> None:
    power = switch_of(1.0)
    section = measured(energies_of(pairs, cases(tmp_path), power), power)
    assert [one.name for one in section.drawings] == ["measured"]
    assert [row[0] for row in section.tables[0].rows] == ["ring stencil always-on", "ring stencil deep"]
    assert "Taken from some.yaml: switch sw1, base 1 W." in section.text
    assert "no links that sleep" in remarks(power)[-1]


def _with_times(power: MeasuredPower, width: float) -> MeasuredPower:
    """With intervals of hold, Ts and Tw of so much of their values to each side."""
    assert power.policy is not None
    times = {
        name: Estimate(value=one.value, low=one.value * (1 - width), high=one.value * (1 + width))
        for name in ("hold_us", "sleep_us", "wake_us")
        if (one := getattr(power.policy, name)) is not None
    }
    return replace(power, policy=power.policy.model_copy(update=times))


def _advice(folder: Path, width: float) -> dict[str, tuple[Choice, Choice]]:
    """By name: a choice without draws of links' times, and with them."""
    power = _with_times(read_power(str(CALIBRATION)), width)
    added = with_measured(cases(folder), power)
    found = pairs_of([task.simulate() for task in tasks_of(added)], added)
    energy = energy_with(added, power)
    values, drawn = [one for one in found if not is_draw(one)], [one for one in found if is_draw(one)]
    without, with_draws = (advised(values, ["program"], energy, draws) for draws in ((), draws_of(drawn)))
    return {one.name: (one, next(other for other in with_draws if other.name == one.name)) for one in without}


def _widths(one: Choice) -> list[float]:
    return [figure.high - figure.low for figure in (one.network_joule, one.cluster_joule)]


def test_advice_has_the_intervals_of_links_times(tmp_path: Path) -> None:
    """Those of a calibration that is exact are as before; the wider its intervals, the wider those of its links."""
    exact, near, far = (_advice(tmp_path, width) for width in (0.0, 0.05, 0.4))
    assert exact["ring measured"][0] == exact["ring measured"][1]
    for name in ("ring always-on", "ring deep"):
        assert far[name][0] == far[name][1]
    assert [one.value for one in _all(far["ring measured"][1])] == [one.value for one in _all(far["ring measured"][0])]
    for own, nearer, none in zip(*(_widths(found["ring measured"][1]) for found in (far, near, exact)), strict=True):
        assert own > nearer > none
    time = far["ring measured"][1].run_time_s
    assert time.low < time.value < time.high


def _all(one: Choice) -> list[Interval]:
    return [one.run_time_s, one.network_joule, one.cluster_joule]


def test_the_spread_of_draws_is_that_of_what_each_changes(pairs: list[Pair]) -> None:
    """Eight draws that change the run time by d, up and down in turns: Student's 2.306 times d."""
    value = pairs[0]

    def longer(second: float) -> list[Pair]:
        found = value.point.replayed
        return [
            replace(value, point=replace(value.point, replayed=replace(found, run_time_s=found.run_time_s + second)))
        ]

    draws = [longer(1e-6 if number % 2 else -1e-6) for number in range(8)]
    (found,) = advised([value], ["program"], by_papers, draws)
    assert found.run_time_s.high - found.run_time_s.value == pytest.approx(2.306e-6, rel=1e-3)
    (without,) = advised([value], ["program"], by_papers, [longer(0.0) for _ in range(8)])
    assert without == advised([value], ["program"])[0]
