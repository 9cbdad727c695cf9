"""Power of the strips: now and over time, by device and in total."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from eee_testbed.measuring.live.state.view import DevicePower, PowerView
from eee_testbed.record.columns import midpoint_ns, rows_of
from eee_testbed.record.sample_tables import Batch

_MOST_POINTS: Final = 4_096
_SILENT_NS: Final = 10_000_000_000
_SILENT_PERIODS: Final = 3
_GAP_NS: Final = 30_000_000_000
"""Longer gaps between readings add no energy, as the power in them is unknown."""


@dataclass(frozen=True, slots=True)
class _Outlet:
    feeds: str
    power_watt: float
    stale: bool


@dataclass(frozen=True, slots=True)
class _Strip:
    time_ns: int
    power_watt: float
    between_ns: int
    """Time since the reading before."""

    def is_recent(self, now_ns: int) -> bool:
        """Whether its last reading is recent enough for the total."""
        return now_ns - self.time_ns < max(_SILENT_NS, _SILENT_PERIODS * self.between_ns)


class PowerHistory:
    """Adds up readings of `strips`. The total is known only while each of them has a recent reading."""

    def __init__(self, strips: Iterable[str] = ()) -> None:
        self._expected = frozenset(strips)
        self._strips: dict[str, _Strip] = {}
        self._outlets: dict[tuple[str, int], _Outlet] = {}
        self._history: list[tuple[int, float]] = []
        self._last: tuple[int, float] | None = None
        self._each = 1
        self._waiting: list[tuple[int, float]] = []
        self._energy_joule = 0.0
        self._begun_ns = 0

    @property
    def stale(self) -> tuple[str, ...]:
        """Outlets with a meter that has stopped, as STRIP:NUMBER; number 0 is the whole strip."""
        return tuple(f"{strip}:{number}" for (strip, number), one in sorted(self._outlets.items()) if one.stale)

    def take(self, batch: Batch) -> None:
        """Rows of `watts`; others are ignored."""
        time_ns = midpoint_ns(batch)
        if batch.table != "watts" or time_ns is None:
            return
        strip = str(batch.columns["strip"])
        by_outlet = 0.0
        whole: float | None = None
        for row in rows_of(batch, ("outlet", "feeds", "power_watt", "mark")):
            number, watt = row["outlet"], row["power_watt"]
            if watt is None:
                self._outlets.pop((strip, number), None)
                continue
            self._outlets[strip, number] = _Outlet(row["feeds"] or "", watt, row["mark"] == "stale")
            if number:
                by_outlet += watt
            else:
                whole = watt
        before = self._strips.get(strip)
        between_ns = time_ns - before.time_ns if before is not None else 0
        self._strips[strip] = _Strip(time_ns, by_outlet if whole is None else whole, between_ns)
        if (total := self._total(time_ns)) is not None:
            self._add(time_ns, total)

    def _total(self, now_ns: int) -> float | None:
        if self._expected - self._strips.keys() or not all(one.is_recent(now_ns) for one in self._strips.values()):
            return None
        return sum(strip.power_watt for strip in self._strips.values()) if self._strips else None

    def view(self, now_ns: int) -> PowerView:
        """The power as it is now."""
        devices: dict[str, DevicePower] = {}
        for (_, number), outlet in sorted(self._outlets.items()):
            if number and outlet.feeds:
                before = devices.get(outlet.feeds, DevicePower(outlet.feeds, 0.0, stale=False))
                watt, stale = before.power_watt + outlet.power_watt, before.stale or outlet.stale
                devices[outlet.feeds] = DevicePower(outlet.feeds, watt, stale)
        return PowerView(
            power_watt=self._total(now_ns),
            history=(*self._history, *([self._last] if self._last is not None and self._waiting else [])),
            energy_joule=self._energy_joule,
            begun_ns=self._begun_ns,
            devices=tuple(devices.values()),
        )

    def _add(self, time_ns: int, watt: float) -> None:
        if self._last is None:
            self._begun_ns = time_ns
        elif 0 < time_ns - self._last[0] < _GAP_NS:
            self._energy_joule += (self._last[1] + watt) / 2 * (time_ns - self._last[0]) / 1e9
        self._last = (time_ns, watt)
        self._waiting.append(self._last)
        if len(self._waiting) >= self._each:
            self._history.append(_mean(self._waiting))
            self._waiting = []
        if len(self._history) > _MOST_POINTS:
            self._history = [_mean(self._history[n : n + 2]) for n in range(0, len(self._history), 2)]
            self._each *= 2


def _mean(points: list[tuple[int, float]]) -> tuple[int, float]:
    return points[-1][0], sum(watt for _, watt in points) / len(points)
