"""Replays: what links that sleep cost a program, results on the disk, and a program that cannot end."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.folder import WrongFolder
from eee_testbed.simulation.point import BrokenSimulation
from eee_testbed.simulation.pool import HerePool, local_pool
from eee_testbed.simulation.replay.comparison import Machine, cluster_watt, compared, network_watt
from eee_testbed.simulation.replay.program import write_program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from eee_testbed.simulation.replay.replayed import Replayed, replay
from eee_testbed.simulation.replay.results import RANKS, REPLAYS, ReplayResults, are_replays, read_replays
from eee_testbed.simulation.replay.sweep import replay_all, tasks_of
from tests.support.replays import DEEP, described, stencil

_APART = stencil(2, placement="given", nodes=[0, 4])
"""Two ranks with one link between their switches."""

_LONG = {
    "program": {"kind": "stencil", "procs": [2, 1], "steps": 50, "face_byte": 1000, "grain_ns": 10_000},
    "placement": "given",
    "nodes": [0, 4],
}
"""The same for 50 steps."""

_SILENT = {"program": {"kind": "alltoall", "ranks": 1, "array_byte": 8, "iterations": 1}}


def test_a_sleeping_link_costs_its_wake_once_a_step() -> None:
    # Both exchange messages at once: one wake in each direction of each step.
    description = described(_APART, links=DEEP)
    awake, asleep = (replay(description, 1, sleeping=sleeping) for sleeping in (False, True))
    assert awake.run_time_s > 2 * 10_000e-9
    # It also slept before the first message, and the last computing is behind the last message.
    wakes = round((asleep.run_time_s - awake.run_time_s) / 80e-9)
    assert asleep.run_time_s - awake.run_time_s == pytest.approx(wakes * 80e-9)
    assert wakes in {1, 2}
    assert asleep.messages == awake.messages
    assert asleep.hops == awake.hops
    assert (awake.path_wakes, asleep.path_wakes) == (0, wakes)
    assert awake.carried_channels == 2
    assert asleep.carried_shares.low_power > 0.9
    assert asleep.shares.low_power > asleep.carried_shares.low_power
    assert awake.shares.low_power == 0


def test_links_to_nodes_sleep_if_they_are_told_to() -> None:
    between = replay(described(_APART, links=DEEP), 1, sleeping=True)
    everywhere = replay(described(_APART, links=DEEP, node_links=DEEP), 1, sleeping=True)
    assert between.node_shares.low_power == 0
    assert everywhere.node_shares.low_power > 0.9
    assert everywhere.run_time_s > between.run_time_s


def test_links_from_nodes_have_a_policy_of_their_own() -> None:
    """At every node one of two directions never sleeps."""
    both = replay(described(_APART, links=DEEP, node_links=DEEP), 1, sleeping=True)
    to_nodes = replay(described(_APART, links=DEEP, node_links=DEEP, card_links={}), 1, sleeping=True)
    from_nodes = replay(described(_APART, links=DEEP, card_links=DEEP), 1, sleeping=True)
    assert to_nodes.node_shares.low_power + from_nodes.node_shares.low_power == pytest.approx(
        both.node_shares.low_power, abs=0.02
    )
    assert 0.4 < to_nodes.node_shares.low_power < 0.5
    assert both.run_time_s > max(to_nodes.run_time_s, from_nodes.run_time_s)


def test_programs_run_with_routings_that_ask_for_several_hops() -> None:
    """Alone on a torus they take what dimension order takes, and links that are awake are preferred."""
    ring: dict[str, Any] = {"network": {"kind": "torus", "radix": [4, 4]}, "links": DEEP}
    router = {"vcs": 4, "buffer_flits": 64, "packet_flits": 8, "switching": "cut_through"}
    pair = stencil(2, placement="given", nodes=[0, 1])
    by_order, adaptive, awake = (
        replay(described(pair, routing=routing, router=router, **ring), 1, sleeping=True)
        for routing in ("dor", "min_adaptive", "min_awake")
    )
    assert adaptive.run_time_s == awake.run_time_s == by_order.run_time_s
    many = {"program": {"kind": "alltoall", "ranks": 16, "array_byte": 4096, "iterations": 3, "grain_ns": 1000}}
    any_link, awake_links = (
        replay(described(many, routing=routing, router=router, **ring), 1, sleeping=True)
        for routing in ("min_adaptive", "min_awake")
    )
    assert any_link.sent_byte == awake_links.sent_byte
    wakes = [sum(one.links["wakes"]) for one in (any_link, awake_links)]
    assert wakes[1] < wakes[0]
    with pytest.raises(ValueError, match="write min_adaptive"):
        described(pair, routing="min_booksim2", router=router, **ring)


def test_ranks_that_wait_for_each_other_are_named(tmp_path: Path) -> None:
    writer = ProgramWriter("stuck", 2, "test")
    for rank in (0, 1):
        own = writer.rank(rank)
        own.receive(1 - rank, 8, tag=3)
        own.send(1 - rank, 8, tag=3)
    write_program(tmp_path / "stuck.replay", writer.program())
    description = described({"program": {"kind": "file", "path": str(tmp_path / "stuck.replay")}})
    with pytest.raises(
        BrokenSimulation,
        match=r"job 0 rank 0, call 0: a message from rank 1 of communicator 0 with tag 3; job 0 rank 1, call 0",
    ):
        replay(description, 1, sleeping=False)


def test_without_a_network_messages_take_what_loggops_says() -> None:
    description = described(
        _APART, programs={"log_gops": {"latency_ns": 500, "gap_ns": 0, "gap_byte_ns": 1}, "jobs": [_APART]}
    )
    found = replay(description, 1, sleeping=False)
    assert found.channels == found.hops == 0
    assert found.run_time_s > 2 * (10_000 + 500) * 1e-9 - 10_000e-9


def test_every_seed_is_replayed_with_links_always_on_too(tmp_path: Path) -> None:
    description = described(_APART, links=DEEP, seeds=[1, 2])
    assert [(one.seed, one.sleeping) for one in tasks_of(description)] == [(1, False), (1, True), (2, False), (2, True)]
    assert [one.sleeping for one in tasks_of(described(_APART))] == [False]
    done: list[Replayed] = []
    results = ReplayResults(tmp_path, description)
    replay_all(description, results, HerePool(), lambda one: done.append(one.result))
    assert len(done) == 4
    again = ReplayResults(tmp_path, description)
    assert [replace(one, ranks={}, links={}) for one in results.replays] == list(again.replays)
    replay_all(description, again, HerePool(), lambda one: done.append(one.result))
    assert len(done) == 4
    ranks = pl.read_parquet(tmp_path / RANKS)
    assert ranks.height == 4 * 2
    assert are_replays(tmp_path)


@pytest.mark.slow
def test_results_do_not_depend_on_how_many_processes_simulate(tmp_path: Path) -> None:
    description = described(_APART, links=DEEP, seeds=[1, 2])
    found = []
    for jobs in (1, 2):
        results = ReplayResults(tmp_path / str(jobs), description)
        with local_pool(jobs) as pool:
            replay_all(description, results, pool, lambda _: None)
        found.append([replace(one, ranks={}, process_s=0.0) for one in results.replays])
    assert found[0] == found[1]


def test_another_description_s_folder_is_left_alone_and_damage_is_named(tmp_path: Path) -> None:
    description = described(_SILENT)
    results = ReplayResults(tmp_path, description)
    replay_all(description, results, HerePool(), lambda _: None)
    with pytest.raises(WrongFolder, match="holds results of another simulation"):
        ReplayResults(tmp_path, described(_APART))
    (tmp_path / REPLAYS).write_bytes(b"PAR1")
    with pytest.raises(WrongFolder, match="replayed again"):
        read_replays(tmp_path)
    assert read_replays(tmp_path / "none") == []


def _replayed(seed: int, run_time_s: float, *, sleeping: bool, cpu_use: float = 0.5) -> Replayed:
    found = replay(described(_SILENT), seed, sleeping=False)
    shares = StateShares(quiet=0.5, idle=0.5) if sleeping else StateShares(idle=1.0)
    nodes = StateShares(idle=1.0)
    return replace(found, run_time_s=run_time_s, sleeping=sleeping, cpu_use=cpu_use, shares=shares, node_shares=nodes)


def test_slowdown_is_a_ratio_within_a_seed_with_an_interval_from_three_seeds_on() -> None:
    machine = Machine(4, 16, 6, described().energy)
    every = [_replayed(seed, 1.0 + seed, sleeping=False) for seed in (1, 2, 3)]
    every += [_replayed(seed, 1.01 * (1.0 + seed), sleeping=True) for seed in (1, 2, 3)]
    by_name = {one.name: one for one in compared(every, machine)}
    slowdown = by_name["slowdown"]
    assert slowdown.value == pytest.approx(1.0)
    assert slowdown.interval is not None
    assert slowdown.interval.half_width == pytest.approx(0.0, abs=1e-9)
    wide = by_name["run time, links as described"].interval
    assert wide is not None
    assert wide.half_width > 1
    two = {one.name: one for one in compared([one for one in every if one.seed < 3], machine)}
    assert two["slowdown"].interval is None
    awake = {one.name for one in compared([one for one in every if not one.sleeping], machine)}
    assert "slowdown" not in awake


def test_a_program_without_time_is_not_slowed_down() -> None:
    machine = Machine(4, 16, 6, described().energy)
    both = [_replayed(1, 0.0, sleeping=sleeping) for sleeping in (False, True)]
    changes = [one.value for one in compared(both, machine) if one.name.startswith(("slowdown", "energy"))]
    assert changes == [0.0, 0.0, 0.0]
    assert both[0].time_ratio(both[1]) == 1.0
    assert replace(both[0], run_time_s=3.0).time_ratio(replace(both[0], run_time_s=2.0)) == 1.5


def test_power_is_andujar_s() -> None:
    # Eq. 1 to 5 by hand: 28 ports of 5 W, 81.6 % of it the ports'; half of 12 ports sleeps at a tenth.
    machine = Machine(4, 16, 6, described().energy)
    awake, asleep = (_replayed(1, 1.0, sleeping=sleeping) for sleeping in (False, True))
    assert network_watt(awake, machine) == pytest.approx(28 * 5)
    on = (12 * 0.5 + 16) / 28
    assert network_watt(asleep, machine) == pytest.approx(28 * 5 * (1 - 0.816 + 0.816 * (0.1 + 0.9 * on)))
    alone = Machine(1, 4, 0, described().energy)  # a switch without links to others
    single = replace(asleep, channels=0, node_shares=StateShares(quiet=1.0))
    assert network_watt(single, alone) == pytest.approx(4 * 5 * (1 - 0.816 * 0.9))
    assert network_watt(replace(single, node_shares=StateShares()), alone) == pytest.approx(4 * 5)
    nodes = cluster_watt(awake, machine) - network_watt(awake, machine)
    assert nodes == pytest.approx(16 * 300 * 0.75)
    for use, other in itertools.pairwise((0.0, 0.4, 1.0)):
        one, two = (cluster_watt(replace(awake, cpu_use=share), machine) for share in (use, other))
        assert one < two


def test_links_that_bound_their_delay_sleep_less() -> None:
    slow, bounded = (
        replay(described(links=DEEP, programs={"jobs": [_LONG]} | more), 1, sleeping=True)
        for more in ({}, {"bound": {"percent": 0.01, "epoch": 50_000}})
    )
    assert bounded.run_time_s < slow.run_time_s
    assert 0 < bounded.carried_shares.low_power < slow.carried_shares.low_power
