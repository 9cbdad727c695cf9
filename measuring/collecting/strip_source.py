"""Power and energy of a strip, and whether it still measures."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from eee_testbed.controller.strips.family import Channel, StripReading
from eee_testbed.lab.model import Strip
from eee_testbed.measuring.collecting.source import Reading, SourceEvent, SourceKind
from eee_testbed.record.clock_offsets import Offset
from eee_testbed.record.counters import went_back
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch, Column

_FROZEN_LEAST_S: Final = 10.0
_FROZEN_PERIODS: Final = 20.0  # of the time that the strip usually shows the same
_FROZEN_CHANGES: Final = 10  # needed to know that time
_EXCEEDED_READINGS: Final = 10  # in a row: a load that comes shows at its outlet first
_ENERGY_STEPS: Final = 3.0  # that must be overdue


class ReadingMeter(Protocol):
    """The part of a meter that this source uses."""

    def read(self) -> StripReading:
        """All outlets and the total."""

    def close(self) -> None:
        """Close it."""


@dataclass(slots=True)
class _Shown:
    """A channel as it was last shown, and since when."""

    channel: Channel
    since_ns: int


class StripSource:
    """Power and energy of a strip's outlets and of the whole strip.

    A strip that has stopped measuring still answers. It shows in two ways: its energy counter stands still though power
    is drawn, or its readings stay the same for much longer than they did so far. The first rows of such a time are not
    marked, as they look like any others; the event has the time since when nothing changed.
    """

    kind: SourceKind = "strip"

    def __init__(self, strip: Strip, feeds: Mapping[int, str], make_meter: Callable[[], ReadingMeter]) -> None:
        self.strip = strip
        self._feeds = feeds
        self._make_meter = make_meter
        self._meter: ReadingMeter | None = None
        self._shown: dict[int, _Shown] = {}
        self._energy: dict[int, _Shown] = {}
        self._counting: set[int] = set()  # outlets whose energy counter has moved
        self._changed_ns: int | None = None
        self._stretches_s: list[float] = []
        self._frozen = False
        self._exceeding = 0

    @property
    def name(self) -> str:
        """The strip's name."""
        return self.strip.name

    def read(self, clock: RunClock) -> Reading:
        """Read all outlets."""
        sent_ns = clock.now_ns()
        if self._meter is None:
            self._meter = self._make_meter()
        reading = self._meter.read()
        received_ns = clock.now_ns()
        rows = [(0, None, reading.total), *((outlet.number, outlet.on, outlet.meter) for outlet in reading.outlets)]
        reset = {number for number, _, channel in rows if self._energy_fell(number, channel)}
        self._remember([(number, channel) for number, _, channel in rows], sent_ns)
        overdue = {number for number, _, channel in rows if self._overdue(number, channel, sent_ns)}
        frozen = self._standing_still(sent_ns) or bool(overdue)
        events = (*self._transition(sent_ns, frozen=frozen), *self._exceeded(reading))
        whole = self._standing_still(sent_ns) or 0 in overdue
        marks = ["stale" if whole or n in overdue else "reset" if n in reset else "" for n, _, _ in rows]
        columns: dict[str, Column] = {
            "strip": self.name,
            "outlet": [number for number, _, _ in rows],
            "feeds": [self._feeds.get(number, "") for number, _, _ in rows],
            "on": [on for _, on, _ in rows],
            "power_watt": [channel.power_watt for _, _, channel in rows],
            "power_step_watt": [channel.power_step_watt for _, _, channel in rows],
            "energy_joule": [channel.energy_joule for _, _, channel in rows],
            "energy_step_joule": [channel.energy_step_joule for _, _, channel in rows],
            "unchanged_s": [(sent_ns - self._shown[number].since_ns) / 1e9 for number, _, _ in rows],
            "mark": marks,
        }
        mark = "stale" if frozen else ""
        return Reading(Batch("watts", len(rows), columns), sent_ns, received_ns, mark, None, events)

    def offsets(self) -> tuple[Offset, ...]:
        """Empty: these strips have no clock."""
        return ()

    def close(self) -> None:
        """Close the meter."""
        if self._meter is not None:
            self._meter.close()
            self._meter = None

    def _energy_fell(self, number: int, channel: Channel) -> bool:
        before = self._shown.get(number)
        return before is not None and went_back(before.channel.energy_joule, channel.energy_joule)

    def _remember(self, rows: Sequence[tuple[int, Channel]], now_ns: int) -> None:
        """Remember what the strip shows, and since when."""
        changed = False
        for number, channel in rows:
            before = self._shown.get(number)
            if before is None or before.channel != channel:
                changed |= before is not None
                self._shown[number] = _Shown(channel, now_ns)
            counted = self._energy.get(number)
            if counted is None or counted.channel.energy_joule != channel.energy_joule:
                self._energy[number] = _Shown(channel, now_ns)
                if counted is not None:
                    self._counting.add(number)
        if changed:
            if self._changed_ns is not None:
                self._stretches_s = [*self._stretches_s[-49:], (now_ns - self._changed_ns) / 1e9]
            self._changed_ns = now_ns

    def _overdue(self, number: int, channel: Channel, now_ns: int) -> bool:
        """Whether the energy counter should have moved by several steps, but has not."""
        counted = self._energy[number]
        step_joule = channel.energy_step_joule
        if number not in self._counting or channel.power_watt is None or not step_joule:
            return False
        least_watt = max(0.0, channel.power_watt - (channel.power_step_watt or 0.0))
        return least_watt * (now_ns - counted.since_ns) / 1e9 > _ENERGY_STEPS * step_joule

    def _standing_still(self, now_ns: int) -> bool:
        """Whether nothing has changed for much longer than usual so far."""
        if self._changed_ns is None or len(self._stretches_s) < _FROZEN_CHANGES:
            return False
        usual_s = max(statistics.median(self._stretches_s), max(self._stretches_s) / 4)
        return (now_ns - self._changed_ns) / 1e9 > max(_FROZEN_LEAST_S, _FROZEN_PERIODS * usual_s)

    def _transition(self, now_ns: int, *, frozen: bool) -> tuple[SourceEvent, ...]:
        if frozen == self._frozen:
            return ()
        self._frozen = frozen
        since_ns = now_ns if self._changed_ns is None else self._changed_ns
        kind = EventKind.METER_FROZEN if frozen else EventKind.METER_RECOVERED
        return (SourceEvent(kind, {"since_ns": since_ns}),)

    def _exceeded(self, reading: StripReading) -> tuple[SourceEvent, ...]:
        """An event, once, if the outlets have drawn more than the whole strip for several readings."""
        self._exceeding = self._exceeding + 1 if reading.excess_watt else 0
        if self._exceeding != _EXCEEDED_READINGS:
            return ()
        return (SourceEvent(EventKind.TOTAL_EXCEEDED, {"excess_watt": reading.excess_watt}),)
