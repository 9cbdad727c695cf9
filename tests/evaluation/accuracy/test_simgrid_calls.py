"""Traces of single calls, and their replay beside closed forms; SimGrid itself is not needed."""

from pathlib import Path

import pytest

from evaluation.accuracy.simgrid_calls import CASES, compared, ours_s, written


def test_each_rank_has_a_file_and_idle_ranks_only_begin_and_end(tmp_path: Path) -> None:
    files = written(tmp_path, CASES["to and fro, 60 kB"])
    assert files[0].read_text(encoding="utf-8").splitlines() == [
        "0 init",
        "0 send 1 0 60000",
        "0 recv 1 0 60000",
        "0 finalize",
    ]
    assert files[7].read_text(encoding="utf-8") == "7 init\n7 finalize\n"


@pytest.mark.parametrize(
    ("case", "wanted_s"),
    [
        ("to and fro, 1 MB", 2 * 1e6 * 0.8e-9),
        ("tags out of order, both begun", 2 * 200_000 * 0.8e-9 + 160e-6),
        ("test, compute, test, wait", 400e-6),
        ("scatter", 100e-6 + 7 * 80_000 * 0.8e-9),
        ("alltoallv", 100e-6 + 7 * 80_000 * 0.8e-9),
    ],
)
def test_a_case_takes_what_its_bytes_and_computing_take(tmp_path: Path, case: str, wanted_s: float) -> None:
    """A byte takes 0.8 ns at 10 Gb/s."""
    assert ours_s(written(tmp_path, CASES[case])) == pytest.approx(wanted_s, rel=0.02)


def test_both_replay_the_same_files() -> None:
    found = compared({"one": CASES["bcast"]}, len, lambda files: len(files[0].read_text(encoding="utf-8")))
    assert found == {"one": (8, len("0 init\n0 compute 1e5\n0 bcast 100000 0 0\n0 finalize\n"))}
