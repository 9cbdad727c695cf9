"""The live state after batches and events, and above all what it must not show."""

from dataclasses import replace

from eee_testbed.measuring.live.state.live_state import LiveState
from eee_testbed.measuring.live.state.view import Clocks, LinkView
from eee_testbed.record.run_tail import Echo, Update
from eee_testbed.record.sample_tables import Batch
from tests.support.labs.toy_view import (
    FACTS,
    LAB,
    SECOND,
    T0,
    begun,
    ended,
    event,
    loop_decided,
    loop_epoch,
    lpi,
    poll,
    ports,
    times,
    watts,
)


def _link(live_state: LiveState, name: str, second: float = 1.0) -> LinkView:
    seen = live_state.view(T0 + round(second * SECOND))
    return next(link for link in seen.links if link.name.startswith(name))


def _texts(live_state: LiveState, second: float, facts: dict[str, object] | None = None) -> list[str]:
    return [alarm.text for alarm in live_state.view(T0 + round(second * SECOND), facts).alarms]


def test_rates_are_differences_by_the_time_between_them_in_both_directions() -> None:
    live_state = LiveState(LAB)
    for second, sw1, sw2 in ((0.0, 0, 0), (2.0, 2_500_000, 250_000)):
        live_state.take(ports("sw1", second, [0, sw1, 0]))
        live_state.take(ports("sw2", second, [0, sw2, 0]))
    trunk = _link(live_state, "sw1:p2")
    assert (trunk.ab_bps, trunk.ba_bps) == (10e6, 1e6)
    assert trunk.load_share == 0.01
    assert trunk.trunk
    assert not _link(live_state, "sw1:p1").trunk


def test_a_reset_and_the_first_row_give_no_rate() -> None:
    live_state = LiveState(LAB)
    live_state.take(ports("sw1", 0.0, [0, 5_000, 0]))
    assert _link(live_state, "sw1:p2").ab_bps is None
    live_state.take(ports("sw1", 1.0, [0, 9_000, 0], mark="reset"))
    assert _link(live_state, "sw1:p2").ab_bps is None
    live_state.take(ports("sw1", 2.0, [0, 10_000, 0]))
    assert _link(live_state, "sw1:p2").ab_bps == 8_000


def test_the_other_end_gives_lpi_where_an_end_has_no_counters() -> None:
    live_state = LiveState(LAB)
    live_state.take(lpi(0.0, 0, 0))
    live_state.take(lpi(10.0, 9_000_000, 2_500_000))
    trunk = _link(live_state, "sw1:p2")
    assert (trunk.ab_lpi_share, trunk.ba_lpi_share) == (0.9, 0.25)
    assert trunk.lpi_share == 0.25
    assert _link(live_state, "sw1:p2", 60.0).lpi_share is None  # too old


def test_a_link_that_goes_down_by_itself_is_an_alarm_and_one_that_was_changed_is_not() -> None:
    live_state = LiveState(LAB)
    live_state.take_event(event(49.0, "actuation", what="link", link="sw1:p1 - n01:eth0", after="off"))
    for second, up in ((0.0, True), (50.0, False), (51.0, True)):
        live_state.take(ports("sw1", second, [0, 0, 0], [up, up, False]))
    texts = _texts(live_state, 52.0)
    assert [text for text in texts if "went down" in text] == ["sw1:p2--sw2:p2: went down once in the last 5 minutes"]
    assert not [text for text in _texts(live_state, 400.0) if "went down" in text]


def test_eee_at_one_end_only_is_an_alarm_until_an_actuation() -> None:
    live_state = LiveState(LAB)
    for switch in ("sw1", "sw2"):
        live_state.take(ports(switch, 0.0, [0, 0, 0]))
    live_state.set_eee({"sw1:p2": True, "sw2:p2": False, "sw1:p1": True})
    assert _link(live_state, "sw1:p2").eee == "one-sided"
    assert _link(live_state, "sw1:p1").eee == "on"
    assert any("EEE at one end only" in text for text in _texts(live_state, 1.0))
    live_state.take_event(event(1.0, "actuation", what="eee", link="sw1:p2--sw2:p2", after="on"))
    assert _link(live_state, "sw1:p2").eee == "on"


def test_sources_that_fail_are_silent_late_or_frozen_raise_alarms() -> None:
    live_state = LiveState(LAB)
    for second in range(10):
        live_state.take(poll("sw2", "switch", second))
        live_state.take(poll("pdu1", "strip", second, *(("missed",) if second in {3, 4} else ("ok", "late"))))
    live_state.take(poll("sw1", "switch", 9.0, "failed", why="sw1 does not answer: check it."))
    live_state.take(watts(9.0, 20.0, 60.0, mark="stale"))
    assert _texts(live_state, 10.0) == [
        "pdu1: 8 late, 2 missed in the last minute",
        "sw1: sw1 does not answer: check it.",
        "pdu1:1: the meter has stopped",
    ]
    assert "sw2: no sample for 21 s" in _texts(live_state, 30.0)
    assert not [text for text in _texts(live_state, 100.0) if "late" in text]
    over = {**FACTS, "state": "finished"}
    assert not [text for text in _texts(live_state, 30.0, over) if "no sample" in text]


def test_recently_lost_frames_raise_an_alarm() -> None:
    live_state = LiveState(LAB)
    live_state.take(ports("sw1", 0.0, [0, 0, 0], lost=7))  # before the first poll
    assert not _texts(live_state, 1.0)
    live_state.take(ports("sw1", 2.0, [0, 0, 0], lost=10))
    assert _texts(live_state, 3.0) == ["sw1:p1--n01:eth0: 3 frames discarded or in error in the last 5 minutes"]


def test_watts_are_summed_and_the_total_is_unknown_while_a_strip_is_silent() -> None:
    live_state = LiveState(LAB)
    assert live_state.view(T0).power.power_watt is None
    for second in range(5):
        live_state.take(watts(second, 20.0, 60.0 + second))
    power = live_state.view(T0 + 4 * SECOND).power
    assert power.power_watt == 84.0
    assert abs(power.energy_joule - (80 + 84) / 2 * 4) < 1e-6
    assert [(one.device, one.power_watt) for one in power.devices] == [("sw1", 20.0), ("n01", 64.0)]
    assert live_state.view(T0 + 60 * SECOND).power.power_watt is None


def test_the_total_is_unknown_before_every_strip_was_read() -> None:
    live_state = LiveState(replace(LAB, strips=(*LAB.strips, replace(LAB.strips[0], name="pdu2"))))
    live_state.take(watts(0.0, 20.0, 60.0))
    assert live_state.view(T0).power.power_watt is None
    assert live_state.view(T0).power.history == ()


def test_a_link_that_is_up_at_one_end_only_raises_an_alarm() -> None:
    live_state = LiveState(LAB)
    live_state.take(ports("sw1", 0.0, [0, 0, 0], [True, True, True]))
    live_state.take(ports("sw2", 0.0, [0, 0, 0], [True, True, False]))
    assert _texts(live_state, 1.0) == ["sw1:p3--sw2:p3: up at one end only"]
    assert _link(live_state, "sw1:p3").up is False


def test_a_long_run_keeps_its_mean_in_few_points() -> None:
    live_state = LiveState(LAB)
    for second in range(10_000):
        live_state.take(watts(second, 10.0, float(second % 2)))
    history = live_state.view(T0).power.history
    assert len(history) <= 4_097
    assert abs(sum(watt for _, watt in history) / len(history) - 10.5) < 0.01
    assert history[-1][0] == T0 + 9_999 * SECOND + 500


def test_trials_are_counted_by_slot_and_the_time_left_follows_from_their_pace() -> None:
    live_state = LiveState(LAB)
    for one in (
        begun(0.0, 1, eee="on"),
        ended(10.0, 1, "invalid", "a link flapped"),
        begun(10.0, 2, slot=1, eee="on"),
        ended(20.0, 2),
        begun(20.0, 3, slot=2, eee="off"),
    ):
        live_state.take_event(one)
    run = live_state.view(T0 + 25 * SECOND, {**FACTS, "slot_count": 4}).run
    assert run is not None
    assert (run.done_count, run.planned_count, run.valid_count, run.invalid_count) == (1, 4, 1, 1)
    assert run.left_s == 3 * 10 - 5
    assert [(one.trial, one.state) for one in run.trials] == [(3, "running"), (2, "valid"), (1, "invalid")]
    assert run.trials[1].figures == "time 1.25 s, messages 40"
    ended_run = live_state.view(T0 + 25 * SECOND, {**FACTS, "state": "interrupted"}).run
    assert ended_run is not None
    assert ended_run.trials[0].state == "valid"  # a trial without an end does not count as running


def test_the_time_left_of_a_run_in_a_slow_lab_is_the_walls() -> None:
    live_state = LiveState(LAB)
    for one, wall_s in ((begun(0.0, 1), 500.0), (ended(10.0, 1), 600.0), (begun(10.0, 2), 610.0)):
        live_state.take_event({**one, "wall_s": wall_s})
    facts = {**FACTS, "slot_count": 4}
    slow = live_state.view(T0 + 12 * SECOND, facts, clocks=Clocks("1/10", T0, 630.0)).run
    unknown = live_state.view(T0 + 12 * SECOND, facts).run
    assert slow is not None
    assert unknown is not None
    assert (slow.left_s, unknown.left_s) == (3 * 100 - 20, 3 * 10 - 2)


def test_the_pause_before_a_run_was_resumed_is_no_pace() -> None:
    live_state = LiveState(LAB)
    for one in (begun(0.0, 1), ended(10.0, 1), event(5_000.0, "resumed"), begun(5_000.0, 2), ended(5_010.0, 2)):
        live_state.take_event(one)
    run = live_state.view(T0 + 5_010 * SECOND, {**FACTS, "slot_count": 4}).run
    assert run is not None
    assert run.left_s == 2 * 10


def test_echoes_of_a_new_trial_replace_the_old_ones() -> None:
    live_state = LiveState(LAB)
    live_state.take_update(Update(echoes=tuple(Echo(1, T0, 1_000, 900_000) for _ in range(10))))
    live_state.take_update(
        Update(echoes=(Echo(2, T0, 1_000, 110_000), Echo(2, T0, 1_000, None), Echo(2, T0, 1_000, 130_000)))
    )
    run = live_state.view(T0, FACTS).run
    assert run is not None
    assert run.probe is not None
    assert (run.probe.echo_count, run.probe.lost_count, run.probe.median_us) == (3, 1, 110.0)


def test_an_unknown_event_is_shown_with_its_facts() -> None:
    live_state = LiveState(LAB)
    live_state.take_event(event(0.0, "moon_rose", phase="full"))
    live_state.take_event(event(1.0, "actuation"))
    live_state.take(Batch("weather", 1, times(0.0)))
    assert [one.text for one in live_state.view(T0).events] == ["actuation", "moon rose: phase full"]


def test_a_closed_loop_is_shown_by_its_last_epoch_and_its_decisions() -> None:
    live_state = LiveState(LAB)
    assert live_state.view(T0).loop is None
    for one in (loop_epoch(0.0, 1), loop_decided(1.0, "shadow", "not needed"), loop_decided(2.0, "off", "not needed")):
        live_state.take_event(one)
    live_state.take_event(event(3.0, "loop_undecided", epoch=2, why="sw2: does not answer."))
    live_state.take_event(loop_epoch(3.0, 2, undecided="sw2: does not answer.", busiest_share=None))
    view = live_state.view(T0 + 4 * SECOND)
    loop = view.loop
    assert loop is not None
    assert (loop.epoch, loop.active_count, loop.links["off"]) == (2, 1, ("sw1:p3--sw2:p3",))
    assert (loop.busiest_share, loop.slowdown_share) == (None, 0.031)
    assert [one.after for one in loop.decisions] == ["off", "shadow"]
    texts = [one.text for one in view.events]
    assert texts[0] == "no decision in epoch 2: sw2: does not answer."
    assert not [text for text in texts if "links are active" in text], "one event an epoch would hide all others"
