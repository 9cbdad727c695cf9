"""Programs on a network whose links TCEP turns off."""

from typing import Any

import pytest

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.power_models import by_bits
from eee_testbed.simulation.replay.replayed import Replayed, replay
from eee_testbed.simulation.replay.sweep import tasks_of
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


def test_a_second_without_messages_costs_next_to_nothing() -> None:
    alone = {"program": _PAUSES["program"] | {"iterations": 1, "grain_ns": 1_000_000_000}, "placement": "linear"}  # type: ignore[operator]
    found = replay(_described(alone), 1, sleeping=True)
    assert found.run_time_s > 1
    assert found.process_s < 5


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ValueError, match="write routing: pal"):
        _described(routing="dor")
    with pytest.raises(ValueError, match="consolidation out"):
        _described(links=DEEP)
    with pytest.raises(ValueError, match="consolidation out"):
        _described(programs={"log_gops": {"latency_ns": 500, "gap_ns": 0, "gap_byte_ns": 1}})
