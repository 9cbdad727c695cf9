"""What ports counted in an epoch, from the samples of a collector that lie wholly within it.

Nothing is filled in: an epoch in which a switch was not sampled twice, or a counter was reset, has no counts but a
sentence that says why. The collector's threads call `take`; the loop's thread calls the rest.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eee_testbed.controller.planning.plan import Place
from eee_testbed.record.columns import midpoint, rows_of
from eee_testbed.record.counters import increase
from eee_testbed.record.sample_tables import Batch

_COLUMNS: Final = ("switch", "port", "sent_ns", "received_ns", "up", "in_byte", "out_byte", "mark")
_NOT_CONTINUOUS: Final = ("reset", "stale", "restarted")
_NS: Final = 1e9


@dataclass(frozen=True, slots=True)
class PortCount:
    """Bytes a second that a port received and sent, and whether its link was up at the last sample (None: unknown)."""

    in_byte_s: float
    out_byte_s: float
    up: bool | None


@dataclass(frozen=True, slots=True)
class EpochCounts:
    """Every port that was asked for, between its first and its last sample in an epoch."""

    ports: Mapping[Place, PortCount]


@dataclass(slots=True)
class _Samples:
    first: Mapping[str, Any]
    last: Mapping[str, Any]
    broken: str = ""


class EpochCounters:
    """A sink of a collector that keeps the samples of the present epoch, of some ports."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = tuple(places)
        self._wanted = frozenset(self._places)
        self._switches = frozenset(switch for switch, _ in self._places)
        self._lock = threading.Lock()
        self._begun_ns = 0
        self._samples: dict[Place, _Samples] = {}
        self._failed: dict[str, str] = {}
        self._restarted: set[str] = set()

    def begin(self, now_ns: int) -> None:
        """An epoch begins: earlier samples do not count."""
        with self._lock:
            self._begun_ns = now_ns
            self._samples.clear()
            self._failed.clear()

    def take(self, batch: Batch) -> None:
        """Keep the rows of a batch that belong to the epoch."""
        with self._lock:
            if batch.table == "polls":
                self._take_poll(batch)
            elif batch.table == "ports":
                for row in rows_of(batch, _COLUMNS):
                    self._take_row(row)

    def restarted(self) -> tuple[str, ...]:
        """The switches that have restarted since this was asked last."""
        with self._lock:
            switches, self._restarted = tuple(sorted(self._restarted)), set()
        return switches

    def counts(self) -> EpochCounts | str:
        """What was counted since the epoch began, or a sentence that says why it is not known."""
        with self._lock:
            for place in self._places:
                if why := self._why_not(place):
                    return why
            return EpochCounts({place: _count(self._samples[place]) for place in self._places})

    def _take_poll(self, batch: Batch) -> None:
        poll = batch.columns
        name = str(poll["source"])
        if poll["kind"] != "switch" or name not in self._switches:
            return
        if poll["mark"] == "restarted":
            self._restarted.add(name)
        if poll["outcome"] == "failed":
            self._failed[name] = str(poll["why"])

    def _take_row(self, row: Mapping[str, Any]) -> None:
        place = row["switch"], row["port"]
        if place not in self._wanted or row["sent_ns"] is None or row["sent_ns"] < self._begun_ns:
            return
        sample = self._samples.get(place)
        if sample is None:
            self._samples[place] = _Samples(row, row)
            return
        if row["mark"] in _NOT_CONTINUOUS:
            sample.broken = sample.broken or row["mark"]
        sample.last = row

    def _why_not(self, place: Place) -> str:
        """Why a port's counts are not known; empty if they are."""
        name = place[0]
        sample = self._samples.get(place)
        if sample is None or sample.first is sample.last:
            return self._failed.get(name) or f"{name}: it was not sampled twice in this epoch."
        if sample.broken:
            return f"{name}:{place[1]}: its counters were {sample.broken} in the middle of this epoch."
        for column in ("in_byte", "out_byte"):
            if increase(sample.first[column], sample.last[column]) is None:
                return f"{name}:{place[1]}: its counters of bytes are missing, or went back."
        return ""


def _count(samples: _Samples) -> PortCount:
    first, last = samples.first, samples.last
    span_s = (_time_ns(last) - _time_ns(first)) / _NS
    received, sent = (increase(first[name], last[name]) or 0 for name in ("in_byte", "out_byte"))
    return PortCount(received / span_s, sent / span_s, last["up"])


def _time_ns(row: Mapping[str, Any]) -> int:
    return midpoint(int(row["sent_ns"]), int(row["received_ns"]))
