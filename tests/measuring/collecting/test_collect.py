"""Sampling: no source delays another, no value is made up, and every event is recorded."""

import threading
import time
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.lab.errors import AccessDenied, LabError, RunFolderFailed, Unreadable
from eee_testbed.measuring.collecting.collect import Collector, Timed
from eee_testbed.measuring.collecting.port_source import PortSource
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import Run
from tests.support.measured.fake_clock import NS, FakeClock
from tests.support.measured.toy_sources import ToyAgent, ToySource, silent, toy_switch


def _polls(run: Run, source: str) -> list[tuple[int, str, str]]:
    rows = RunSamples(run.folder).table("polls").filter(pl.col("source") == source)
    return rows.select("tick", "outcome", "mark").rows()


@pytest.mark.slow
def test_a_hanging_source_delays_no_other_and_its_ticks_are_recorded_as_missed(run: Run) -> None:
    released = threading.Event()
    slow = ToySource("slow", lambda number: released.wait(20.0) and None if number == 1 else None)
    quick = ToySource("quick")
    with Collector([Timed(slow, 0.1), Timed(quick, 0.1)], run):
        slow.wait_for(1)
        quick.wait_for(12)
        released.set()
        slow.wait_for(4)
    run.flush()
    assert [tick for tick, *_ in _polls(run, "quick")] == list(range(quick.readings))
    polls = _polls(run, "slow")
    assert [tick for tick, *_ in polls] == list(range(len(polls)))  # every tick has one row
    missed = [tick for tick, outcome, _ in polls if outcome == "missed"]
    assert len(missed) >= 5
    assert missed == list(range(2, 2 + len(missed)))
    watts = RunSamples(run.folder).table("watts").filter(pl.col("strip") == "slow")
    assert watts["power_watt"].to_list() == [float(n) for n in range(slow.readings)]
    assert not set(watts["tick"].to_list()) & set(missed)


@pytest.mark.slow
def test_ticks_keep_their_times_however_long_a_reading_takes(run: Run) -> None:
    source = ToySource("pdu1", lambda number: time.sleep(0.02 * (number % 3)))
    with Collector([Timed(source, 0.1)], run):
        source.wait_for(12)
    rows = RunSamples(run.folder).table("watts")
    assert set((rows["due_ns"] - rows["due_ns"][0]).to_list()) <= {n * NS // 10 for n in range(1000)}
    assert (rows["due_ns"] % (NS // 10) == 0).all()
    assert (rows["sent_ns"] >= rows["due_ns"]).all()
    assert (rows["received_ns"] >= rows["sent_ns"]).all()


def test_a_poll_that_begins_late_is_marked(tmp_path: Path) -> None:
    system = FakeClock()
    run = Run.create(tmp_path, "late", {}, RunClock(system))
    source = ToySource("pdu1", lambda number: system.advance(1.3) if number == 0 else None)
    with run, Collector([Timed(source, 1.0)], run) as collector:
        system.advance(1.0)  # the first poll, which takes until 0.3 s after the second is due
        source.wait_for(2)
        system.advance(0.7)
        source.wait_for(3)
        assert collector.states[0].late_count == 1
    assert _polls(run, "pdu1") == [(0, "ok", ""), (1, "ok", "late"), (2, "ok", "")]


def test_the_first_readings_are_awaited_and_those_that_fail_too(run: Run) -> None:
    asked, released = threading.Event(), threading.Event()

    def act(number: int) -> None:
        asked.set()
        released.wait(20.0)
        if number == 0:
            raise silent("pdu1")

    sources = ToySource("pdu1", act), ToySource("pdu2", act)
    with Collector([Timed(source, 0.1) for source in sources], run) as collector:
        waiting = threading.Thread(target=collector.await_first, args=("strip",))
        waiting.start()
        assert asked.wait(20.0)
        assert waiting.is_alive()
        released.set()
        waiting.join(20.0)
        assert not waiting.is_alive()
        assert all(state.failed_count for state in collector.states)


def test_a_failing_source_is_polled_again_over_a_new_connection_and_recorded_once(run: Run) -> None:
    def act(number: int) -> None:
        if 2 <= number < 5:
            raise silent("pdu1")

    source = ToySource("pdu1", act)
    with Collector([Timed(source, 0.05)], run):
        source.wait_for(8)
    outcomes = [outcome for _, outcome, _ in _polls(run, "pdu1")]
    assert outcomes[:7] == ["ok", "ok", "failed", "failed", "failed", "ok", "ok"]
    assert source.closings == 4  # three failures and the end
    kinds = [event["kind"] for event in RunSamples(run.folder).events]
    assert kinds == ["begun", "sampling_begun", "failed", "answers_again", "sampling_ended"]
    why = RunSamples(run.folder).table("polls").filter(pl.col("outcome") == "failed")["why"].to_list()
    assert why == ["pdu1: does not answer: check it."] * 3


def test_a_device_that_denies_access_is_not_polled_again(run: Run) -> None:
    def act(number: int) -> None:
        raise AccessDenied("sw1", f"wrong password, try {number}.")

    source, other = ToySource("sw1", act), ToySource("pdu1")
    with Collector([Timed(source, 0.05), Timed(other, 0.05)], run) as collector:
        other.wait_for(6)
        assert collector.states[0].outcome == "gave up"
    assert source.readings == 1
    assert any(event["kind"] == EventKind.SOURCE_GAVE_UP for event in RunSamples(run.folder).events)


def test_a_strip_of_another_family_than_in_the_inventory_stops_no_other(run: Run) -> None:
    def act(_: int) -> None:
        raise LabError("pdu1 has no object of a Gude: correct its `family` in hosts.yml.")

    source, other = ToySource("pdu1", act), ToySource("pdu2")
    with Collector([Timed(source, 0.05), Timed(other, 0.05)], run):
        other.wait_for(6)
    outcomes = {outcome for _, outcome, _ in _polls(run, "pdu1")}
    assert outcomes - {"missed"} == {"failed"}, "a busy machine may miss one"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_in_a_source_ends_the_sampling_with_an_error(run: Run) -> None:
    source = ToySource("pdu1", lambda number: 1 // (2 - number) and None)
    collector = Collector([Timed(source, 0.05)], run)
    collector.start()
    assert collector.ending.wait(10.0)
    with pytest.raises(LabError, match="bug in this program"):
        collector.stop()
    run.flush()
    assert RunSamples(run.folder).table("watts").height == 2  # what was measured is kept


def test_sampling_ends_with_an_error_when_samples_cannot_be_kept(run: Run) -> None:
    collector = Collector([Timed(ToySource("pdu1"), 0.05), Timed(ToySource("pdu2"), 0.05)], run)

    def full(_: Batch) -> None:
        raise RunFolderFailed(str(run.folder), "No space left on device")

    run.append = full  # type: ignore[method-assign]
    collector.start()
    assert collector.ending.wait(10.0)
    with pytest.raises(RunFolderFailed, match="No space left on device"):
        collector.stop()


@pytest.mark.parametrize("step_s", [7_200, -3_600])
def test_a_jump_of_the_system_clock_is_an_event_and_leaves_no_jump_in_the_series(tmp_path: Path, step_s: int) -> None:
    system = FakeClock()
    run = Run.create(tmp_path, "jump", {}, RunClock(system))
    source = ToySource("pdu1")
    with run, Collector([Timed(source, 1.0)], run):
        for tick in range(1, 7):
            if tick == 3:
                system.step(float(step_s))
            system.advance(1.0)
            source.wait_for(tick)
    rows = RunSamples(run.folder).table("watts")
    assert rows["sent_ns"].diff().drop_nulls().to_list() == [NS] * 5
    jumps = [event for event in RunSamples(run.folder).events if event["kind"] == EventKind.CLOCK_JUMP]
    assert [event["jump_ns"] for event in jumps] == [step_s * NS]
    assert RunSamples(run.folder).facts["clock"][0]["system_ahead_at_end_ns"] == step_s * NS


def test_a_jump_at_the_begin_and_one_just_before_the_end_are_events_too(run: Run) -> None:
    system = FakeClock()
    run = Run.create(run.folder.parent / "jumps", "jumps", {}, RunClock(system))
    source = ToySource("pdu1")
    with run, Collector([Timed(source, 1.0)], run):
        system.step(60.0)  # perhaps before any thread runs
        system.advance(1.0)
        source.wait_for(1)
        system.step(-20.0)  # the clock is not looked at again before the end
    jumps = [event["jump_ns"] for event in RunSamples(run.folder).events if event["kind"] == EventKind.CLOCK_JUMP]
    assert sum(jumps) == 40 * NS


def test_sinks_take_every_batch(run: Run) -> None:
    class Receiver:
        def __init__(self) -> None:
            self.batches: list[Batch] = []

        def take(self, batch: Batch) -> None:
            self.batches.append(batch)

    receiver, source = Receiver(), ToySource("pdu1")
    with Collector([Timed(source, 0.05)], run, [receiver]):
        source.wait_for(3)
    assert sum(batch.table == "watts" for batch in receiver.batches) == source.readings


@pytest.mark.parametrize("period_s", [0.0, -1.0, 1e9])
def test_an_invalid_period_is_refused(run: Run, period_s: float) -> None:
    with pytest.raises(LabError, match="cannot be polled every"):
        Collector([Timed(ToySource("pdu1"), period_s)], run)


# -- ports of a switch


def _source(agent: ToyAgent) -> tuple[PortSource, RunClock, FakeClock]:
    system = FakeClock()
    return PortSource(toy_switch(), lambda: agent), RunClock(system), system


def test_a_reading_has_all_ports_of_the_inventory() -> None:
    source, clock, _ = _source(ToyAgent())
    batch = source.read(clock).batch
    assert batch.columns["port"] == ["gi1/0/1", "gi1/0/2"]
    assert batch.columns["up"] == [True, False]
    assert batch.columns["in_byte"] == [100, 200]
    assert batch.columns["mark"] == ["", ""]


def test_a_switch_that_restarts_is_marked_and_its_ports_are_found_anew() -> None:
    agent = ToyAgent()
    source, clock, system = _source(agent)
    source.read(clock)
    system.advance(20.0)
    agent.uptime_ticks = 500
    agent.columns["1.3.6.1.2.1.17.1.4.1.2"] = {"1": 12, "2": 11}
    agent.columns["1.3.6.1.2.1.31.1.1.1.1"] = {"12": b"gi1/0/1", "11": b"gi1/0/2"}
    reading = source.read(clock)
    assert reading.mark == "restarted"
    assert [event.kind for event in reading.events] == ["restarted"]
    assert reading.batch.columns["in_byte"] == [200, 100]  # by the new numbers
    assert reading.batch.columns["mark"] == ["reset", "reset"]
    system.advance(1.0)
    agent.uptime_ticks = 600
    after = source.read(clock)
    assert (after.mark, after.batch.columns["mark"]) == ("", ["", ""])


def test_a_restart_is_remembered_if_the_switch_stops_answering_again() -> None:
    agent = ToyAgent()
    source, clock, system = _source(agent)
    source.read(clock)
    system.advance(20.0)
    agent.uptime_ticks = 500
    numbers = agent.columns.pop("1.3.6.1.2.1.31.1.1.1.1")  # still booting: no ports yet
    with pytest.raises(Unreadable):
        source.read(clock)
    system.advance(1.0)
    agent.uptime_ticks, agent.columns["1.3.6.1.2.1.31.1.1.1.1"] = 600, numbers
    reading = source.read(clock)
    assert (reading.mark, reading.batch.columns["mark"]) == ("restarted", ["reset", "reset"])


def test_an_agent_whose_time_stands_still_is_stale() -> None:
    agent = ToyAgent()
    source, clock, system = _source(agent)
    source.read(clock)
    system.advance(5.0)
    reading = source.read(clock)
    assert reading.mark == "stale"
    assert reading.batch.columns["mark"] == ["stale", "stale"]


def test_narrow_counters_are_taken_where_wide_ones_are_missing() -> None:
    agent = ToyAgent(narrow=True)
    source, clock, system = _source(agent)
    agent.set_counter("in_byte", 2**32 - 10, 0)
    source.read(clock)
    agent.set_counter("in_byte", 5, 0)
    system.advance(1.0)
    agent.uptime_ticks += 100
    batch = source.read(clock).batch
    assert batch.columns["in_byte"] == [2**32 + 5, 0]
    assert batch.columns["mark"] == ["wrap", ""]


def test_missing_counters_are_one_event_and_not_zeros() -> None:
    agent = ToyAgent()
    agent.columns = {oid: rows for oid, rows in agent.columns.items() if not oid.startswith("1.3.6.1.2.1.2.2.1.1")}
    source, clock, system = _source(agent)
    first = source.read(clock)
    assert [event.kind for event in first.events] == ["counters_missing"]
    assert "in_discard_frame" in str(first.events[0].facts["columns"])
    assert first.batch.columns.get("in_discard_frame") is None
    system.advance(1.0)
    agent.uptime_ticks += 100
    assert source.read(clock).events == ()


def test_offsets_of_uptime_are_estimated_at_both_ends() -> None:
    agent = ToyAgent()
    source, clock, system = _source(agent)
    for _ in range(60):
        source.read(clock)
        system.advance(1.0)
        agent.uptime_ticks += 100
    first, last = source.offsets()
    zero_ns = 100_000 * 10_000_000 - 1_700_000_000 * NS
    for offset in (first, last):
        assert offset.consistent
        assert abs(offset.offset_ns - zero_ns) <= offset.bound_ns
    assert last.time_ns - first.time_ns == 40 * NS
