"""The bin of a gap in the histograms of `agents.gap_histogram`, found by search instead of by shifts."""

from bisect import bisect_right

from eee_testbed.agents.gap_histogram import lower_edges_ns

_EDGES = lower_edges_ns()


def bin_of(gap_ns: int) -> int:
    """The bin of a gap >= 0: the last one whose lower edge is not above it."""
    return bisect_right(_EDGES, gap_ns) - 1
