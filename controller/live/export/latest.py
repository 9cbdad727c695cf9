"""The newest batch of each source, for whoever wants to show it."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from record.sample_tables import TABLES, Batch


@dataclass(frozen=True, slots=True)
class Shown:
    """A batch and when it came, by the monotonic clock."""

    batch: Batch
    came_s: float


class Latest:
    """A sink that keeps the last batch of each table and device, and counts polls by outcome."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._lock = threading.Lock()
        self._batches: dict[tuple[str, str], Shown] = {}
        self._polls: dict[tuple[str, str, str], int] = {}

    def take(self, batch: Batch) -> None:
        """Keep it in place of the one before."""
        with self._lock:
            if batch.table == "polls":
                who = (str(batch.columns["source"]), str(batch.columns["kind"]), str(batch.columns["outcome"]))
                self._polls[who] = self._polls.get(who, 0) + 1
                return
            self._batches[batch.table, str(batch.columns[TABLES[batch.table].keys[0]])] = Shown(batch, self._now_s())

    def batches(self, table: str, oldest_s: float) -> list[Shown]:
        """Those of a table that came no longer ago."""
        now_s = self._now_s()
        with self._lock:
            kept = [shown for (name, _), shown in sorted(self._batches.items()) if name == table]
        return [shown for shown in kept if now_s - shown.came_s <= oldest_s]

    def polls(self) -> dict[tuple[str, str, str], int]:
        """How many polls of (source, kind) had each outcome."""
        with self._lock:
            return dict(self._polls)
