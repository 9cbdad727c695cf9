"""Bruck's Alltoall on Koibuchi's lab and the engine's virtual clock: its trees, its frames, what waits hide."""

from collections.abc import Sequence

import pytest

from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab
from evaluation.accuracy.bruck_engine import Fabric, Program, Tree, Trees, choices, rounds, run_time_s

BLOCK_BYTE = 60


@pytest.fixture(scope="module")
def lab() -> Lab:
    return load_lab(find_lab("koibuchi"))


@pytest.fixture(scope="module")
def trees(lab: Lab) -> Trees:
    return choices(lab, BLOCK_BYTE)


def test_rounds_send_every_block_as_often_as_its_number_has_bits() -> None:
    assert [step for step, _ in rounds(66)] == [1, 2, 4, 8, 16, 32, 64]
    assert sum(blocks for _, blocks in rounds(66)) == sum(block.bit_count() for block in range(66))


def test_choices_are_those_of_the_record(trees: Trees) -> None:
    """`evaluation/records/links-koibuchi-42.yaml` and -55: what is left is in `studies/koibuchi-lab.yaml`."""
    assert list(trees) == ["all", "42 of 60 off", "55 of 60 off"]
    left = {name: sorted(_trunks(own)) for name, own in trees.items()}
    assert [len(one) for one in left.values()] == [60, 18, 5]
    odd_and_even = {(int(a[-1]) % 2, int(b[-1]) % 2) for a, b, _ in left["42 of 60 off"]}
    assert odd_and_even <= {(0, 1), (1, 0)}
    assert [(a, b) for a, b, _ in left["55 of 60 off"]] == [
        ("sw1", "sw6"), ("sw2", "sw3"), ("sw3", "sw4"), ("sw4", "sw5"), ("sw5", "sw6"),
    ]  # fmt: skip


def _trunks(trees: Sequence[Tree]) -> set[tuple[str, str, int]]:
    """The two switches, and the number, of each trunk that a tree uses."""
    return {(min(there, here), max(there, here), number) for one in trees for there, (here, number) in one.ways.items()}


def test_no_frame_is_flooded_or_lost(lab: Lab, trees: Trees) -> None:
    fabric = Fabric(lab, trees["all"])
    for source, nic in enumerate(fabric.nics):
        for target in range(len(fabric.nics)):
            if target != source:
                fabric.engine.send(nic, fabric.now, _frame(target, source))
    came = fabric.engine.run_until(fabric.now + 10**10)
    assert len(came) == 66 * 65
    assert fabric.engine.frames()["copies"] == 0
    assert all(frame[:6] == _mac(fabric.nics.index(nic)) for nic, _, frame in came)


def _mac(number: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, number])


def _frame(target: int, source: int) -> bytes:
    return (_mac(target) + _mac(source) + b"\x88\xb5").ljust(60, b"\0")


def test_waits_for_processors_hide_links_that_are_off(lab: Lab, trees: Trees) -> None:
    def slower_percent(choice: str, wait_us: float) -> float:
        program = Program(BLOCK_BYTE, 561.0, 3, wait_us)
        return 100 * (run_time_s(lab, trees[choice], program) / run_time_s(lab, trees["all"], program) - 1)

    assert 60 < slower_percent("55 of 60 off", 0.0) < 90
    assert slower_percent("55 of 60 off", 100.0) < 20
    assert 2 < slower_percent("42 of 60 off", 0.0) < 10


def test_a_call_takes_at_least_its_rounds_and_the_pause(lab: Lab, trees: Trees) -> None:
    """Two trunks' and two hosts' links a round at most; 8 us for a send, 4 us for a receive."""
    time_s = run_time_s(lab, trees["all"], Program(BLOCK_BYTE, 561.0, 2))
    sent_us = sum(8 * blocks * BLOCK_BYTE / 1000 for _, blocks in rounds(66))
    assert time_s / 2 * 1e6 > 561 + 7 * (8 + 4) + sent_us
