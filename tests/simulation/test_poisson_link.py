"""A link that sleeps, under Poisson arrivals: the simulation against the closed form of the renewal cycle.

Two nodes at two routers that send to each other, so that each channel has one stream of single flits, with a chance of
`load` in each cycle: Poisson arrivals but for the cycles' grid, which moves results by a share of about the load.
Queueing behind other flits is left out on both sides.
"""

import math
from statistics import fmean, stdev
from typing import Final, Literal

import pytest
from eee_engine import NetworkSimulation

from eee_testbed.simulation.description import Description

_SEEDS: Final = range(48)
_CYCLES: Final = 100_000
_SLEEPY: Final = {"hold": 0, "sleep": 30, "wake": 50}


def _simulated(load: float, link: dict[str, int], engine: Literal["flit", "packet"], seed: int) -> tuple[float, float]:
    """Share of time in low power, and mean delay by it in cycles."""
    description = Description.model_validate(
        {
            "name": "law",
            "network": {"kind": "graph", "routers": 2, "nodes": [0, 1], "links": [[0, 1]]},
            "routing": "up_down",
            "router": {"switching": "cut_through", "vcs": 2},
            "traffic": {"kind": "uniform_others"},
            "links": {"mode": "deep", **link, "wake_during_sleep": link["wake"]},
            "loads": [load],
        }
    )

    def run(mode: str) -> tuple[float, float]:
        simulation = NetworkSimulation(
            topology=description.network.form(),
            routing=description.routing,
            parameters=description.router.form(),
            traffic=description.traffic.form(),
            load=load,
            seed=seed,
            engine=engine,
            link={**description.links.form(), "mode": mode},
        )
        found = simulation.advance(_CYCLES)
        low = sum(one["quiet_cycles"] + one["refresh_cycles"] for one in simulation.channels()) / (2 * _CYCLES)
        return low, found["latency_cycles"] / found["packets"]

    (share, asleep), (_, awake) = run("deep"), run("off")
    return share, asleep - awake


def _closed(load: float, hold: int, sleep: int, wake: int) -> tuple[float, float]:
    """Share of time in low power, and mean wait by it, where a flit takes a cycle (Herrería-Alonso et al. 2012)."""
    slept = math.exp(-load * hold)  # share of idle periods that outlast the hold
    low = math.exp(-load * sleep) / load  # from the end of Ts on; a flit that came in Ts wakes the link at once
    cycle = (1 - slept) / load + slept * (sleep + low + wake)
    waiting = math.exp(-load * sleep) + load * sleep  # flits that are there when the wake begins
    area = slept * (load * sleep**2 / 2 + waiting * wake + load * wake**2 / 2)
    return (1 - load) * slept * low / cycle, area / (load * cycle)


@pytest.mark.parametrize("engine", ["flit", "packet"])
@pytest.mark.parametrize(
    ("load", "link"),
    [(0.002, _SLEEPY), (0.002, _SLEEPY | {"hold": 300}), (0.01, _SLEEPY | {"hold": 20}), (0.02, _SLEEPY)],
)
def test_sleeping_share_and_delay_are_those_of_the_closed_form(
    load: float, link: dict[str, int], engine: Literal["flit", "packet"]
) -> None:
    runs = [_simulated(load, link, engine, seed) for seed in _SEEDS]
    for found, expected in zip(zip(*runs, strict=True), _closed(load, **link), strict=True):
        error = stdev(found) / len(found) ** 0.5
        assert error < 0.01 * expected, "the runs are too short to see a difference"
        assert fmean(found) == pytest.approx(expected, abs=3 * error + load * expected)
