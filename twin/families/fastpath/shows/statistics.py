"""Counters since they were cleared, and the LPI history: the state of a switch outside its configuration.

Clearing on the command line must not make SNMP's counters jump back, so it keeps a baseline and leaves the engine's
counters alone. All of this is lost when the switch loses power or reloads.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from eee_testbed.twin.families.fastpath.shows.green import HistoryRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from eee_engine import PortCounters

    from eee_testbed.twin.families.fastpath.config import Config
    from eee_testbed.twin.switch.device import Event, SwitchDevice

_LPI_KEYS = ("tx_lpi_events", "tx_lpi_us", "rx_lpi_events", "rx_lpi_us")


class Alarm(Protocol):
    """The part of `threading.Timer` used here."""

    daemon: bool

    def start(self) -> None:
        """Start the timer."""

    def cancel(self) -> None:
        """Stop the timer."""


@dataclass(frozen=True, slots=True)
class _Moment:
    at_s: float
    lpi_us: dict[int, int]  # bridge port -> microseconds of LPI, mean of both directions


@dataclass(frozen=True, slots=True)
class _Sample:
    at_s: float
    since_last: dict[int, int]  # bridge port -> percent
    since_reset: dict[int, int]


class Statistics:
    """Baselines and history of one device. `clock_s` and `alarm` are for tests."""

    def __init__(
        self,
        device: SwitchDevice,
        *,
        clock_s: Callable[[], float] = time.monotonic,
        alarm: Callable[[float, Callable[[], None]], Alarm] = threading.Timer,
    ) -> None:
        self._device = device
        self._clock_s = clock_s
        self._alarm = alarm
        self._pending: Alarm | None = None
        self._interval_s = 0
        self._traffic: dict[int, tuple[float, dict[str, int]]] = {}
        self._lpi: dict[int, tuple[float, dict[str, int]]] = {}
        self._booted_s = clock_s()
        self._reset = self._last = _Moment(self._booted_s, {})
        self._samples: deque[_Sample] = deque()
        self._sample_count = 0
        device.observe(self._on_event)
        if device.ready:
            self._begin()

    # -- counters

    def traffic(self, number: int) -> tuple[PortCounters, float]:
        """Return counters of a bridge port and the seconds since they were cleared; LPI counters are since boot."""
        return self._since(number, self._traffic)

    def lpi(self, number: int) -> tuple[PortCounters, float]:
        """Return them with LPI counters since `clear green-mode statistics` and all others since boot."""
        return self._since(number, self._lpi)

    def clear_traffic(self, numbers: Iterable[int]) -> None:
        """`clear counters`."""
        for number in numbers:
            counters = cast("dict[str, int]", self._counters(number))
            kept = {k: v for k, v in counters.items() if k not in _LPI_KEYS}
            self._traffic[number] = (self._clock_s(), kept)

    def clear_lpi(self, numbers: Iterable[int]) -> None:
        """`clear green-mode statistics`: events, durations, savings and, for all ports alike, the history."""
        for number in numbers:
            counters = cast("dict[str, int]", self._counters(number))
            self._lpi[number] = (self._clock_s(), {k: counters[k] for k in _LPI_KEYS})
        self._forget_history()

    def _since(self, number: int, baselines: dict[int, tuple[float, dict[str, int]]]) -> tuple[PortCounters, float]:
        at_s, base = baselines.get(number, (self._booted_s, {}))
        counters = cast("dict[str, int]", self._counters(number))
        since: Any = {k: v - base.get(k, 0) for k, v in counters.items()}
        return cast("PortCounters", since), self._clock_s() - at_s

    def _counters(self, number: int) -> PortCounters:
        return self._device.engine.counters(self._device.engine_port[number])

    # -- history

    def history(self, number: int) -> tuple[int, list[HistoryRow]]:
        """Return (LPI percentage over all ports since the reset, newest sample first)."""
        now_s = self._clock_s()
        first = self._sample_count - len(self._samples) + 1
        rows = [
            HistoryRow(index, now_s - sample.at_s, sample.since_last[number], sample.since_reset[number])
            for index, sample in enumerate(self._samples, start=first)
        ]
        shares = _percent_between(self._reset, _Moment(now_s, self._lpi_us()))
        return round(sum(shares.values()) / max(1, len(shares))), rows[::-1]

    def sample(self) -> None:
        """Take a sample of every physical port, and schedule the next one."""
        with self._device.lock:
            if not self._device.ready:
                return
            now = _Moment(self._clock_s(), self._lpi_us())
            since_last, since_reset = _percent_between(self._last, now), _percent_between(self._reset, now)
            self._samples.append(_Sample(now.at_s, since_last, since_reset))
            self._last = now
            self._sample_count += 1
            self._trim()
            self._schedule()

    def _lpi_us(self) -> dict[int, int]:
        durations = {}
        for port in self._device.ports:
            if not port.is_lag:
                counters = self._counters(port.number)
                durations[port.number] = (counters["tx_lpi_us"] + counters["rx_lpi_us"]) // 2
        return durations

    def _config(self) -> Config:
        return cast("Config", self._device.personality.config)

    def _trim(self) -> None:
        while len(self._samples) > self._config().history_samples:
            self._samples.popleft()

    def _on_event(self, device: SwitchDevice, event: Event) -> None:
        if event == "ready":
            self._begin()
        elif event == "power" and not device.ready:
            self._halt()
        elif event == "config":
            self._trim()
            if self._config().history_interval_s != self._interval_s:
                self._schedule()

    def _begin(self) -> None:
        self._booted_s = self._clock_s()
        self._traffic.clear()
        self._lpi.clear()
        self._forget_history()
        self._schedule()

    def _forget_history(self) -> None:
        self._reset = self._last = _Moment(self._clock_s(), self._lpi_us())
        self._samples.clear()
        self._sample_count = 0

    def _schedule(self) -> None:
        self._halt()
        self._interval_s = self._config().history_interval_s
        self._pending = self._alarm(float(self._interval_s), self.sample)
        self._pending.daemon = True
        self._pending.start()

    def _halt(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None


def _percent_between(before: _Moment, after: _Moment) -> dict[int, int]:
    elapsed_us = (after.at_s - before.at_s) * 1e6
    if elapsed_us <= 0:
        return dict.fromkeys(after.lpi_us, 0)
    return {n: round(100 * (us - before.lpi_us.get(n, 0)) / elapsed_us) for n, us in after.lpi_us.items()}
