"""The order of trials: complete blocks, the same for the same seed, slow factors changed as seldom as that allows."""

from collections import Counter
from itertools import groupby, product

from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.measuring.experiments.blocks import Slot, SlotQueue, order_of
from eee_testbed.measuring.experiments.experiment import Level
from tests.support.laws import law

_FACTORS: dict[str, tuple[Level, ...]] = {"eee": ("on", "off"), "sleep_us": (0, 100, 200), "size": (1, 2)}


def test_more_blocks_leave_the_order_of_the_first_ones_as_it_was() -> None:
    """So a run can be extended."""
    for slow in ((), ("eee",)):
        short, long = (order_of(_FACTORS, blocks=blocks, seed=3, slow=slow) for blocks in (2, 5))
        assert long[: len(short)] == short


_factors = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True).map(tuple),
    min_size=1,
)


@law(40)
@given(_factors, st.integers(1, 4), st.integers(1, 3), st.integers(0, 99), st.data())
def test_every_block_has_every_combination_as_often_as_any_other(
    factors: dict[str, tuple[int, ...]], blocks: int, repetitions: int, seed: int, data: st.DataObject
) -> None:
    slow = data.draw(st.lists(st.sampled_from(sorted(factors)), unique=True))
    slots = order_of(factors, blocks=blocks, repetitions=repetitions, seed=seed, slow=slow)
    assert [slot.number for slot in slots] == list(range(len(slots)))
    every = {tuple(levels): repetitions for levels in product(*factors.values())}
    for _, block in groupby(slots, key=lambda slot: slot.block):
        assert Counter(tuple(slot.levels.values()) for slot in block) == every
    assert slots == order_of(factors, blocks=blocks, repetitions=repetitions, seed=seed, slow=slow)


@law(30)
@given(st.integers(0, 999), st.sampled_from([("eee",), ("eee", "size"), ("sleep_us",)]))
def test_slow_factors_change_once_for_each_of_their_combinations_in_a_block(seed: int, slow: tuple[str, ...]) -> None:
    for _, block in groupby(order_of(_FACTORS, blocks=3, seed=seed, slow=slow), key=lambda slot: slot.block):
        outer = [key for key, _ in groupby(tuple(slot.levels[name] for name in slow) for slot in block)]
        assert len(outer) == len(set(outer))


def test_the_order_is_random_and_another_one_in_every_block() -> None:
    def block_of(slots: tuple[Slot, ...], block: int) -> list[tuple[Level, ...]]:
        return [tuple(slot.levels.values()) for slot in slots if slot.block == block]

    slots = order_of(_FACTORS, blocks=2, seed=1)
    assert block_of(slots, 0) != block_of(slots, 1)
    assert block_of(slots, 0) != block_of(order_of(_FACTORS, blocks=2, seed=2), 0)
    assert order_of(_FACTORS, blocks=1, seed=1, slow=("eee",)) != order_of(_FACTORS, blocks=1, seed=2, slow=("eee",))


def test_skipped_combinations_are_in_no_block() -> None:
    slots = order_of(_FACTORS, blocks=2, skip=({"eee": "off", "size": 2},))
    assert len(slots) == 2 * (12 - 3)
    assert not any(slot.levels["eee"] == "off" and slot.levels["size"] == 2 for slot in slots)


@law(40)
@given(st.integers(0, 3), st.sets(st.integers(0, 11)), st.data())
def test_a_queue_repeats_failed_slots_in_their_block_and_valid_ones_never(
    retries: int, done: set[int], data: st.DataObject
) -> None:
    slots = order_of({"eee": ("on", "off"), "n": (1, 2)}, blocks=3)
    queue = SlotQueue(slots, done, retries)
    tried: Counter[int] = Counter()
    counted: set[int] = set(done)
    blocks: list[int] = []
    while (slot := queue.next()) is not None:
        assert slot.number not in counted
        tried[slot.number] += 1
        blocks.append(slot.block)
        if data.draw(st.booleans()):
            queue.succeeded(slot)
            counted.add(slot.number)
        else:
            assert queue.failed(slot) == (tried[slot.number] <= retries)
    assert blocks == sorted(blocks)
    assert {slot.number for slot in queue.missing()} == {slot.number for slot in slots} - counted
    assert all(tried[number] == retries + 1 for number in {slot.number for slot in queue.missing()})
    assert queue.done == len(counted)


def test_a_slot_that_was_given_up_is_missing_and_never_repeated() -> None:
    first, second = order_of({"n": (1, 2)}, blocks=1)
    queue = SlotQueue((first, second), (), 2)
    assert queue.next() == first
    assert queue.failed(first)
    queue.gave_up(first)
    assert queue.next() == second
    queue.succeeded(second)
    assert queue.next() is None
    assert queue.missing() == (first,)


def test_an_invalidated_trial_is_repeated() -> None:
    first, second = order_of({"n": (1, 2)}, blocks=1)
    queue = SlotQueue((first, second), (), 1)
    assert queue.next() == first
    queue.succeeded(first)
    assert queue.next() == second
    queue.succeeded(second)
    assert queue.failed(first)
    assert queue.next() == first
    assert not queue.failed(first)
    assert queue.next() is None
    assert queue.missing() == (first,)
