"""What invalidates a trial: links that change, counters that restart, stale meters, clock jumps, a late twin."""

import threading

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import End, Link
from eee_testbed.measuring.experiments.experiment import Guards
from eee_testbed.measuring.experiments.guards import GuardSink, TrialMonitor, contamination, untimed, why_invalid
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch

_S = 1_000_000_000
_ALL = Guards()


def _ports(at_s: float, *, up: bool, mark: str = "", port: str = "gi1/0/1", changed_ms: int | None = None) -> Batch:
    times = {"sent_ns": round(at_s * _S), "received_ns": round((at_s + 0.1) * _S)}
    seen = {"up": [up], "changed_ms": [changed_ms], "mark": [mark]}
    return Batch("ports", 1, {"switch": "sw1", "port": [port], **seen, **times})


def _watts(at_s: float, mark: str = "", unchanged_s: float = 0.0) -> Batch:
    times = {"sent_ns": round(at_s * _S), "received_ns": round((at_s + 0.1) * _S)}
    return Batch(
        "watts", 1, {"strip": "pdu1", "power_watt": [5.0], "unchanged_s": [unchanged_s], "mark": mark, **times}
    )


def _why(guard_sink: GuardSink, begun_s: float, ended_s: float, guards: Guards = _ALL) -> str:
    return why_invalid(guards, guard_sink.violations(), round(begun_s * _S), round(ended_s * _S))


def test_a_link_that_changes_between_two_samples_invalidates_only_windows_that_overlap_them() -> None:
    cable = Link(1, End("sw1", "gi1/0/1"), End("n01", "eth1"), 1000, "copper", switchable=False)
    guard_sink = GuardSink([cable])
    guard_sink.lab_settled(0)
    for at_s, up in ((1, True), (2, True), (3, False), (4, False)):
        guard_sink.take(_ports(at_s, up=up))
    assert _why(guard_sink, 2.5, 2.8) == "the link at sw1:gi1/0/1 to n01:eth1 went down."
    assert _why(guard_sink, 1.0, 1.9) == ""
    assert _why(guard_sink, 3.2, 4.5) == ""
    assert _why(guard_sink, 2.5, 2.8, Guards(flaps=False)) == ""


def test_a_link_that_goes_down_and_up_between_two_samples_is_found_by_its_last_change() -> None:
    guard_sink = GuardSink()
    guard_sink.lab_settled(0)
    for at_s, changed_ms in ((1, 500), (2, 510), (3, 500), (4, 3_400), (5, 3_400)):
        guard_sink.take(_ports(at_s, up=True, changed_ms=changed_ms))
    assert _why(guard_sink, 3.2, 3.8) == "the link at sw1:gi1/0/1 changed twice between two samples."
    assert _why(guard_sink, 1.0, 2.9) == ""
    assert _why(guard_sink, 4.2, 4.8) == ""


def test_link_changes_during_an_apply_are_not_violations() -> None:
    guard_sink = GuardSink()
    guard_sink.lab_settled(0)
    guard_sink.take(_ports(1, up=True))
    guard_sink.lab_changing()
    guard_sink.take(_ports(2, up=False))
    guard_sink.lab_settled(round(2.5 * _S))
    guard_sink.take(_ports(2.2, up=False))  # polled before the lab had settled
    guard_sink.take(_ports(3, up=True))
    guard_sink.take(_ports(4, up=True))
    assert guard_sink.violations() == ()


def test_a_link_that_was_shut_on_purpose_is_no_violation_once_the_lab_has_settled() -> None:
    guard_sink = GuardSink()
    guard_sink.lab_settled(0)
    guard_sink.take(_ports(1, up=True))
    guard_sink.lab_changing()
    guard_sink.lab_settled(2 * _S)
    guard_sink.take(_ports(3, up=False))
    assert guard_sink.violations() == ()


def test_ports_without_a_link_before_a_change_are_known() -> None:
    guard_sink = GuardSink()
    guard_sink.lab_settled(0)
    guard_sink.take(_ports(1, up=False))
    guard_sink.take(_ports(1, up=True, port="gi1/0/2"))
    assert not guard_sink.was_down("sw1", "gi1/0/1")
    guard_sink.lab_changing()
    guard_sink.take(_ports(2, up=False, port="gi1/0/2"))
    assert guard_sink.was_down("sw1", "gi1/0/1")
    assert not guard_sink.was_down("sw1", "gi1/0/2")
    assert not guard_sink.was_down("sw1", "gi1/0/3")


def test_a_counter_that_was_reset_or_wrapped_around_invalidates() -> None:
    guard_sink = GuardSink()
    guard_sink.lab_settled(0)
    guard_sink.take(_ports(1, up=True))
    guard_sink.take(_ports(2, up=True, mark="wrap"))
    guard_sink.take(_ports(2, up=True, mark="reset", port="gi1/0/2"))
    assert _why(guard_sink, 1.5, 1.8) == "a counter of sw1:gi1/0/1 wrapped around, and 1 more."
    assert _why(guard_sink, 1.5, 1.8, Guards(counters=False)) == ""


def test_a_stale_meter_invalidates_everything_since_its_last_change() -> None:
    guard_sink = GuardSink()
    for at_s in (1, 2, 3):
        guard_sink.take(_watts(at_s))
    guard_sink.take(_watts(14, "stale", 11.0))
    guard_sink.take(_watts(15, "stale", 12.0))
    assert guard_sink.has_watts(0, 2 * _S)
    assert not guard_sink.has_watts(4 * _S, 20 * _S)
    assert _why(guard_sink, 5, 6) == "the meter pdu1 stopped updating."
    assert _why(guard_sink, 14.5, 14.9) == "the meter pdu1 stopped updating."
    assert _why(guard_sink, 1, 2.5) == ""
    assert len(guard_sink.violations()) == 1


def test_a_window_has_watts_if_a_sample_lies_in_it() -> None:
    guard_sink = GuardSink()
    guard_sink.take(_watts(2))
    assert guard_sink.has_watts(1 * _S, 3 * _S)
    assert not guard_sink.has_watts(0, 1 * _S)
    assert not guard_sink.has_watts(3 * _S, 4 * _S)


def test_a_window_needs_three_readings_of_each_strip_and_one_of_each_switch() -> None:
    guard_sink = GuardSink()
    for at_s in (1.0, 2.0, 3.0, 20.0):
        guard_sink.take(_watts(at_s))
    guard_sink.take(_ports(2.5, up=True))
    guard_sink.take(_ports(2.5, up=True, port="gi1/0/2"))  # of the same poll
    assert guard_sink.undersampled(0, 10 * _S) == ""
    assert guard_sink.undersampled(round(1.5 * _S), 10 * _S) == "pdu1 answered 2 times in this window, which needs 3"
    assert (
        guard_sink.undersampled(0, round(2.4 * _S))
        == "pdu1 answered 2 times in this window, which needs 3; sw1 answered 0 times in this window, which needs 1"
    )
    assert (
        guard_sink.undersampled(30 * _S, 40 * _S)
        == "pdu1 answered 0 times in this window, which needs 3; sw1 answered 0 times in this window, which needs 1"
    )


def test_no_device_that_was_never_sampled_is_missed() -> None:
    assert GuardSink().undersampled(0, 10 * _S) == ""


def test_what_lies_between_two_resets_of_a_counter_is_valid() -> None:
    guard_sink = GuardSink()
    guard_sink.lab_settled(0)
    for at_s in (1.0, 2.0, 3.0, 8.0, 9.0):
        guard_sink.take(_ports(at_s, up=True, mark="reset" if at_s in (2.0, 9.0) else ""))
    assert _why(guard_sink, 1.5, 1.8) == _why(guard_sink, 8.5, 8.8) == "a counter of sw1:gi1/0/1 was reset."
    assert _why(guard_sink, 4, 7) == ""


def test_an_outlet_that_never_changes_does_not_make_a_meter_stale_from_the_beginning() -> None:
    guard_sink = GuardSink()
    times = {"sent_ns": round(30 * _S), "received_ns": round(30.1 * _S)}
    rows = {"power_watt": [80.0, 80.0, 0.0], "unchanged_s": [11.0, 11.0, 30.0], "mark": ["stale"] * 3}
    guard_sink.take(Batch("watts", 3, {"strip": "pdu1", **rows, **times}))
    assert _why(guard_sink, 10, 18) == ""
    assert _why(guard_sink, 18, 20) == "the meter pdu1 stopped updating."


class _Jumping:
    """A clock whose system time the test sets."""

    ahead_ns = 0

    def monotonic_ns(self) -> int:
        return 10 * _S

    def utc_ns(self) -> int:
        return 100 * _S + self.ahead_ns

    def wait(self, wake: threading.Event, seconds: float) -> bool:
        raise AssertionError((wake, seconds))


class _Late:
    def __init__(self, late_us: float | None, slows_us: float | None = None) -> None:
        self.seen: list[str] = []
        self._late_us = late_us
        self._slows_us = slows_us

    def begin(self, *, timed: bool) -> None:
        self.seen.append("timed" if timed else "begun")

    def end(self) -> float | None:
        self.seen.append("ended")
        return self._slows_us

    def read_slower(self) -> None:
        self.seen.append("slower")

    def pace(self) -> str:
        self.seen.append("pace")
        return "1/10 of real time"

    def wall_s(self) -> float:
        return 0.0

    def late_us(self, limit_us: float, share: float) -> float | None:
        assert (limit_us, share) == (_ALL.twin_late_us, _ALL.twin_late_share)
        return self._late_us


def test_a_clock_that_is_stepped_and_a_twin_that_was_late_are_reported() -> None:
    clock = _Jumping()
    monitor = TrialMonitor(_ALL, RunClock(clock), None)
    with monitor:
        clock.ahead_ns = 40_000_000
    assert monitor.violation == ""
    with monitor:
        clock.ahead_ns = -70_000_000
    assert monitor.violation == "the system clock jumped by -0.070 s: let chrony slew it, not step it."
    quiet, late = _Late(None), _Late(812.0)
    with TrialMonitor(_ALL, RunClock(_Jumping()), quiet) as watched:
        pass
    assert watched.violation == ""
    assert watched.pace == "1/10 of real time"
    with TrialMonitor(_ALL, RunClock(_Jumping()), late) as watched:
        pass
    assert "the twin was 812 us late" in watched.violation
    assert "let nothing else keep this machine busy" in watched.violation
    assert quiet.seen == late.seen == ["timed", "pace", "ended"]


def test_a_trial_that_slows_the_labs_time_down_says_so() -> None:
    with TrialMonitor(_ALL, RunClock(_Jumping()), _Late(None)) as on_time:
        pass
    assert on_time.late == ""
    with TrialMonitor(_ALL, RunClock(_Jumping()), _Late(None, slows_us=34.56)) as late:
        pass
    assert late.violation == ""
    assert "late by 34.6 us of lab time" in late.late


def test_a_trial_of_meters_minds_no_lateness_and_one_that_fails_ends_too() -> None:
    late = _Late(812.0)
    with TrialMonitor(_ALL, RunClock(_Jumping()), late, timed=False) as monitor:
        pass
    assert monitor.violation == ""
    with pytest.raises(LabError), TrialMonitor(_ALL, RunClock(_Jumping()), late):
        raise LabError("the program failed")
    assert late.seen == ["begun", "pace", "ended", "timed", "ended"]


def test_a_wait_is_not_timed_and_ends_also_when_it_fails() -> None:
    twin = _Late(812.0)
    with untimed(twin):
        assert twin.seen == ["begun"]
    with pytest.raises(LabError), untimed(twin):
        raise LabError("the link does not come up")
    assert twin.seen == ["begun", "ended"] * 2
    with untimed(None):
        pass


def _figures(**changed: float) -> list[tuple[str, float, str]]:
    clean = {"time": 2.0, "processor_wait_share": 0.01, "steal_share": 0.0, "slow_iterations": 0.02}
    return [(name, value, "") for name, value in {**clean, **changed}.items()]


@pytest.mark.parametrize(
    ("figure", "value", "guard", "words"),
    [
        ("processor_wait_share", 0.4, "processor_wait_share", "a rank waited for a processor for 40% of the time"),
        ("steal_share", 0.2, "steal_share", "a node lost 20% of its processors"),
        ("slow_iterations", 0.5, "slow_share", "25% of the time passed in iterations far slower than the median"),
    ],
)
def test_a_trial_that_something_else_disturbed_is_invalid_with_its_reason(
    figure: str, value: float, guard: str, words: str
) -> None:
    assert contamination(_ALL, _figures()) == ""
    assert contamination(_ALL, _figures(**{figure: value})).startswith(words)
    assert f"guards: {guard}" in contamination(_ALL, _figures(**{figure: value}))
    assert contamination(_ALL.model_copy(update={guard: 1.0}), _figures(**{figure: value})) == ""


def test_programs_without_such_figures_are_not_judged_by_them() -> None:
    assert contamination(_ALL, [("rate", 3.2e9, "flop/s")]) == ""
    assert contamination(_ALL, []) == ""
