"""Points and replays of before links that turn on, and packets, were counted."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from eee_testbed.simulation.point import simulate_point
from eee_testbed.simulation.replay.replayed import replay
from eee_testbed.simulation.replay.results import REPLAYS, ReplayResults, read_replays
from eee_testbed.simulation.results import POINTS, frame_of, read_points
from tests.simulation.test_results import small_description
from tests.support.replays import described


def test_points_without_the_share_have_none_of_it(tmp_path: Path) -> None:
    point = simulate_point(small_description(), 0.1, 1)
    old = frame_of([point]).drop("turning_on_share")
    old.write_parquet(tmp_path / POINTS)
    assert read_points(tmp_path / POINTS) == [replace(point, turning_on_share=0.0)]


def test_replays_without_the_shares_have_none_of_them(tmp_path: Path) -> None:
    description = described()
    found = replay(description, 1, sleeping=False, say=lambda _: None)
    ReplayResults(tmp_path, description).add(found)
    new = pl.read_parquet(tmp_path / REPLAYS)
    new.drop("turning_on_share", "carried_turning_on_share", "node_turning_on_share").write_parquet(tmp_path / REPLAYS)
    (old,) = read_replays(tmp_path)
    assert (old.shares, old.carried_shares, old.node_shares) == (found.shares, found.carried_shares, found.node_shares)


def test_replays_without_packets_have_none(tmp_path: Path) -> None:
    description = described()
    found = replay(description, 1, sleeping=False, say=lambda _: None)
    assert found.packets > 0
    ReplayResults(tmp_path, description).add(found)
    new = pl.read_parquet(tmp_path / REPLAYS)
    new.drop("packets", "packet_cycles", "control_packets").write_parquet(tmp_path / REPLAYS)
    (old,) = read_replays(tmp_path)
    assert (old.packets, old.packet_cycles, old.control_packets) == (0, 0, 0)
