"""Frame counters of agents that lie: what is stored was counted, or is missing with an event."""

from eee_testbed.measuring.collecting.port_counters import COUNTERS
from eee_testbed.measuring.collecting.port_source import PortSource
from eee_testbed.measuring.collecting.source import Reading
from eee_testbed.record.run_clock import RunClock
from tests.support.measured.fake_clock import FakeClock
from tests.support.measured.toy_sources import ToyAgent, toy_switch

FRAMES = tuple(counter for counter in COUNTERS if counter.counter_bit == 64 and counter.name.endswith("_frame"))
BYTES = ("in_byte", "out_byte")


class _Polled:
    """A source of two ports whose agent counts `wide` and `narrow` frames; each poll is 10 s after the last."""

    def __init__(self) -> None:
        self.agent, self._system = ToyAgent(), FakeClock()
        self._source, self._clock = PortSource(toy_switch(), lambda: self.agent), RunClock(self._system)

    def read(self, byte: int, *, wide: int | None, narrow: int | None) -> Reading:
        for name in BYTES:
            self.agent.set_counter(name, byte, byte)
        for counter in FRAMES:
            for oid, value in ((counter.oid, wide), (counter.narrow, narrow)):
                self.agent.columns[oid] = {} if value is None else {"11": value, "12": value}
        return self.poll()

    def poll(self) -> Reading:
        reading = self._source.read(self._clock)
        self._system.advance(10.0)
        self.agent.uptime_ticks += 1000
        return reading


def _stored(reading: Reading) -> object:
    return reading.batch.columns.get("in_unicast_frame")


def test_frames_come_from_the_column_that_counts() -> None:
    polled = _Polled()
    first = polled.read(10**9, wide=0, narrow=1_000_000)
    second = polled.read(2 * 10**9, wide=0, narrow=1_750_000)
    assert (_stored(first), _stored(second)) == ([1_000_000] * 2, [1_750_000] * 2)
    assert first.events == second.events == ()


def test_after_a_restart_all_columns_are_zero_and_those_that_count_are_taken() -> None:
    polled = _Polled()
    readings = [polled.read(10**9 * n, wide=0, narrow=750_000 * n) for n in range(3)]
    assert [_stored(reading) for reading in readings] == [[750_000 * n] * 2 for n in range(3)]
    assert [reading.batch.columns["mark"] for reading in readings] == [[""] * 2] * 3


def test_frames_that_nobody_counts_are_missing_and_not_zero() -> None:
    for narrow in (None, 0):
        polled = _Polled()
        first = polled.read(10**9, wide=0, narrow=narrow)
        second = polled.read(2 * 10**9, wide=0, narrow=narrow)
        assert _stored(first) == _stored(second) == [None, None]
        assert [event.kind for event in first.events] == ["counters_missing"]
        assert all(counter.name in str(first.events[0].facts["columns"]) for counter in FRAMES)
        assert second.events == ()


def test_a_counter_that_stands_still_is_replaced_by_the_one_that_counts() -> None:
    polled = _Polled()
    first = polled.read(10**9, wide=4_000, narrow=1_000_000)
    second = polled.read(2 * 10**9, wide=4_000, narrow=1_750_000)
    third = polled.read(3 * 10**9, wide=4_000, narrow=2_500_000)
    assert _stored(first) == [4_000] * 2
    assert (_stored(second), _stored(third)) == ([1_750_000] * 2, [2_500_000] * 2)
    assert second.batch.columns["mark"] == ["reset"] * 2  # no difference between two columns
    assert third.batch.columns["mark"] == [""] * 2


def test_a_counter_that_stands_still_on_one_port_is_missing_there() -> None:
    polled = _Polled()
    polled.read(10**9, wide=10**6, narrow=None)
    for counter in FRAMES:
        polled.agent.columns[counter.oid] = {"11": 2 * 10**6, "12": 10**6}
    for name in BYTES:
        polled.agent.set_counter(name, 2 * 10**9, 2 * 10**9)
    reading = polled.poll()
    assert _stored(reading) == [2 * 10**6, None]
    assert "in_unicast_frame of gi1/0/2" in str(reading.events[0].facts["columns"])
