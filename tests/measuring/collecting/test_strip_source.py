"""Meters that stop measuring, and those that only seem to."""

from dataclasses import replace

from eee_testbed.controller.strips.family import NOT_METERED, Channel, OutletReading, StripReading
from eee_testbed.lab.model import Strip
from eee_testbed.measuring.collecting.source import Reading
from eee_testbed.measuring.collecting.strip_source import StripSource
from eee_testbed.record.run_clock import RunClock
from tests.support.measured.fake_clock import FakeClock

_STRIP = Strip("pdu1", "gude", "toy", "127.0.0.1", 161, "", 2)


class ToyMeter:
    """Two outlets, one of them metered; the test sets their readings."""

    def __init__(self) -> None:
        self.watt, self.joule = 40.0, 0.0
        self.step_watt, self.step_joule = 0.1, 3_600.0
        self.share = 1.0
        """Of what the outlets draw, as the total."""

    def read(self) -> StripReading:
        channel = Channel(self.watt, self.step_watt, self.joule, self.step_joule)
        total = replace(channel, power_watt=self.share * self.watt)
        return StripReading((OutletReading(1, True, channel), OutletReading(2, False, NOT_METERED)), total)

    def close(self) -> None:
        pass


class Bench:
    """A strip that is polled once a second."""

    def __init__(self) -> None:
        self.meter, self.system = ToyMeter(), FakeClock()
        self.clock = RunClock(self.system)
        self.source = StripSource(_STRIP, {1: "sw1"}, lambda: self.meter)

    def seconds(self, count: int, watts: tuple[float, ...]) -> list[Reading]:
        """Readings of `count` seconds; the meter shows the values of `watts` in turn."""
        found = []
        for second in range(count):
            self.meter.watt = watts[second % len(watts)]
            found.append(self.source.read(self.clock))
            self.system.advance(1.0)
        return found


def _events(readings: list[Reading]) -> list[str]:
    return [event.kind for reading in readings for event in reading.events]


def _marks(readings: list[Reading]) -> set[str]:
    return {mark for reading in readings for mark in reading.batch.columns["mark"]}  # type: ignore[union-attr]


def test_a_meter_that_moved_every_second_and_stops_is_stale() -> None:
    bench = Bench()
    assert _marks(bench.seconds(30, (40.0, 40.1))) == {""}
    since_ns = bench.clock.now_ns() - 10**9
    still = bench.seconds(40, (40.1,))
    assert _events(still) == ["meter_frozen"]
    shown = next(event for reading in still for event in reading.events)
    assert abs(int(shown.facts["since_ns"]) - since_ns) <= 10**9
    stale = [reading.mark == "stale" for reading in still]
    assert stale == sorted(stale)  # from some second on
    assert 15 <= stale.count(True) <= 25
    assert still[-1].batch.columns["mark"] == ["stale"] * 3
    moving = bench.seconds(3, (40.0, 40.1))
    assert _events(moving) == ["meter_moves"]
    assert _marks(moving) == {""}


def test_a_coarse_meter_of_a_steady_load_is_not_called_stale() -> None:
    bench = Bench()
    bench.meter.step_watt = 10.0
    readings = bench.seconds(85, (40.0,))  # 3400 J: less than a step of its energy
    assert _marks(readings) == {""}
    assert readings[-1].batch.columns["unchanged_s"] == [84.0, 84.0, 84.0]


def test_an_energy_counter_that_stands_still_reveals_a_frozen_meter() -> None:
    bench = Bench()
    bench.seconds(2, (40.0,))
    bench.meter.joule = 3_600.0
    still = bench.seconds(400, (40.0,))  # 16 kJ drawn, and no step of 3.6 kJ counted
    assert _events(still) == ["meter_frozen"]
    first = next(n for n, reading in enumerate(still) if reading.mark)
    assert 3 * 3_600 / 40 - 5 <= first <= 3 * 3_600 / 40 + 5
    assert still[-1].batch.columns["mark"] == ["stale"] * 3  # as the strip's own meter is


def test_a_meter_whose_energy_counts_is_never_stale_however_constant_its_watts() -> None:
    bench = Bench()
    readings = []
    for _ in range(20):
        readings += bench.seconds(90, (40.0,))
        bench.meter.joule += 3_600.0
    assert _marks(readings) == {""}


def test_an_energy_counter_that_never_moved_proves_nothing() -> None:
    assert _marks(Bench().seconds(400, (40.0,))) == {""}


def test_energy_that_falls_is_a_reset() -> None:
    bench = Bench()
    bench.meter.joule = 7_200.0
    bench.seconds(1, (40.0,))
    bench.meter.joule = 0.0
    assert bench.seconds(1, (40.0,))[0].batch.columns["mark"] == ["reset", "reset", ""]
    assert bench.seconds(1, (40.0,))[0].batch.columns["mark"] == ["", "", ""]


def test_outlets_are_named_by_what_they_feed_and_what_is_not_metered_is_null() -> None:
    columns = Bench().seconds(1, (40.0,))[0].batch.columns
    assert columns["outlet"] == [0, 1, 2]
    assert columns["feeds"] == ["", "sw1", ""]
    assert columns["power_watt"] == [40.0, 40.0, None]
    assert columns["energy_joule"] == [0.0, 0.0, None]


def test_watts_that_may_be_rounded_up_from_nothing_prove_no_frozen_meter() -> None:
    bench = Bench()
    bench.meter.step_watt = 10.0
    bench.seconds(2, (10.0,))
    bench.meter.joule = 3_600.0
    assert _marks(bench.seconds(1_300, (10.0,))) == {""}  # 13 kJ if it were 10 W


def test_a_pause_that_a_meter_made_before_makes_a_longer_one_less_surprising() -> None:
    bench = Bench()
    bench.seconds(12, (40.0, 40.1))
    assert _marks(bench.seconds(15, (40.0,))) == {""}
    assert _marks(bench.seconds(60, (40.1,))) == {""}
    assert _events(bench.seconds(60, (40.1,))) == ["meter_frozen"]


def test_a_total_below_its_outlets_is_an_event_once_and_a_load_that_comes_is_none() -> None:
    bench = Bench()
    assert _events(bench.seconds(30, (40.0, 40.1))) == []
    bench.meter.share = 0.5
    assert _events(bench.seconds(3, (60.0, 60.1))) == []  # the outlet's meter was faster
    bench.meter.share = 1.0
    assert _events(bench.seconds(3, (60.0, 60.1))) == []
    bench.meter.share = 0.5
    assert _events(bench.seconds(30, (60.0, 60.1))) == ["total_exceeded"]
