"""Processes that simulate points: one that is lost is started anew and its point run again, and none is left behind."""

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.point import BrokenSimulation, PointTask, simulate_point
from eee_testbed.simulation.pool import local_pool
from eee_testbed.simulation.worker import LostWorker, Serve, Simulated, Worker, serve


def _description(**changes: object) -> Description:
    return Description.model_validate(
        {
            "name": "test",
            "network": {"kind": "torus", "radix": [3]},
            "routing": "dor",
            "router": {"vcs": 2},
            "loads": [0.1],
            "precision": {"within_percent": 10, "batch_cycles": 50, "most_cycles": 20_000},
        }
        | changes
    )


def _die_once(here: Connection) -> None:
    """Killed with its first point, the first time."""
    marker = Path(os.environ["EEE_TEST_MARKER"])
    if not marker.exists():
        here.recv()
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    serve(here)


def _die(here: Connection) -> None:
    here.recv()
    os.kill(os.getpid(), signal.SIGKILL)


def _give_up(here: Connection) -> None:
    here.recv()
    raise SystemExit(3)


@pytest.mark.slow
def test_a_lost_process_is_started_anew_and_its_point_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EEE_TEST_MARKER", str(tmp_path / "died"))
    own = Worker(_die_once)
    description = _description()
    assert own.work(PointTask(description, 0.1, 1)) == Simulated(simulate_point(description, 0.1, 1), lost=1)
    assert own.work(PointTask(description, 0.1, 2)).lost == 0
    own.close()


@pytest.mark.slow
@pytest.mark.parametrize(("deadly", "words"), [(_die, "3 times, killed by SIGKILL"), (_give_up, "ended with status 3")])
def test_a_point_that_kills_its_process_is_given_up(deadly: Serve, words: str) -> None:
    with pytest.raises(LostWorker, match=words):
        Worker(deadly).work(PointTask(_description(), 0.1, 7))


@pytest.mark.slow
def test_a_mistake_comes_back_as_one_sentence() -> None:
    own = Worker()
    with pytest.raises(BrokenSimulation, match="does not work on a torus"):
        own.work(PointTask(_description(routing="tree_random"), 0.1, 1))
    assert own.work(PointTask(_description(), 0.1, 1)).result.seed == 1
    own.close()
    with pytest.raises(LabError, match="being ended"):
        own.work(PointTask(_description(), 0.1, 1))


def test_leaving_a_pool_ends_what_is_under_way() -> None:
    long = _description(precision={"within_percent": 0.001, "most_cycles": 2_000_000_000})
    with local_pool(2) as pool:
        futures = [pool.submit(PointTask(long, 0.1, seed)) for seed in range(3)]
    assert all(future.cancelled() or isinstance(future.exception(), LostWorker) for future in futures)
