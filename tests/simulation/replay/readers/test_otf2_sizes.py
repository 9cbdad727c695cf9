"""Score-P's bytes of collective calls: what is recorded is found again, or said to be open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.simulation.replay.calls import IN_PLACE, Call
from eee_testbed.simulation.replay.readers.otf2_sizes import OPERATIONS, Disagree, Doubts, Share, recorded, recovered
from tests.support.laws import law

_SIZES = st.sampled_from((0, 1, 3, 8, 100, 5 << 30))
_AT_ROOT = (Call.GATHER, Call.GATHERV, Call.SCATTER, Call.SCATTERV, Call.REDUCE)


@st.composite
def _calls(draw: st.DrawFn) -> tuple[Call, int, list[Share]]:
    """A call, its root, and the shares of its ranks."""
    call = draw(st.sampled_from(sorted(set(OPERATIONS))))
    p = draw(st.integers(1, 5))
    root, blocks = draw(st.integers(0, p - 1)), draw(st.lists(_SIZES, min_size=p, max_size=p))
    flags = IN_PLACE if draw(st.booleans()) and call not in (Call.BARRIER, Call.BCAST, Call.EXSCAN) else 0
    if call is Call.ALLTOALLV:
        matrix = [draw(st.lists(_SIZES, min_size=p, max_size=p)) for _ in range(p)]
        return call, root, [Share(sum(row), (*row, *(one[at] for one in matrix))) for at, row in enumerate(matrix)]
    shares = []
    for at in range(p):
        own = flags if call not in _AT_ROOT or at == root else 0
        sizes, size = None, 0 if call is Call.BARRIER else blocks[0]
        if call in (Call.GATHERV, Call.SCATTERV):
            size, sizes = blocks[at], tuple(blocks) if at == root else None
        elif call in (Call.ALLGATHERV, Call.REDUCE_SCATTER):
            size, sizes = (blocks[at] if call is Call.ALLGATHERV else sum(blocks)), tuple(blocks)
        shares.append(Share(size, sizes, own))
    return call, root, shares


@law(400)
@given(_calls())
def test_what_is_recorded_is_found_again(drawn: tuple[Call, int, list[Share]]) -> None:
    call, root, shares = drawn
    if call is Call.EXSCAN and len(shares) == 1:
        return  # nothing is sent, so nobody knows how much
    pairs = [recorded(call, at, root, share, len(shares)) for at, share in enumerate(shares)]
    sent, received = [one for one, _ in pairs], [one for _, one in pairs]
    doubts = Doubts()
    found = recovered(call, root, sent, received, doubts)
    again = [recorded(call, at, root, share, len(shares)) for at, share in enumerate(found)]
    assert again == pairs  # whatever was found explains the records
    in_place = any(share.flags for share in shares)
    if doubts.guessed:
        assert all(share.flags and share.bytes % 4 == 0 for share in found)
    elif call is Call.ALLTOALLV:
        assert [share.bytes for share in found] == sent
        assert all(min(share.sizes or (0,)) >= 0 for share in found)
    elif not in_place:
        assert [(one.bytes, one.sizes) for one in found] == [(one.bytes, one.sizes) for one in shares]
    elif not doubts.in_place and len(shares) > 1 and call not in (Call.GATHERV, Call.SCATTERV):
        assert [one.bytes for one in found] == [one.bytes for one in shares]


def test_the_table_of_in_place_calls() -> None:
    doubts = Doubts()
    found = recovered(Call.ALLREDUCE, 0, [255 * 8] * 256, [255 * 8] * 256, doubts)
    assert found == [Share(8, None, IN_PLACE)] * 256
    assert doubts.in_place == 0
    found = recovered(Call.ALLREDUCE, 0, [6] * 3, [6] * 3, doubts)
    assert found == [Share(2)] * 3
    assert doubts.in_place == 1


@pytest.mark.parametrize("call", [Call.ALLREDUCE, Call.REDUCE_SCATTER_BLOCK])
def test_a_reduction_of_parts_of_elements_is_in_place(call: Call) -> None:
    """8 bytes in place at 4 ranks are recorded as 24: 6 bytes for each of 4, or 8 for each of 3."""
    doubts = Doubts()
    assert recovered(call, 0, [24] * 4, [24] * 4, doubts) == [Share(8, None, IN_PLACE)] * 4
    assert (doubts.guessed, doubts.in_place) == (1, 0)
    assert recovered(call, 0, [48] * 4, [48] * 4, doubts) == [Share(12)] * 4
    assert recovered(Call.ALLTOALL, 0, [24] * 4, [24] * 4, doubts) == [Share(6)] * 4
    assert (doubts.guessed, doubts.in_place) == (1, 2)


def test_a_bcast_is_what_is_received() -> None:
    assert recovered(Call.BCAST, 0, [16384, 0, 0, 0], [4096] * 4, Doubts()) == [Share(4096)] * 4


def test_a_matrix_is_filled_in_proportion() -> None:
    doubts = Doubts()
    found = recovered(Call.ALLTOALLV, 0, [6, 0, 6], [4, 4, 4], doubts)
    assert [share.sizes for share in found] == [(2, 2, 2, 2, 0, 2), (0, 0, 0, 2, 0, 2), (2, 2, 2, 2, 0, 2)]
    assert doubts.filled == 1


@pytest.mark.parametrize(
    ("call", "sent", "received"),
    [
        (Call.ALLREDUCE, [7, 7, 7], [7, 7, 7]),
        (Call.ALLREDUCE, [6, 8], [6, 8]),
        (Call.GATHER, [4, 5], [8, 0]),
        (Call.GATHERV, [4, 5], [8, 0]),
        (Call.ALLGATHERV, [4, 8], [7, 7]),
        (Call.ALLTOALLV, [4, 4], [4, 5]),
        (Call.SCAN, [9, 9], [9, 9]),
        (Call.EXSCAN, [9, 9], [9, 9]),
        (Call.REDUCE_SCATTER, [5, 5], [3, 5]),
    ],
)
def test_records_that_fit_no_call(call: Call, sent: list[int], received: list[int]) -> None:
    with pytest.raises(Disagree):
        recovered(call, 0, sent, received, Doubts())
