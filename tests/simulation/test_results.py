"""A simulation's folder: one row a point, continued after a stop, and closed to other simulations."""

from pathlib import Path

import polars as pl
import pytest

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.folder import WrongFolder
from eee_testbed.simulation.point import Point
from eee_testbed.simulation.pool import HerePool, local_pool
from eee_testbed.simulation.results import Results
from eee_testbed.simulation.sweep import simulate
from eee_testbed.simulation.worker import Simulated


def small_description(**changes: object) -> Description:
    return Description.model_validate(
        {
            "name": "test",
            "network": {"kind": "torus", "radix": [3, 3]},
            "routing": "dor",
            "router": {"vcs": 2, "packet_flits": 4, "buffer_flits": 8},
            "loads": [0.1, 0.3],
            "seeds": [1, 2],
            "precision": {"within_percent": 5, "batch_cycles": 50, "most_cycles": 20_000},
        }
        | changes
    )


def _run(folder: Path, description: Description, jobs: int = 1) -> list[Point]:
    """The points that were simulated, rather than found."""
    fresh: list[Point] = []
    with local_pool(jobs) as pool:
        simulate(description, Results(folder, description), pool, lambda simulated: fresh.append(simulated.result))
    return fresh


def test_one_row_a_point_and_nothing_twice(tmp_path: Path) -> None:
    assert len(_run(tmp_path / "out", small_description())) == 4
    frame = pl.read_parquet(tmp_path / "out" / "points.parquet")
    assert frame.select("load", "seed").rows() == [(0.1, 1), (0.1, 2), (0.3, 1), (0.3, 2)]
    assert frame["latency"].null_count() == 0
    assert _run(tmp_path / "out", small_description()) == []
    # More loads are added to what is there.
    assert [point.load for point in _run(tmp_path / "out", small_description(loads=[0.1, 0.2, 0.3]))] == [0.2, 0.2]
    assert len(Results(tmp_path / "out", small_description()).points) == 6


def test_a_stop_costs_the_point_that_was_being_simulated(tmp_path: Path) -> None:
    class Stop(BaseException):
        pass

    def stop(_: Simulated) -> None:
        raise Stop

    with pytest.raises(Stop):
        simulate(small_description(), Results(tmp_path, small_description()), HerePool(), stop)
    assert len(Results(tmp_path, small_description()).points) == 1
    assert len(_run(tmp_path, small_description())) == 3


@pytest.mark.slow
def test_two_processes_give_the_same_points(tmp_path: Path) -> None:
    alone = _run(tmp_path / "one", small_description())
    together = _run(tmp_path / "two", small_description(), jobs=2)
    assert sorted(alone, key=lambda p: (p.load, p.seed)) == sorted(together, key=lambda p: (p.load, p.seed))
    assert (tmp_path / "one" / "points.parquet").read_bytes() == (tmp_path / "two" / "points.parquet").read_bytes()


def test_a_curve_finds_its_loads(tmp_path: Path) -> None:
    description = small_description(loads=None, curve={"points": 6, "lowest": 0.1}, seeds=[1])
    points = _run(tmp_path, description)
    assert 4 <= len(points) <= 6
    assert {point.load for point in points} >= {0.1, 1.0}
    assert _run(tmp_path, description) == []


def test_another_simulation_is_refused(tmp_path: Path) -> None:
    _run(tmp_path, small_description(loads=[0.1], seeds=[1]))
    with pytest.raises(WrongFolder, match="another simulation"):
        Results(tmp_path, small_description(routing="min_adaptive"))


def test_a_description_without_points_leaves_its_name_free(tmp_path: Path) -> None:
    Results(tmp_path, small_description())
    other = small_description(routing="min_adaptive", router={"vcs": 3}, loads=[0.1], seeds=[1])
    assert len(_run(tmp_path, other)) == 1
    assert len(Results(tmp_path, other).points) == 1


def test_points_of_another_that_came_before_the_lock_are_refused(tmp_path: Path) -> None:
    results = Results(tmp_path, small_description())
    _run(tmp_path, small_description(routing="min_adaptive", router={"vcs": 3}, loads=[0.1], seeds=[1]))
    with pytest.raises(WrongFolder, match="another simulation"), results.alone():
        pass


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    Results(tmp_path, small_description())
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "points.parquet")
    with pytest.raises(WrongFolder, match=r"points\.parquet has no point: remove that file"):
        Results(tmp_path, small_description())


def test_one_command_at_a_time(tmp_path: Path) -> None:
    with Results(tmp_path, small_description()).alone():
        other = Results(tmp_path, small_description())
        with pytest.raises(WrongFolder, match="another eeectl simulate adds results"), other.alone():
            pass
    with other.alone():
        pass
