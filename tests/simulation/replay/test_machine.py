"""Which node each rank runs on."""

import pytest

from eee_testbed.simulation.description import Description, Links
from eee_testbed.simulation.point import BrokenSimulation
from eee_testbed.simulation.replay.machine import begin_replay
from tests.support.replays import described, stencil


def _nodes(description: Description, seed: int = 1) -> list[int | None]:
    assert description.programs is not None
    replay = begin_replay(description, description.programs, (Links(), Links(), Links()), seed)
    while replay.advance(1000) == "running":
        pass
    return replay.ranks()["node"]


def test_jobs_take_the_first_free_nodes() -> None:
    assert _nodes(described(stencil(3), stencil(2))) == [0, 1, 2, 3, 4]
    assert _nodes(described(stencil(3, ranks_per_node=2), stencil(2))) == [0, 0, 1, 2, 3]
    assert _nodes(described(stencil(2, copies=2))) == [0, 1, 2, 3]


def test_given_nodes_are_taken_from_the_others() -> None:
    given = stencil(2, placement="given", nodes=[1, 0])
    assert _nodes(described(given, stencil(2))) == [1, 0, 2, 3]


def test_drawn_placements_depend_on_the_seed_alone() -> None:
    random = described(stencil(8, placement="random"))
    drawn = [tuple(_nodes(random, seed)) for seed in (1, 1, 2, 3)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3
    assert all(len(set(nodes)) == 8 for nodes in drawn)


def test_switches_are_filled_one_after_the_other_in_an_order_that_is_drawn() -> None:
    description = described(stencil(8, placement="by_switch"))
    nodes = [_nodes(description, seed) for seed in range(8)]
    switches = {tuple(node // 4 for node in one if node is not None) for one in nodes}
    assert all(len(set(one[:4])) == len(set(one[4:])) == 1 for one in switches)
    assert len(switches) > 2


def test_the_scheduler_takes_free_cores() -> None:
    jobs = [stencil(8, placement="scheduled", copies=3)]
    assert _nodes(described(*jobs, programs={"cores": 1, "jobs": jobs}))[:8] in ([*range(8)], [*range(8, 16)])


def test_time_beyond_what_is_counted_is_one_sentence() -> None:
    jobs = [stencil(2, compute_scale=1e6)]
    with pytest.raises(BrokenSimulation, match=r"computes until 20 s, and a replay counts 4.6e\+18 cycles: write a"):
        _nodes(described(*jobs, programs={"cycle_ns": 1e-9, "jobs": jobs}))


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (stencil(17), "needs 17 nodes and 16 are free"),
        (stencil(2, placement="given", nodes=[0]), "2 ranks and 1 nodes are given"),
        (stencil(2, placement="given", nodes=[0, 16]), "names node 16 of 16"),
        (stencil(17, placement="scheduled"), "has 17 ranks, and the machine 16 cores"),
    ],
)
def test_what_does_not_fit_on_the_machine_is_one_sentence(job: dict[str, object], words: str) -> None:
    with pytest.raises(BrokenSimulation, match=words):
        _nodes(described(job))
