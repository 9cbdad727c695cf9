"""Joules of strips: their power, integrated over the samples that were taken.

A strip's own counter may move in steps of 0.1 kWh, which is more than a run takes.
"""

from collections.abc import Mapping
from typing import Final

from eee_testbed.record.columns import column_of
from eee_testbed.record.sample_tables import Batch

_MOST_GAP_S: Final = 30.0
"""Between two samples: over a longer gap nothing is known, and nothing is counted."""


class MeasuredEnergy:
    """Joules by strip since the first sample, by the trapezoidal rule; stale samples are left out."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, float]] = {}
        self._joules: dict[str, float] = {}

    def take(self, batch: Batch) -> None:
        """Add the rows of whole strips of a batch of the table `watts`; times are the middle of their requests."""
        names = ("strip", "outlet", "power_watt", "mark", "sent_ns", "received_ns")
        for strip, outlet, watt, mark, sent_ns, received_ns in zip(*(column_of(batch, n) for n in names), strict=True):
            if outlet != 0 or watt is None or mark == "stale":
                continue
            now_ns = (sent_ns + received_ns) // 2
            before_ns, before_watt = self._last.get(strip, (now_ns, watt))
            gap_s = (now_ns - before_ns) / 1e9
            self._joules.setdefault(strip, 0.0)
            if 0 < gap_s <= _MOST_GAP_S:
                self._joules[strip] += gap_s * (before_watt + watt) / 2
            self._last[strip] = (now_ns, float(watt))

    @property
    def joules(self) -> Mapping[str, float]:
        """By strip."""
        return dict(self._joules)
