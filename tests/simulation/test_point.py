"""Points: intervals hold what long runs give, saturation is a result, sleeping links save and cost."""

import pytest
from eee_engine import zero_load_cycles

from simulation.description import Description
from simulation.point import BrokenSimulation, Point, simulate_point


def _description(**changes: object) -> Description:
    return Description.model_validate(
        {
            "name": "test",
            "network": {"kind": "hyperx", "sizes": [4, 4], "concentration": 4, "link_latency": 5},
            "routing": "dor",
            "loads": [0.1],
            "precision": {"within_percent": 1, "batch_cycles": 50},
        }
        | changes
    )


def test_at_low_load_latency_is_that_of_an_empty_network() -> None:
    description = _description()
    empty = zero_load_cycles(description.network.form(), "dor", description.router.form())
    point = simulate_point(description, 0.01, 1)
    assert point.steady
    assert not point.saturated
    assert point.latency == pytest.approx(empty, rel=0.02)
    assert point.accepted == pytest.approx(0.01, rel=0.1)
    assert (point.energy_ratio, point.low_power_share, point.doubts) == (1.0, 0.0, "")


def test_intervals_hold_the_mean_of_a_long_run() -> None:
    truth = simulate_point(_description(precision={"within_percent": 0.1}), 0.7, 99)
    assert truth.latency is not None
    points = [simulate_point(_description(), 0.7, seed) for seed in range(12)]
    held = [abs((point.latency or 0) - truth.latency) <= (point.latency_half_width or 0) for point in points]
    assert sum(held) >= 9


def test_the_same_seed_gives_the_same_point() -> None:
    first, again, other = (simulate_point(_description(), 0.3, seed) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_both_engines_agree() -> None:
    cut = {"switching": "cut_through"}
    points: list[Point] = []
    for engine in ("flit", "packet"):
        points.append(simulate_point(_description(router=cut, engine=engine), 0.5, 3))
        assert points[-1].engine == engine
    one, other = (point.latency or 0 for point in points)
    assert one == pytest.approx(other, rel=0.02)


def test_saturation_is_a_result() -> None:
    # Everybody's packets cross the one link.
    narrow = {"kind": "graph", "routers": 2, "nodes": [0] * 4 + [1] * 4, "links": [[0, 1]]}
    description = _description(network=narrow, routing="up_down", precision={"most_cycles": 20_000})
    point = simulate_point(description, 0.9, 1)
    assert point.saturated
    assert not point.steady
    assert 0.4 < point.accepted < 0.6


def test_sleeping_links_save_energy_and_cost_time() -> None:
    sleepy = {"mode": "deep", "hold": 10, "sleep": 20, "wake": 30, "wake_during_sleep": 30}
    awake = simulate_point(_description(), 0.01, 1)
    asleep = simulate_point(_description(links=sleepy), 0.01, 1)
    assert awake.latency is not None
    assert asleep.latency is not None
    assert awake.latency + 10 < asleep.latency < awake.latency + 2 * 50
    assert asleep.low_power_share > 0.2
    # What is not saved is at a tenth of idle: a bit more than the share of sleep.
    assert asleep.energy_ratio == pytest.approx(1 - 0.9 * asleep.low_power_share, abs=0.02)


def test_tcep_turns_links_off_and_leaves_the_root_network() -> None:
    quick = {"epoch": 200, "wake": 200}
    tcep = _description(routing="pal", consolidation=quick, router={"history_window": 20})
    always_on = simulate_point(_description(routing="ugal_p", router={"history_window": 20}), 0.01, 1)
    point = simulate_point(tcep, 0.01, 1)
    # 24 of 48 links are in the stars of 8 rows and columns.
    assert point.off_share == pytest.approx(0.5, abs=0.01)
    assert point.energy_ratio == pytest.approx(0.5, abs=0.02)
    assert point.latency is not None
    assert always_on.latency is not None
    assert always_on.latency + 1 < point.latency < always_on.latency + 12
    assert (always_on.off_share, always_on.control_share) == (0.0, 0.0)


def test_parts_that_do_not_fit_are_one_sentence() -> None:
    with pytest.raises(BrokenSimulation, match="TCEP needs the routing pal"):
        simulate_point(_description(consolidation={"epoch": 100}), 0.1, 1)
    with pytest.raises(BrokenSimulation, match="does not work on a hyperx"):
        simulate_point(_description(routing="tree_random"), 0.1, 1)
    three = _description(network={"kind": "hyperx", "sizes": [3], "concentration": 1}, traffic={"kind": "bit_reversal"})
    with pytest.raises(BrokenSimulation, match="power of two"):
        simulate_point(three, 0.1, 1)
