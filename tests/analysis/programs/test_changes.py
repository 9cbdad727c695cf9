"""How much slower a state of the lab makes a program, from trials of the same blocks."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from eee_testbed.analysis.programs.changes import worst_slowdowns
from tests.support.measured.synthetic_run import HOSTS, Writer, write_run


def _run(root: Path, blocks: int, seed: int, *, drift: float = 0.0, repetitions: int = 1) -> Path:
    """EEE costs 10 % with a pause of 1,000 us and nothing without; `drift` by block is common to both."""

    def part(writer: Writer) -> None:
        random = np.random.default_rng(seed)
        for block, _ in product(range(blocks), range(repetitions)):
            for sleep_us, slower in ((0, 1.0), (1_000, 1.1), (3_000, 1.03)):
                for eee in ("off", "on"):
                    time_s = 2.0 * (slower if eee == "on" else 1.0) * (1 + drift * block)
                    time_s *= float(np.exp(random.normal(0, 0.01)))
                    levels = {"eee": eee, "sleep_us": sleep_us}
                    figures = [("time", time_s, "s")]
                    writer.write(levels, 2.0, figures=figures, program="alltoall", hosts=HOSTS, block=block)

    return write_run(root, part, name=f"seed-{seed}-{blocks}-{repetitions}")


def test_a_block_in_which_nothing_was_repeated_has_no_interval(tmp_path: Path) -> None:
    (found,) = worst_slowdowns(_run(tmp_path, 1, 0))
    assert (found.program, found.state, found.slower_percent) == ("alltoall 4x0", "eee on", None)


@pytest.mark.slow
def test_the_interval_holds_what_it_costs_whatever_drifts_from_block_to_block(tmp_path: Path) -> None:
    held = 0
    for seed in range(60):
        (found,) = worst_slowdowns(_run(tmp_path, 3, seed, drift=0.5))
        assert found.slower_percent is not None
        assert found.slower_percent.value == pytest.approx(10.0, abs=4.0)
        held += found.slower_percent.holds(10.0)
    assert held >= 50


@pytest.mark.slow
def test_repetitions_within_a_single_block_have_an_interval(tmp_path: Path) -> None:
    held = 0
    for seed in range(60):
        (found,) = worst_slowdowns(_run(tmp_path, 1, seed, repetitions=3))
        assert found.slower_percent is not None
        held += found.slower_percent.holds(10.0)
    assert held >= 50


@pytest.mark.slow
def test_more_blocks_make_it_narrower(tmp_path: Path) -> None:
    widths = []
    for blocks in (2, 12):
        found = [worst_slowdowns(_run(tmp_path, blocks, seed))[0].slower_percent for seed in range(8)]
        widths.append(np.mean([one.half_width for one in found if one is not None]))
    assert widths[1] < 0.6 * widths[0]


def test_without_a_state_that_saves_nothing_there_is_nothing_to_compare(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        writer.write({"eee": "on"}, 2.0, figures=[("time", 2.0, "s")], program="alltoall", hosts=HOSTS)

    assert worst_slowdowns(write_run(tmp_path, part)) == ()
