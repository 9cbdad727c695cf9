"""What is drawn, at the sizes that people have. `pytest --snapshot-update` updates the stored screens."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widgets import DataTable

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.live.screen import panels
from eee_testbed.measuring.live.screen.app import WatchApp
from eee_testbed.measuring.live.screen.drawing import bar, chart, rate_text, span_text, spark
from eee_testbed.measuring.live.screen.link_table import FILTERS, ORDERS, chosen, title
from eee_testbed.measuring.live.screen.once import as_text
from eee_testbed.measuring.live.screen.study_panel import study
from eee_testbed.measuring.live.state.live_state import LiveState
from eee_testbed.measuring.live.state.view import (
    Alarm,
    Clocks,
    DevicePower,
    EventView,
    LabView,
    ParameterView,
    PowerView,
    StepView,
    StudyView,
)
from eee_testbed.record.run_tail import Echo, Update
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
    watts,
)
from tests.support.waiting import eventually_in_loop


def _busy(second: int = 30) -> LabView:
    """A view with at least one item in every part."""
    live_state = LiveState(LAB)
    known = {"p1": {"eee": True}, "p2": {"eee": True}, "p3": {"eee": None}}
    live_state.take_event(event(0.0, "ports_set", ports={"sw1": known, "sw2": {"p2": {"eee": False}}}))
    live_state.take_event(event(1.0, "preflight", sentence="these meters can see the effect"))
    for now in range(second):
        live_state.take(ports("sw1", now, [now * 30_000_000, now * 50_000, 0], [True, True, False]))
        live_state.take(ports("sw2", now, [0, 0, 0], [now != 20, True, False]))
        live_state.take(watts(now, 25.0 + now % 7, 60.0 + now / 10))
        live_state.take(poll("sw1", "switch", now))
        live_state.take(poll("pdu1", "strip", now, mark="late" if now == 12 else ""))
    live_state.take(lpi(0.0, 0, 0))
    live_state.take(lpi(10.0, 9_500_000, 9_900_000))
    for one in (begun(1.0, 1, eee="on"), ended(6.0, 1), begun(7.0, 2, eee="off"), ended(12.0, 2, "invalid", "flap")):
        live_state.take_event(one)
    live_state.take_event(begun(20.0, 3, eee="off"))
    live_state.take_update(Update(echoes=tuple(Echo(3, T0, 500_000, 100_000 + n * 1_000) for n in range(100))))
    return live_state.view(T0 + (second - 1) * SECOND, FACTS)


class _Toy:
    """A feed with a new view at each poll, or an error."""

    def __init__(self, view: LabView, error: str = "") -> None:
        self.view, self.error, self.polls = view, error, 0

    def poll(self) -> LabView:
        self.polls += 1
        if self.error:
            raise LabError(self.error)
        return self.view

    @property
    def url(self) -> str:
        return ""

    @property
    def trouble(self) -> str:
        return ""

    def close(self) -> None:
        pass


_STUDY = StudyView(
    "20261128T0700Z-toy",
    "running",
    "power-staged",
    "it narrows most for its time",
    754.0,
    (
        StepView("probe-sweep", "done", 2, 62.0),
        StepView("power-staged", "running", 1, 31.0),
        StepView("alltoall-eee", "waiting", 0, 0.0),
    ),
    (
        ParameterView("n01-n02: hold", "600 us", "± 12 us", "known"),
        ParameterView("sw1: port up", "1.2 W", "± 0.02 W", "needs about 3 min more"),
        ParameterView("sw1: port shut", "0.1 W", "± 0.02 W", "needs more"),
    ),
)


def _screen(app: WatchApp) -> str:
    """The characters on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


def _drive(feed: _Toy, size: tuple[int, int], *keys: str) -> tuple[WatchApp, str]:
    app = WatchApp(feed, feed.view)

    async def run() -> str:
        async with app.run_test(size=size) as pilot:
            await _settled(pilot)
            for key in keys:
                await pilot.press(key)
                await _settled(pilot)
            return _screen(app)

    return app, asyncio.run(run())


async def _settled(pilot: Pilot[Any]) -> None:
    for _ in range(4):  # a drawing is asked for after a layout, which asks for one
        await pilot.pause()


def test_a_view_as_text(snapshot: SnapshotAssertion) -> None:
    console = Console(width=100, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(as_text(_busy(), 100))
    assert "\n".join(line.rstrip() for line in captured.get().splitlines()) == snapshot


@pytest.mark.parametrize(
    ("size", "keys"), [((80, 24), ""), ((80, 24), "v"), ((80, 24), "vv"), ((160, 50), "")], ids=str
)
def test_screens(size: tuple[int, int], keys: str, snapshot: SnapshotAssertion) -> None:
    assert _drive(_Toy(_busy()), size, *keys)[1] == snapshot


def test_an_empty_view_can_be_drawn() -> None:
    _, shown = _drive(_Toy(LiveState(LAB).view(T0)), (80, 24))
    assert "no watts yet" in shown
    assert "live, nothing is kept" in shown
    assert "trials" not in shown


@pytest.mark.slow
def test_a_closed_loop_has_a_panel_with_its_decisions_and_their_reasons() -> None:
    live_state = LiveState(LAB)
    live_state.take_event(loop_decided(1.0, "off", "it was not needed as a shadow link"))
    live_state.take_event(loop_epoch(2.0, 7, undecided="sw2: does not answer.", backs_off=True))
    view = live_state.view(T0 + 2 * SECOND, FACTS)
    for size in ((80, 24), (160, 50)):
        _, shown = _drive(_Toy(view), size)
        assert "closed loop" in shown
        assert "epoch 7: 1 links active, 1 off, busiest 25.0%, program +3.1%   backs off" in shown
        assert "no decision: sw2: does not answer." in shown
        assert "sw1:p3--sw2:p3 off: it was not needed" in shown
    assert "closed loop" not in _drive(_Toy(_busy()), (160, 50))[1]
    console = Console(width=100, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(as_text(view, 100))
    assert "epoch 7: 1 links active" in captured.get()


@pytest.mark.slow
def test_filters_and_orders_step_on_and_cells_follow_the_feed() -> None:
    feed = _Toy(_busy())
    app = WatchApp(feed, feed.view)

    async def run() -> tuple[int, int, str, str]:
        async with app.run_test(size=(80, 24)) as pilot:
            await _settled(pilot)
            table = app.query_one(DataTable)
            everything = table.row_count
            await pilot.press("f")
            await _settled(pilot)
            trunks = table.row_count
            await pilot.press("f", "f", "f", "f", "s")
            await _settled(pilot)
            busiest = str(table.get_row_at(0)[0])
            feed.view = LiveState(LAB).view(T0)
            await eventually_in_loop("cells follow the feed", lambda: str(table.get_row_at(0)[1]) == "?")
            return everything, trunks, busiest, str(table.get_row_at(0)[1])

    everything, trunks, busiest, state = asyncio.run(run())
    assert (everything, trunks) == (4, 2)
    assert busiest.strip() == "sw1:p1--n01:eth0"
    assert state == "?"


@pytest.mark.slow
def test_a_feed_that_ends_ends_the_screen_with_its_reason() -> None:
    feed = _Toy(_busy(), error="the disk is gone: mount it.")
    app = WatchApp(feed, feed.view)

    async def run() -> None:
        async with app.run_test(size=(80, 24)):
            await eventually_in_loop("the screen ends", lambda: app.return_value is not None)

    asyncio.run(run())
    assert app.return_value == "the disk is gone: mount it."


def test_q_quits_without_a_reason() -> None:
    app, _ = _drive(_Toy(_busy()), (80, 24), "q")
    assert app.return_value is None


@pytest.mark.parametrize(
    ("bps", "text"),
    [
        (None, "-"),
        (0, "0"),
        (640, "640"),
        (999.6, "1k"),
        (12_340, "12.3k"),
        (999_600, "1M"),
        (1e9, "1G"),
        (2.5e11, "250G"),
    ],
)
def test_rates_have_five_characters_at_most(bps: float | None, text: str) -> None:
    assert rate_text(bps) == text
    assert len(text) <= 5


def test_small_drawings() -> None:
    assert span_text(3_723) == "1:02:03"
    assert spark((0.0, 0.001, 0.5, 1.0), 5) == "  ▁▄█"
    assert bar(0.5, 4) == "██"
    rows, high = chart([(n * SECOND, float(n)) for n in range(9)], 9, 1)
    assert (rows, high) == (["▁▁▂▃▄▅▆▇█"], 8.0)


def test_a_gap_in_the_samples_is_a_gap_in_the_chart() -> None:
    points = [(n * SECOND, 1.0) for n in range(20)] + [((60 + n) * SECOND, 2.0) for n in range(20)]
    row = chart(points, 40, 1)[0][0]
    assert " " in row[15:30]
    assert " " not in row[:9]
    assert " " not in row[32:]


def _metered(host_count: int) -> LabView:
    """Two switches and many hosts, all metered; hosts draw more than switches."""
    names = tuple(f"n{n:02}" for n in range(host_count))
    drawn = [DevicePower(name, 50.0 + n, stale=False) for n, name in enumerate(names)]
    drawn += [DevicePower(name, 20.0, stale=False) for name in ("sw1", "sw2")]
    watts_now = PowerView(200.0, ((T0, 190.0), (T0 + SECOND, 210.0)), 200.0, T0, tuple(drawn))
    return replace(LiveState(LAB).view(T0 + SECOND), hosts=names, power=watts_now)


def test_hosts_do_not_hide_switches() -> None:
    lines = panels.devices(_metered(30), 78, 6).plain.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["sw1", "sw2"]
    assert lines[2:] == [" 30 hosts: 1935.0 W, each 50.0 to 79.0 W"]
    assert [line.split()[0] for line in panels.devices(_metered(3), 78, 6).plain.splitlines()][:3] == [
        "sw1",
        "sw2",
        "n00",
    ]
    assert " 31 others: " in panels.devices(_metered(30), 78, 2).plain
    rows = chosen(_busy(), "all links", "trunks first")
    assert rows[0].name == "sw1:p2--sw2:p2"


def test_bars_begin_at_zero_and_every_watt_has_its_unit() -> None:
    shown = panels.power(_metered(2), 90, 5).plain.splitlines()
    assert shown[0] == " 200.0 W (switches 40.0 W, hosts 101.0 W)   mean 200.0 W   200 J in 0:00:01"
    assert shown[1].startswith("  210.0 W ┤")
    assert shown[-1].startswith("      0 W ┤█")
    assert "mean" not in panels.power(_metered(2), 60, 5).plain
    bars = [line.split(" W ")[1] for line in panels.devices(_metered(2), 60, 6).plain.splitlines()]
    assert len(bars[0]) / len(bars[-1]) == pytest.approx(20 / 51, abs=0.03)


def test_a_dash_for_lpi_is_explained_where_there_is_one() -> None:
    links = _busy().links
    assert "LPI -: no counter read" in title(links, "all links", "trunks first")
    assert max(len(title(links, which, order)) for which in FILTERS for order in ORDERS) <= 78
    counted = [link for link in links if link.lpi_share is not None]
    assert title(counted, "all links", "by LPI") == "links: all links, by LPI"


def test_no_cell_of_the_table_is_cut_on_a_small_terminal() -> None:
    view = _busy()
    link = replace(view.links[0], name="sw1:gi1/0/11--sw2:gi1/0/11", ab_bps=999e6, ab_lpi_share=1.0, ba_lpi_share=1.0)
    _, shown = _drive(_Toy(replace(view, links=(replace(link, eee="one-sided"),) * 30)), (80, 24))
    assert " 999M " in shown
    assert "100/100 1 end" in shown


def test_the_head_keeps_its_state_and_time_and_cuts_the_name_of_a_run() -> None:
    view = _busy()
    assert view.run is not None
    named = replace(view, run=replace(view.run, name="a-very-long-name-of-a-run-that-somebody-chose"))
    for width in (60, 80, 100):
        shown = panels.head(named, width).plain
        assert len(shown) == width
        assert "· running 0:00:29 " in shown
        assert shown.endswith(" answer  15:07:09 UTC ")
    assert "…" in panels.head(named, 60).plain


def test_what_went_wrong_is_never_cut() -> None:
    view = _busy()
    assert view.run is not None
    why = "the twin was 5793 us late: use fewer ranks than cores or a slower program, or slow the lab down."
    trials = tuple(replace(trial, why=why) for trial in view.run.trials)
    spoiled = replace(
        view, run=replace(view.run, trials=trials), events=(EventView(T0, why),), alarms=(Alarm("bad", why),)
    )
    for panel in (panels.progress, panels.events, panels.alarms):
        shown = panel(spoiled, 70, 12).plain
        assert max(map(len, shown.splitlines())) <= 70
        assert why in " ".join(shown.split())


# -- a study, and a lab with a clock of its own


def test_a_study_stands_above_its_newest_run() -> None:
    view = replace(_busy(), study=_STUDY)

    async def drawn() -> list[str]:
        app = WatchApp(_Toy(view), view)
        async with app.run_test(size=(160, 50)):
            await eventually_in_loop("the study is drawn", lambda: "of the budget left" in _screen(app))
            return _screen(app).splitlines()

    lines = asyncio.run(drawn())
    at = {word: next(n for n, line in enumerate(lines) if word in line) for word in ("0:12:34 of", "topology")}
    assert at["0:12:34 of"] < at["topology"]


@pytest.mark.parametrize("height", [3, 12])
def test_what_is_not_known_yet_comes_first_and_what_has_no_room_is_counted(height: int) -> None:
    lines = study(replace(_busy(), study=_STUDY), 120, height).plain.splitlines()
    assert "1 of 3 parameters known" in lines[0]
    assert lines[1] == " ✔ probe-sweep x2 0:01:02  ▶ power-staged 0:00:31  · alltoall-eee "
    if height == 3:
        assert lines[2:] == ["   and 3 more parameters"]
    else:
        assert [line.split("  ")[0].strip() for line in lines[2:]] == [
            "sw1: port up",
            "sw1: port shut",
            "n01-n02: hold",
        ]


def test_steps_that_do_not_fit_a_line_go_on_in_the_next() -> None:
    assert all(len(line) <= 40 for line in study(replace(_busy(), study=_STUDY), 40, 12).plain.splitlines()[1:3])


def test_a_lab_with_a_clock_of_its_own_has_both_clocks_in_its_head() -> None:
    view = replace(_busy(), now_ns=T0, clocks=Clocks("1/10", T0 + 90 * SECOND, 1.0))
    assert "lab 15:06:40 at 1/10  wall 15:08:10 UTC" in panels.head(view, 120).plain
    assert "lab 15:06:40  wall" in panels.head(replace(view, clocks=Clocks("1", T0, 1.0)), 120).plain
    assert panels.head(_busy(), 120).plain.rstrip().endswith("UTC")
