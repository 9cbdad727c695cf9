"""Programs on a network whose links TCEP turns off, and may sleep besides."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.pool import HerePool, local_pool
from eee_testbed.simulation.power_models import by_bits
from eee_testbed.simulation.replay.replayed import Replayed, replay
from eee_testbed.simulation.replay.results import ReplayResults
from eee_testbed.simulation.replay.sweep import replay_all, tasks_of
from tests.support.replays import DEEP, described

_TCEP = {"epoch": 200, "deactivation_epochs": 5, "wake": 200}
_BUTTERFLY = {"kind": "hyperx", "sizes": [4, 4], "concentration": 2}
_PAUSES = {
    "program": {"kind": "alltoall", "ranks": 32, "array_byte": 65_536, "iterations": 4, "grain_ns": 200_000},
    "placement": "linear",
}


def _described(job: dict[str, Any] | None = None, **changes: Any) -> Description:
    plain: dict[str, Any] = {"network": _BUTTERFLY, "routing": "pal", "consolidation": _TCEP}
    return described(job or _PAUSES, **(plain | changes))


def _same(one: Replayed, other: Replayed) -> bool:
    return (one.ranks, one.links, one.shares, one.runs) == (other.ranks, other.links, other.shares, other.runs)


def test_links_that_a_program_does_not_need_are_off() -> None:
    description = _described()
    always, gated = (replay(description, 1, sleeping=sleeping) for sleeping in (False, True))
    assert (gated.messages, gated.sent_byte) == (always.messages, always.sent_byte)
    # The program pauses most of the time; the root network is half of all links and stays.
    assert always.shares.off == 0
    assert 0.4 < gated.shares.off <= 0.5
    assert sum((gated.shares.on, gated.shares.off)) == pytest.approx(1)
    assert gated.run_time_s > always.run_time_s
    assert by_bits(description.energy, gated.shares).ratio.value < 0.65
    assert [one.sleeping for one in tasks_of(description)] == [False, True]


def test_without_gating_a_run_is_that_of_the_plain_description() -> None:
    plain = replay(_described(consolidation=None), 1, sleeping=True)
    assert _same(replay(_described(), 1, sleeping=False), plain)
    assert _same(replay(_described(), 1, sleeping=True), replay(_described(), 1, sleeping=True))


_BOTH = DEEP | {"hold": 100}


def test_links_that_are_left_on_sleep_besides() -> None:
    gated, asleep, joint = (
        replay(_described(**own), 1, sleeping=True)
        for own in ({}, {"consolidation": None, "links": _BOTH}, {"links": _BOTH})
    )
    assert (joint.messages, joint.sent_byte) == (gated.messages, gated.sent_byte)
    for shares in (joint.shares, joint.carried_shares):
        assert shares.on + shares.low_power + shares.off == pytest.approx(1)
    assert joint.shares.off > 0.4
    assert joint.shares.low_power > 0.3
    taken = [by_bits(_described().energy, one.shares).ratio.value * one.run_time_s for one in (gated, asleep, joint)]
    assert taken[2] < min(taken[:2])
    # A link that carried nothing is in no row; of the others each has all of its time.
    age = {name: joint.links[name] for name in joint.links if name.endswith("_cycles")}
    assert len({sum(cycles) for cycles in zip(*age.values(), strict=True)}) == 1


def test_with_a_hold_that_never_ends_it_is_tcep_alone() -> None:
    endless = DEEP | {"hold": 1_000_000_000}
    assert _same(replay(_described(links=endless), 1, sleeping=True), replay(_described(), 1, sleeping=True))


def test_with_an_epoch_that_never_ends_it_is_sleep_alone() -> None:
    never = _described(consolidation=_TCEP | {"epoch": 1_000_000_000}, links=_BOTH)
    alone = _described(consolidation=None, links=_BOTH)
    assert _same(replay(never, 1, sleeping=True), replay(alone, 1, sleeping=True))


def test_cycles_twice_as_long_make_a_run_twice_as_long() -> None:
    slow = {"program": _PAUSES["program"] | {"grain_ns": 400_000}, "placement": "linear"}  # type: ignore[operator]
    once = replay(_described(links=_BOTH), 1, sleeping=True)
    twice = replay(_described(slow, links=_BOTH, programs={"cycle_ns": 2.0}), 1, sleeping=True)
    assert twice.run_time_s == pytest.approx(2 * once.run_time_s, rel=1e-12)
    assert (twice.links, twice.shares) == (once.links, once.shares)


def test_workers_do_not_change_what_comes_out(tmp_path: Path) -> None:
    description = _described(links=_BOTH, seeds=[1, 2])
    with local_pool(2) as two:
        for name, pool in (("here", HerePool()), ("two", two)):
            replay_all(description, ReplayResults(tmp_path / name, description), pool, lambda _: None)
    here, two_frame = (pl.read_parquet(tmp_path / name / "replays.parquet") for name in ("here", "two"))
    assert here.drop("process_s").equals(two_frame.drop("process_s"))


def test_a_second_without_messages_costs_next_to_nothing() -> None:
    alone = {"program": _PAUSES["program"] | {"iterations": 1, "grain_ns": 1_000_000_000}, "placement": "linear"}  # type: ignore[operator]
    found = replay(_described(alone), 1, sleeping=True)
    assert found.run_time_s > 1
    assert found.process_s < 5


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ValueError, match="write routing: pal"):
        _described(routing="dor")
    with pytest.raises(ValueError, match="consolidation or log_gops out"):
        _described(programs={"log_gops": {"latency_ns": 500, "gap_ns": 0, "gap_byte_ns": 1}})
