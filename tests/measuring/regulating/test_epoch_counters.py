"""Counts of an epoch: from samples within it alone, and not at all where one is missing or a counter was reset."""

from typing import Any

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.collecting.port_source import PortSource
from eee_testbed.measuring.regulating.epoch_counters import EpochCounters, EpochCounts
from eee_testbed.measuring.regulating.looped_network import LoopedNetwork
from eee_testbed.measuring.regulating.session import LoopOptions
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch
from tests.support.labs.toy_lab import small_lab, trees_state
from tests.support.labs.toy_view import SECOND, T0, poll, ports
from tests.support.measured.toy_sources import ToyAgent, toy_switch

PLACES = (("sw1", "p1"), ("sw1", "p2"), ("sw2", "p2"))


def _counters() -> EpochCounters:
    counters = EpochCounters(PLACES)
    counters.begin(T0)
    return counters


def _counts(counters: EpochCounters) -> EpochCounts:
    found = counters.counts()
    assert isinstance(found, EpochCounts), found
    return found


def _fill(counters: EpochCounters, seconds: tuple[float, ...] = (0.5, 2.5), **facts: Any) -> None:
    for switch in ("sw1", "sw2"):
        for second in seconds:
            counters.take(ports(switch, second, [round(second * 1000), round(second * 2000), 0], **facts))


def test_rates_are_those_between_the_first_and_the_last_sample() -> None:
    counters = _counters()
    _fill(counters, (0.5, 1.5, 2.5))
    counts = _counts(counters)
    assert set(counts.ports) == set(PLACES)
    one = counts.ports["sw1", "p2"]
    assert (one.in_byte_s, one.out_byte_s, one.up) == (0.0, pytest.approx(2000.0), True)


def test_samples_from_before_the_epoch_do_not_count() -> None:
    counters = _counters()
    counters.begin(T0 + SECOND)
    _fill(counters, (0.5, 1.5))
    assert counters.counts() == "sw1: it was not sampled twice in this epoch."
    _fill(counters, (2.5,))
    assert _counts(counters).ports["sw1", "p1"].out_byte_s == pytest.approx(1000.0)


def test_a_switch_that_does_not_answer_is_named_with_what_its_poll_said() -> None:
    counters = _counters()
    counters.take(poll("sw2", "switch", 1.0, outcome="failed", why="sw2: its agent did not answer."))
    for second in (0.5, 2.5):
        counters.take(ports("sw1", second, [0, 0, 0]))
    assert counters.counts() == "sw2: its agent did not answer."
    counters.begin(T0)
    assert counters.counts() == "sw1: it was not sampled twice in this epoch."


@pytest.mark.parametrize("mark", ["reset", "stale"])
def test_a_counter_that_is_reset_in_the_middle_of_an_epoch_has_no_count(mark: str) -> None:
    counters = _counters()
    _fill(counters)
    counters.take(ports("sw2", 3.5, [5, 5, 5], mark=mark))
    assert counters.counts() == f"sw2:p2: its counters were {mark} in the middle of this epoch."
    counters.begin(T0 + 3 * SECOND)
    _fill(counters, (3.5, 4.5))
    assert _counts(counters).ports["sw2", "p2"].out_byte_s == pytest.approx(2000.0)


def test_a_mark_of_the_first_sample_is_about_the_time_before_the_epoch() -> None:
    counters = _counters()
    for switch in ("sw1", "sw2"):
        counters.take(ports(switch, 0.5, [0, 0, 0], mark="reset"))
        counters.take(ports(switch, 1.5, [1000, 0, 0]))
    assert _counts(counters).ports["sw1", "p1"].out_byte_s == pytest.approx(1000.0)


def test_a_counter_that_went_back_unmarked_has_no_count() -> None:
    counters = _counters()
    _fill(counters)
    counters.take(ports("sw1", 3.5, [3500, 10, 0]))
    assert counters.counts() == "sw1:p2: its counters of bytes are missing, or went back."


def test_a_restart_is_told_once() -> None:
    counters = _counters()
    counters.take(poll("sw2", "switch", 1.0, mark="restarted"))
    counters.take(poll("pdu1", "strip", 1.0, mark="restarted"))
    assert counters.restarted() == ("sw2",)
    assert counters.restarted() == ()


def test_the_collectors_own_reader_marks_a_reset_so_that_it_has_no_count() -> None:
    """What a switch's agent shows, through the source that a run samples with."""
    agent, clock = ToyAgent(), RunClock()
    source = PortSource(toy_switch(), lambda: agent)
    counters = EpochCounters([("sw1", "gi1/0/1")])
    counters.begin(clock.now_ns())

    def sample() -> None:
        reading = source.read(clock)
        times = {"sent_ns": reading.sent_ns, "received_ns": reading.received_ns}
        batch = reading.batch
        counters.take(Batch(batch.table, batch.row_count, {**times, **batch.columns}))

    sample()
    agent.set_counter("out_byte", 1_000_000, 0)
    sample()
    assert _counts(counters).ports["sw1", "gi1/0/1"].out_byte_s > 0
    agent.set_counter("out_byte", 7, 0)
    sample()
    assert counters.counts() == "sw1:gi1/0/1: its counters were reset in the middle of this epoch."


def test_a_switch_without_an_agent_is_refused_by_name(tmp_path: Any) -> None:
    lab = small_lab(tmp_path / "toy")
    network = LoopedNetwork.of(lab, trees_state(lab))
    network.require_counters({"sw1", "sw2", "sw3"})
    with pytest.raises(LabError, match="sw2 cannot be read by SNMP"):
        network.require_counters({"sw1", "sw3"})


@pytest.mark.parametrize("epoch_s", [0.5, 3600.0])
def test_epochs_that_are_too_short_or_too_long_are_refused(epoch_s: float) -> None:
    with pytest.raises(LabError, match=r"epochs of 1 s, .* to 600 s"):
        LoopOptions(epoch_s=epoch_s)
