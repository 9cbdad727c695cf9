"""What one rank measures of its own iterations, without MPI."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MS = 1_000_000


@pytest.fixture
def ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The program's module; mpi4py is of the nodes, not of this machine: one without MPI stands in for it."""
    (tmp_path / "mpi4py.py").write_text("class MPI: ...\nclass rc: ...\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    name = "eee_testbed.benchmarks.on_nodes.alltoall_ranks"
    yield importlib.import_module(name)
    for imported in (name, "mpi4py"):
        sys.modules.pop(imported, None)


def test_a_second_mode_is_what_iterations_take_beyond_the_median_and_any_waking_link(ranks: Any) -> None:
    clean = [640_000] * 90
    assert ranks.slow_ns(clean) == 0
    assert ranks.slow_ns([*clean, *[900_000] * 10]) == 0, "links that wake are no second mode"
    assert ranks.slow_ns([*clean, *[7 * MS] * 10]) == 10 * (7 * MS - 640_000)


def test_the_kernel_counts_what_a_rank_and_its_machine_waited_for(ranks: Any) -> None:
    assert ranks.waited_ns() >= 0
    assert ranks.stolen_s() >= 0.0
    before_s = ranks.uptime_s()
    assert 0 < before_s <= ranks.uptime_s()
