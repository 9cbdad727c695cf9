"""The traces that SimGrid's replay is compared on, in ours: all messages arrive, and rounds take their closed form."""

import random
from pathlib import Path

import pytest

from evaluation.accuracy.simgrid import drawn, neighbours, ours, simulated_s


def _written(folder: Path, lines: list[list[str]]) -> list[Path]:
    files = [folder / f"trace{rank}" for rank in range(len(lines))]
    for file, own in zip(files, lines, strict=True):
        file.write_text("".join(f"{line}\n" for line in own), encoding="utf-8")
    return files


def test_rounds_between_neighbours_take_computing_and_bytes(tmp_path: Path) -> None:
    lines, messages = neighbours(3, 4, 262_144)
    assert messages == 4 * 27
    found = ours(_written(tmp_path, lines), 3)
    assert found.run_time_s == pytest.approx(4 * (1e-4 + 262_144 / 1.25e9), rel=0.01)


def test_drawn_rounds_are_matched(tmp_path: Path) -> None:
    lines, messages = drawn(2, 5, 1024, random.Random(3))  # noqa: S311 - the same each time
    assert sum(" send " in line for own in lines for line in own) == messages
    assert ours(_written(tmp_path, lines), 2).run_time_s > 5e-4


def test_the_end_is_the_last_time_that_is_said() -> None:
    assert simulated_s("[n0:0:(1) 0.5] Simulation time 0.25\n[n1] [smpi_replay/INFO] Simulation time 0.75\n\n") == 0.75
