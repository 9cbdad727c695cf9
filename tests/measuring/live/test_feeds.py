"""A run's folder as it grows, and the command."""

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pexpect
import pytest

from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.collecting.collect import Collector, Timed
from eee_testbed.measuring.collecting.source import Reading
from eee_testbed.measuring.live.export.attach import Views, attach
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.measuring.live.feeds import LabFeed, RunFeed
from eee_testbed.measuring.live.state.view import LabView
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.run_tail import Echo, RunTail, Update
from eee_testbed.record.sample_tables import TABLES, Batch
from eee_testbed.record.segments import read_table
from eee_testbed.record.store import Run
from tests.support.labs.toy_view import LAB, begun, ended, event, poll, ports, watts
from tests.support.waiting import eventually


@pytest.fixture
def run(tmp_path: Path) -> Any:
    made = Run.create(tmp_path / "runs", "toy", {"lab": "toy"}, RunClock(), segment_s=3600.0)
    yield made
    made.close()


def _rows(update: Update, table: str) -> list[tuple[int, int]]:
    return [(batch.columns["tick"], batch.row_count) for batch in update.batches if batch.table == table]  # type: ignore[misc]


def test_every_batch_is_read_once_and_whole_whether_its_segment_is_open_or_closed(run: Run) -> None:
    tail = RunTail(run.folder)
    given: list[int] = []
    seen: list[tuple[int, int]] = []
    for tick in range(40):
        run.append(watts(tick, 1.0, 2.0))
        run.append(ports("sw1", tick, [tick, 0, 0]))
        given.append(tick)
        if tick % 3 == 0:
            run.flush()
            seen += _rows(tail.poll(), "watts")
        if tick % 11 == 5:
            run.flush()
            run._close_segments()
    run.flush()
    seen += _rows(tail.poll(), "watts")
    assert seen == [(tick, 3) for tick in given]
    assert tail.poll().batches == ()
    late = RunTail(run.folder).poll()
    assert _rows(late, "ports") == [(tick, 3) for tick in given]
    rows = read_table(run.folder / "samples", TABLES["watts"])
    shown = [watt for batch in late.batches if batch.table == "watts" for watt in batch.columns["power_watt"]]  # type: ignore[union-attr]
    assert shown == rows["power_watt"].to_list()


def test_a_first_poll_takes_all_watts_and_only_recent_counters(run: Run) -> None:
    for tick in range(0, 1_000, 10):
        run.append(watts(tick, 1.0, 2.0))
        run.append(ports("sw1", tick, [tick, 0, 0]))
        run.append(poll("sw1", "switch", tick))
    run.flush()
    run._close_segments()
    update = RunTail(run.folder).poll()
    assert len(_rows(update, "watts")) == 100
    assert [tick for tick, _ in _rows(update, "ports")] == list(range(840, 1_000, 10))
    polls = [batch for batch in update.batches if batch.table == "polls"]
    assert {type(batch.columns["source"]) for batch in polls} == {str}


def test_an_incomplete_line_is_read_when_it_is_complete(run: Run) -> None:
    tail = RunTail(run.folder)
    run.flush()
    tail.poll()
    path = run.folder / "events.jsonl"
    with path.open("a") as file:
        file.write('{"time_ns": 1, "kind":')
        file.flush()
        assert tail.poll().events == ()
        file.write(' "late"}\n')
    assert [one["kind"] for one in tail.poll().events] == ["late"]


def test_echoes_of_a_trial_are_read_while_they_are_written(run: Run) -> None:
    tail = RunTail(run.folder)
    run.event(EventKind.TRIAL_BEGUN, **{k: v for k, v in begun(0, 3).items() if k not in {"kind", "time_ns"}})
    run.flush()
    assert tail.poll().echoes == ()
    folder = run.folder / "trials" / "0003"
    folder.mkdir(parents=True)
    columns = [{"name": name} for name in ("number", "wanted_ns", "sent_ns", "rtt_ns")]
    with (folder / "echoes.jsonl").open("w") as file:
        for line in (
            {"kind": "header", "columns": columns},
            {"kind": "rows", "rows": [[0, 500, 10, 111], [1, 600, 20, None], [2, 700, None, None]]},
        ):
            file.write(json.dumps(line) + "\n")
        file.flush()
        assert [(one.gap_ns, one.rtt_ns) for one in tail.poll().echoes] == [(500, 111), (600, None)]
        file.write(json.dumps({"kind": "rows", "rows": [[3, 800, 30, 112]]}) + "\n")
    run.event(EventKind.TRIAL_ENDED, **{k: v for k, v in ended(5, 3).items() if k not in {"kind", "time_ns"}})
    run.flush()
    assert [one.rtt_ns for one in tail.poll().echoes] == [112]
    assert tail._echoes == {}


def test_a_run_whose_writer_is_gone_raises_one_alarm(run: Run) -> None:
    run.append(watts(0, 1.0, 2.0))
    run.append(poll("pdu1", "strip", 0))
    run.flush()
    path = run.folder / "events.jsonl"
    path.write_text(json.dumps(event(0, "begun")) + "\n")  # a year ago
    alarms = RunFeed(run.folder, LAB).poll().alarms
    assert [alarm.text.partition(" for ")[0] for alarm in alarms] == ["nothing was written"]


def test_a_lab_is_sampled_and_its_eee_settings_read_until_the_feed_is_closed() -> None:
    class Source:
        kind, name = "strip", "pdu1"

        def read(self, clock: RunClock) -> Any:
            now_ns = clock.now_ns()
            batch = watts(0, 25.0, 60.0)
            return Reading(
                Batch("watts", 3, {k: v for k, v in batch.columns.items() if not k.endswith("_ns")}), now_ns, now_ns
            )

        def offsets(self) -> tuple[()]:
            return ()

        def close(self) -> None:
            pass

    feed = LabFeed(LAB, sources=(Timed(Source(), 0.05),), ask_eee=lambda _: {"sw1:p2": True, "sw2:p2": True})
    try:

        def sampled() -> LabView | None:
            view = feed.poll()
            return view if view.power.power_watt is not None and view.links[2].eee == "on" else None

        seen = eventually("watts and EEE settings", sampled, every_s=0.02)
    finally:
        feed.close()
    assert seen is not None
    assert seen.power.power_watt == 85.0
    assert seen.links[2].eee == "on"
    assert seen.answering == (1, 1)
    assert isinstance(feed._collector, Collector)
    assert not any(sampler.thread.is_alive() for sampler in feed._collector._samplers)


def _scraped(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - ours
        return str(answer.read().decode())


def test_exports_have_cables_trials_actuations_and_probes() -> None:
    views = Views(LAB, ViewOptions(prometheus="127.0.0.1:0"), "toy")
    try:
        assert "eee_run_info" not in _scraped(views.url)
        acted = event(1.5, "actuation", what="eee", link="sw1:p2--sw2:p2", after="on")
        events = (begun(1, 1, eee="on"), ended(2, 1), begun(3, 2, eee="off"), acted)
        echoes = (Echo(2, 1, 1, 40_000), Echo(2, 1, 1, 40_001), Echo(2, 1, 1, None))
        update = Update((poll("sw1", "switch", 1),), events, echoes)
        views.take_update(update, {"name": "toy", "state": "running", "experiment": {"name": "x"}, "slot_count": 9})
        text = _scraped(views.url)
    finally:
        views.close()
    for line in (
        'eee_link_info{end="b",kind="trunk",lab="toy",link="sw1:p2--sw2:p2",peer="sw1:p2",port="p2",switch="sw2"} 1.0',
        'eee_actuation_timestamp_seconds{after="on",lab="toy",link="sw1:p2--sw2:p2",what="eee"} 1.7500000015e+09',
        'eee_run_info{experiment="x",lab="toy",run="toy",state="running"} 1.0',
        'eee_run_planned_trials{lab="toy",run="toy"} 9.0',
        'eee_run_trials_total{lab="toy",run="toy",state="valid"} 1.0',
        'eee_run_trial_info{lab="toy",levels="eee=off",run="toy",trial="2",what="alltoall"} 1.0',
        'eee_run_figure{figure="time",lab="toy",levels="eee=on",run="toy",unit="s"} 1.25',
        'eee_probe_round_trip_seconds_bucket{lab="toy",le="4e-05",run="toy"} 1.0',
        'eee_probe_round_trip_seconds_bucket{lab="toy",le="5e-05",run="toy"} 2.0',
        'eee_probe_lost_echoes_total{lab="toy",run="toy"} 1.0',
        'eee_source_up{kind="switch",lab="toy",source="sw1"} 1.0',
    ):
        assert line in text


def test_an_export_of_a_run_has_its_last_sample_and_ends_with_it(run: Run) -> None:
    with attach(run.folder, LAB, ViewOptions(prometheus="127.0.0.1:0"), print) as views:
        assert views is not None
        run.append(poll("sw1", "switch", 0))
        run.flush()
        url = views.url
        eventually("a source that is up is exported", lambda: "eee_source_up{" in _scraped(url))
    with pytest.raises(OSError, match="refused"):
        _scraped(url)
    with attach(run.folder, LAB, ViewOptions(), print) as none:
        assert none is None


def test_an_export_that_fails_is_an_alarm_of_the_view(run: Run) -> None:
    views = Views(LAB, ViewOptions(prometheus="127.0.0.1:0"), "toy")
    feed = RunFeed(run.folder, LAB, views)
    try:
        assert not any("not exported" in alarm.text for alarm in feed.poll().alarms)
        views.broken = "the server is away"
        assert feed.trouble == "the server is away"
        assert "samples are not exported: the server is away" in [alarm.text for alarm in feed.poll().alarms]
    finally:
        feed.close()


@pytest.mark.slow
def test_a_folder_that_disappears_ends_the_export_and_not_the_run(run: Run) -> None:
    with attach(run.folder, LAB, ViewOptions(prometheus="127.0.0.1:0"), print) as views:
        assert views is not None
        shutil.move(run.folder / "run.yaml", run.folder / "gone")
        eventually("trouble is shown", lambda: views.trouble)
        _scraped(views.url)
        assert "cannot be read any more" in views.trouble
        shutil.move(run.folder / "gone", run.folder / "run.yaml")


@pytest.mark.parametrize("text", ["", "localhost", "127.0.0.1:99999", "host:port"])
def test_an_invalid_address_to_serve_metrics_is_an_error(text: str) -> None:
    with pytest.raises(LabError, match=r"invalid address .* to serve metrics"):
        Views(LAB, ViewOptions(prometheus=text or " "))


# -- the command


def test_a_run_is_shown_as_json_and_as_text(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run.append(watts(0, 25.0, 60.0))
    run.close()
    assert eeectl(["watch", str(run.folder), "--json"]) == 0
    payload = json.loads(capsys.readouterr().out)
    assert payload["power"]["devices"][0] == {"device": "sw1", "power_watt": 25.0, "stale": False}
    assert payload["run"]["state"] == "finished"
    assert eeectl(["watch", "--runs", str(run.folder.parent), "--once"]) == 0
    assert "mean 85.0" in capsys.readouterr().out
    live_state = run.folder / "figures" / "watch.svg"
    assert eeectl(["watch", str(run.folder), "--svg", str(live_state), "--size", "80x24"]) == 0
    text = live_state.read_text()
    assert "alarms" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")
    assert eeectl(["watch", str(run.folder), "--svg", "/nowhere/watch.svg"]) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nothing"], "'nothing' is not a run or a study"),
        (["--runs", "/nowhere"], "no run exists below /nowhere"),
        (["a", "--lab", "b"], "give only one of them"),
        (["--lab", "moon"], "no lab 'moon'"),
        (["--lab", "miwa", "--svg", "/nowhere/x.svg", "--size", "9x9"], "invalid size '9x9' of a terminal"),
        (["--no-screen"], "add --prometheus or --influx"),
        (["--lab", "miwa", "--period-s", "0.001", "--once"], "cannot be polled every"),
        (["--lab", "miwa", "--prometheus", "nine"], "to serve metrics at"),
        (["--lab", "miwa", "--influx", "ftp://x"], "invalid address 'ftp://x' of a server"),
    ],
)
def test_wrong_options_are_an_error(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["watch", *words]) == 1
    assert expected in capsys.readouterr().err


@pytest.mark.slow
def test_without_a_terminal_the_error_names_the_alternatives(run: Run) -> None:
    argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", "watch", str(run.folder)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "use --once, --json or --no-screen" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("key", ["q", "\x03"])
def test_a_terminal_is_drawn_on_and_restored(run: Run, key: str) -> None:
    run.append(watts(0, 25.0, 60.0))
    run.close()
    argv = ["-m", "eee_testbed.eeectl.cli", "watch", str(run.folder)]
    environment = {**os.environ, "TERM": "xterm"}  # the tests' own terminal may be a dumb one, or none
    terminal = pexpect.spawn(sys.executable, argv, env=environment, dimensions=(24, 80), timeout=60, encoding="utf-8")
    terminal.expect("alarms")
    terminal.send(key)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert (terminal.exitstatus, terminal.signalstatus) == (0, None)


@pytest.mark.slow
def test_serving_without_a_screen_ends_at_ctrl_c(run: Run) -> None:
    exports = ("--prometheus", "0", "--influx", "http://127.0.0.1:1")
    argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", "watch", str(run.folder), "--no-screen", *exports]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url = process.stderr.readline().split()[3].rstrip(";")
            assert "eee_run_info" in _scraped(url)
            assert process.stderr.readline().startswith("eeectl: samples are not exported: 127.0.0.1:1 does not answer")
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        finally:
            process.kill()
