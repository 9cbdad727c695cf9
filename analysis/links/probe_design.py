"""Choice of gaps that reveal more about a policy than random ones.

A hold is known to within the distance of the gaps around it, a sleep time only from echoes that arrive in it. So a
study sends more echoes after gaps about the edge that a first fit found.
"""

from eee_testbed.analysis.interval import Interval

_MARGIN = 0.5
"""Fraction of an uncertain range that is added on both sides of it."""


def about_edge(edge: Interval, sleep_us: Interval) -> tuple[float, float]:
    """Gaps, in us, from just before an edge to the end of the sleep time after it, as far as both are uncertain."""
    last = edge.high + sleep_us.high
    margin = _MARGIN * max(last - edge.low, edge.half_width)
    return edge.low - min(margin, 4 * edge.half_width + 1.0), last + margin
