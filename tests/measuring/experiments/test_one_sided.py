"""One-sided MPI: whichever way Open MPI moves a window's data, it is counted once, or the count is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.measuring.experiments.one_sided import Count, UnclearWindows, apart
from eee_testbed.measuring.experiments.traffic import monitored
from tests.support.laws import law

_HEADER_BYTE = 48
_OPERATIONS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1]),
    st.tuples(st.integers(0, 50), st.integers(1, 10**6), st.integers(0, 50), st.integers(1, 10**6)),
    max_size=6,
)
"""By pair: how many puts of which size, and how many fetches of which size."""

Lines = dict[str, dict[tuple[int, int], Count]]


def _counted(operations: dict[tuple[int, int], tuple[int, int, int, int]], *, by_messages: bool) -> Lines:
    """What Open MPI writes: an operation is a line of S, a fetch is one of R too; with pt2pt there are messages."""
    lines: Lines = {kind: {} for kind in "EISR"}

    def add(kind: str, pair: tuple[int, int], messages: int, byte: int) -> None:
        if messages:
            lines[kind][pair] = lines[kind].get(pair, Count()) + Count(messages, byte)

    for (rank, target), (puts, put_byte, gets, get_byte) in operations.items():
        add("S", (rank, target), puts + gets, puts * put_byte)
        add("R", (rank, target), gets, gets * get_byte)
        if by_messages:
            add("E", (rank, target), 2 * puts + gets, puts * put_byte + (puts + gets) * _HEADER_BYTE)
            add("E", (target, rank), gets, gets * get_byte)
    return lines


def _right(operations: dict[tuple[int, int], tuple[int, int, int, int]]) -> dict[tuple[int, int], int]:
    right: dict[tuple[int, int], int] = {}
    for (rank, target), (puts, put_byte, gets, get_byte) in operations.items():
        right[rank, target] = right.get((rank, target), 0) + puts * put_byte
        right[target, rank] = right.get((target, rank), 0) + gets * get_byte
    return {pair: byte for pair, byte in right.items() if byte}


def _apart(lines: Lines) -> dict[tuple[int, int], int]:
    found = apart(own=lines["E"], inner=lines["I"], put=lines["S"], fetched=lines["R"])
    return {pair: count.byte for pair, count in found.items() if count.byte}


@law(60)
@given(_OPERATIONS)
def test_windows_apart_from_messages_are_added_and_those_of_messages_are_not(
    operations: dict[tuple[int, int], tuple[int, int, int, int]],
) -> None:
    assert _apart(_counted(operations, by_messages=False)) == _right(operations)
    assert _apart(_counted(operations, by_messages=True)) == {}


def test_own_messages_beside_windows_leave_them_open_unless_windows_matter_little() -> None:
    puts = {(0, 1): (10, 1_000_000, 0, 1)}
    beside = {(0, 1): Count(100, 50_000_000)}
    lines = _counted(puts, by_messages=False)
    with pytest.raises(UnclearWindows, match=r"10,000,000 bytes over windows .*--traffic counters"):
        apart(own=beside, inner={}, put=lines["S"], fetched=lines["R"])
    assert apart(own={(0, 1): Count(1, 4_000)}, inner={}, put=lines["S"], fetched=lines["R"]).keys() == {(0, 1)}
    plenty = {(0, 1): Count(100, 5_000_000_000)}
    assert apart(own=plenty, inner={}, put=lines["S"], fetched=lines["R"]) == {}


def test_a_fetch_goes_the_other_way() -> None:
    """The shape of files of Open MPI 4.1.4 whose windows are shared memory, numbers ours."""
    first = "# POINT TO POINT\nI\t0\t1\t800 bytes\t9 msgs sent\t2,0\n# OSC\nS\t0\t1\t0 bytes\t7 msgs sent\n"
    first += "R\t0\t1\t28672 bytes\t7 msgs sent\n# COLLECTIVES\n"
    second = "# POINT TO POINT\nI\t1\t0\t30 bytes\t9 msgs sent\t2,0\n# OSC\n# COLLECTIVES\n"
    found = monitored(2, [first, second])
    assert found.size_byte == ((0, 800), (28_702, 0))
    assert found.messages == ((0, 9), (16, 0))
