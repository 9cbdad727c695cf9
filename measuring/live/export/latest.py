"""The newest batch of each source."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eee_testbed.measuring.live.export.measured_energy import MeasuredEnergy
from eee_testbed.record.sample_tables import TABLES, Batch


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """A batch and its time of arrival on the monotonic clock."""

    batch: Batch
    arrived_s: float


class Latest:
    """A sink that keeps the last batch of each table and device, and counts polls by outcome and joules by strip."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._lock = threading.Lock()
        self._batches: dict[tuple[str, str], TimedBatch] = {}
        self._polls: dict[tuple[str, str, str], int] = {}
        self._energy = MeasuredEnergy()

    def take(self, batch: Batch) -> None:
        """Replace the previous batch."""
        with self._lock:
            if batch.table == "polls":
                poll = (str(batch.columns["source"]), str(batch.columns["kind"]), str(batch.columns["outcome"]))
                self._polls[poll] = self._polls.get(poll, 0) + 1
                return
            if batch.table == "watts":
                self._energy.take(batch)
            device = str(batch.columns[TABLES[batch.table].keys[0]])
            self._batches[batch.table, device] = TimedBatch(batch, self._now_s())

    def batches(self, table: str, oldest_s: float) -> list[TimedBatch]:
        """Batches of a table that arrived at most `oldest_s` ago."""
        now_s = self._now_s()
        with self._lock:
            kept = [timed for (name, _), timed in sorted(self._batches.items()) if name == table]
        return [timed for timed in kept if now_s - timed.arrived_s <= oldest_s]

    def joules(self) -> Mapping[str, float]:
        """Energy of each strip since its first sample, from its power."""
        with self._lock:
            return self._energy.joules

    def polls(self) -> dict[tuple[str, str, str], int]:
        """How many polls of (source, kind) had each outcome."""
        with self._lock:
            return dict(self._polls)
