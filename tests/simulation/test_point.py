"""Points: intervals hold what long runs give, saturation is a result, sleeping links save and cost."""

import pytest
from eee_engine import zero_load_cycles

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.point import BrokenSimulation, Point, simulate_point


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


@pytest.mark.slow
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


def test_a_point_in_which_nothing_arrives_has_no_value() -> None:
    ring = {"kind": "torus", "radix": [4], "link_latency": 60_000}
    neighbour = {"kind": "neighbour", "base": 4, "digits": 1}
    few = {"most_cycles": 20_000}
    description = _description(network=ring, router={"vcs": 2}, traffic=neighbour, precision=few)
    point = simulate_point(description, 0.1, 1)
    assert (point.settled, point.saturated, point.latency, point.p99) == (False, False, None, None)
    assert point.without_value == "not settled"


def test_a_network_that_is_still_starting_up_has_no_value() -> None:
    # The buffers behind a link hold less than is under way: a queue builds up for longer than the point lasts.
    slow = {"kind": "graph", "routers": 2, "nodes": [0] * 4 + [1] * 4, "links": [[0, 1]], "link_latency": 2000}
    tight = {"vcs": 1, "buffer_flits": 300}
    description = _description(network=slow, routing="up_down", router=tight, precision={"most_cycles": 20_000})
    point = simulate_point(description, 0.04, 1)
    assert point.without_value
    assert (point.latency, point.latency_half_width, point.p50, point.p99, point.largest) == (None,) * 5


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


def test_links_that_tcep_leaves_on_sleep_besides() -> None:
    quick = {"epoch": 200, "wake": 200}
    sleepy = {"mode": "deep", "hold": 50, "sleep": 20, "wake": 30, "wake_during_sleep": 30}
    both = {"routing": "pal", "router": {"switching": "cut_through"}}
    gated, asleep, joint = (
        simulate_point(_description(**both, **own), 0.002, 1)
        for own in ({"consolidation": quick}, {"links": sleepy}, {"consolidation": quick, "links": sleepy})
    )
    assert joint.engine == "packet"
    shares = (joint.shares.on, joint.low_power_share, joint.off_share)
    assert sum(shares) == pytest.approx(1)
    assert (joint.off_share, gated.off_share) == (pytest.approx(0.5, abs=0.01),) * 2
    assert 0 < joint.low_power_share < asleep.low_power_share
    assert joint.energy_ratio < min(gated.energy_ratio, asleep.energy_ratio)


def test_tceps_control_packets_take_time_and_are_counted() -> None:
    # From all links on to the root network: links go one by one, each with requests, answers and news.
    quick = {"epoch": 100, "wake": 100, "deactivation_epochs": 2}
    description = _description(
        routing="pal",
        consolidation=quick,
        traffic={"kind": "jobs", "sizes": [32, 32], "within": "uniform", "shares": [1, 1], "packets": [4000, 4000]},
    )
    point = simulate_point(description, 0.05, 1)
    assert point.steady
    assert point.packets == 8000
    assert point.off_share > 0.1
    assert 0 < (point.control_share or 0) < 0.5
    # A channel of five cycles and its end, or the hub and as much again.
    assert 6 <= (point.control_latency or 0) < 20


def test_slac_leaves_its_first_stage_on() -> None:
    slac = _description(routing="slac", stages={"cycles_per_link": 10, "off_after": 500})
    point = simulate_point(slac, 0.01, 1)
    # 6 links of the first row and 4 columns of 3 links to it, of 48.
    assert point.off_share == pytest.approx(1 - 18 / 48, abs=0.01)
    assert point.steady
    assert (point.control_share, point.control_latency) == (0.0, None)


def test_a_batch_is_sent_and_no_more() -> None:
    jobs = {"kind": "jobs", "sizes": [32, 32], "within": "permutation", "shares": [0.2, 1], "packets": [1000, 5000]}
    point = simulate_point(_description(routing="ugal_p", traffic=jobs), 0.5, 1)
    assert (point.packets, point.warm_up_cycles, point.saturated, point.steady) == (6000, 0, False, True)
    # 1,000 packets over 32 nodes at 0.1 a cycle.
    assert 300 <= point.cycles < 500
    unfinished = _description(routing="ugal_p", traffic=jobs, precision={"most_cycles": 100})
    cut = simulate_point(unfinished, 0.5, 1)
    assert cut.saturated
    assert not cut.steady


def test_each_node_of_a_job_sends_its_packets() -> None:
    jobs = {"kind": "jobs", "sizes": [32, 32], "within": "permutation", "shares": [0.2, 1], "packets": [30, 150]}
    point = simulate_point(_description(routing="ugal_p", traffic={**jobs, "packets_of": "node"}), 0.5, 1)
    assert point.packets == 32 * (30 + 150)


def test_jobs_without_batches_have_their_own_loads() -> None:
    jobs = {"kind": "jobs", "sizes": [48, 16], "within": "uniform", "shares": [0.5, 1]}
    point = simulate_point(_description(routing="ugal_p", traffic=jobs), 0.4, 1)
    assert point.accepted == pytest.approx(0.4 * (0.5 * 48 + 16) / 64, rel=0.03)
    assert point.steady
    assert not point.saturated


def test_channels_at_the_lowest_rate_that_carries_their_traffic() -> None:
    rates = {"quarter_power": 0.5, "half_power": 0.7}
    idle = simulate_point(_description(rates=rates), 0.01, 1)
    # All channels run at a quarter of the rate.
    assert idle.scaled_ratio == pytest.approx(0.5, abs=0.01)
    busy = simulate_point(_description(rates=rates), 0.9, 1)
    assert busy.scaled_ratio == pytest.approx(1.0)
    assert simulate_point(_description(), 0.01, 1).scaled_ratio is None


def test_parts_that_do_not_fit_are_one_sentence() -> None:
    with pytest.raises(BrokenSimulation, match="TCEP needs the routing pal"):
        simulate_point(_description(consolidation={"epoch": 100}), 0.1, 1)
    with pytest.raises(BrokenSimulation, match="SLaC needs the routing slac"):
        simulate_point(_description(stages={"off_after": 100}), 0.1, 1)
    with pytest.raises(BrokenSimulation, match="does not work on a hyperx"):
        simulate_point(_description(routing="tree_random"), 0.1, 1)
    three = _description(network={"kind": "hyperx", "sizes": [3], "concentration": 1}, traffic={"kind": "bit_reversal"})
    with pytest.raises(BrokenSimulation, match="power of two"):
        simulate_point(three, 0.1, 1)
