"""Alltoall on the engine's virtual clock: what it sends, and what sleeping ports add to a round."""

import pytest

from evaluation.accuracy.alltoall_engine import MIWA, Configuration, play, profile_of


@pytest.mark.parametrize("ranks_per_node", [1, 2])
def test_every_message_is_sent_and_received_once(ranks_per_node: int) -> None:
    shape = Configuration(array_byte=65_536, sleep_us=200, ranks_per_node=ranks_per_node, iterations=20)
    played = play(shape, None, seed=1)
    frames = -(-shape.message_byte // 1448)
    ranks = shape.rank_count
    wanted = shape.iterations * ranks_per_node * (ranks - ranks_per_node) * frames
    assert [gaps.receive.frame_count for gaps in played.gaps] == [wanted] * 4
    assert [gaps.transmit.frame_count for gaps in played.gaps] == [wanted] * 4


def test_a_wake_a_round_beyond_the_hold_and_none_below() -> None:
    far, near = (Configuration(array_byte=1024, sleep_us=sleep_us, iterations=150) for sleep_us in (1500, 300))
    late_us = (play(far, MIWA, 2).time_s - play(far, None, 1).time_s) / 150 * 1e6
    assert late_us == pytest.approx(45, abs=15)  # a Tw of 60 us less what the other frames of a round take anyway
    assert play(near, MIWA, 2).time_s == pytest.approx(play(near, None, 1).time_s, rel=0.03)


def test_the_same_seed_gives_the_same_run() -> None:
    shape = Configuration(array_byte=1024, sleep_us=900, iterations=30)
    assert play(shape, MIWA, 3) == play(shape, MIWA, 3)
    assert profile_of(shape, play(shape, None, 3)).call_count == 30
