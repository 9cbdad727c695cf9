"""The collector on a live lab: a switch that restarts, an agent that loses datagrams, a meter that freezes."""

import subprocess
from collections.abc import Callable

import polars as pl
import pytest

from eee_testbed.analysis.power.energy import energy_of
from eee_testbed.controller.transports.hosts import ssh_command
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.collecting.collect import Collector, Timed
from eee_testbed.measuring.collecting.lab_sources import note_clocks, sources_of
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import Run
from eee_testbed.twin.lab import lifecycle as labs
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab
_PERIOD_S = 0.25


def _until(collector: Collector, done: Callable[[RunSamples], bool], timeout_s: float = 60.0) -> None:
    """Poll the run's folder until a condition holds."""
    eventually(
        "what a run's folder is to show",
        lambda: done(RunSamples(collector.run.folder)),
        patience_s=timeout_s,
        every_s=0.2,
        shown=lambda: [state.why for state in collector.states],
    )


def _ok_count(samples: RunSamples, name: str, kind: str) -> int:
    rows = samples.table("polls").filter((pl.col("source") == name) & (pl.col("kind") == kind))
    return rows.filter(pl.col("outcome") == "ok").height


def _ok(name: str, kind: str, least: int) -> Callable[[RunSamples], bool]:
    return lambda samples: _ok_count(samples, name, kind) >= least


def _until_sampled_again(collector: Collector, *sources: tuple[str, str]) -> None:
    """Wait for two more samples of each (source, kind): the second was asked for after this call."""
    before = RunSamples(collector.run.folder)
    for name, kind in sources:
        _until(collector, _ok(name, kind, _ok_count(before, name, kind) + 2))


def _seen(kind: str, source: str) -> Callable[[RunSamples], bool]:
    return lambda samples: any(e["kind"] == kind and e["source"] == source for e in samples.events)


def _sources(lab: Lab, *names: str, lpi_period_s: float = 0.0) -> list[Timed]:
    found = sources_of(lab, period_s=_PERIOD_S, lpi_period_s=lpi_period_s)
    return [timed for timed in found if timed.source.name in names]


def test_one_run_records_counters_watts_and_lpi_of_a_lab(lab: Lab, run: Run) -> None:
    sources = _sources(lab, "sw1", "sw2", "pdu1", lpi_period_s=1.0)
    with Collector(sources, run) as collector:
        read = [("sw1", "switch"), ("sw2", "switch"), ("sw2", "lpi")]
        _until_sampled_again(collector, *read)
        answered = 0
        for _ in range(2):
            ping = f"ping -c 20 -i 0.05 -q {lab.host('n03').data_address}"
            argv = ssh_command(lab.host("n01"), ["sh", "-c", ping])
            said = subprocess.run(argv, check=True, capture_output=True, timeout=30, text=True).stdout
            answered += int(said.partition(" received")[0].rpartition(" ")[2])
        _until_sampled_again(collector, *read)
    samples = RunSamples(run.folder)
    counted = samples.increments("ports", "in_unicast_frame").group_by("switch", "port").sum()
    counted = counted.select("switch", "port", "in_unicast_frame")
    frames = {(switch, port): count for switch, port, count in counted.rows()}
    assert 20 <= answered <= frames["sw1", "gi1/0/1"] <= 60
    assert answered <= frames["sw2", "1/0/1"] <= 60
    assert frames["sw1", "gi1/0/2"] <= 10
    lpi = samples.table("lpi").filter(pl.col("port") == "1/0/11")
    assert lpi["tx_lpi_us"].is_sorted()
    watts = samples.table("watts").filter(pl.col("feeds") == "sw1")
    assert watts["power_watt"].min() > 5.0  # type: ignore[operator]
    series = samples.power("pdu1", int(watts["outlet"][0]))
    found = energy_of(series, int(series.sent_ns[0]), int(series.sent_ns[-1]))
    assert found.mean_watt.holds(float(series.power_watt.mean()))
    assert not samples.table("ports").filter(pl.col("mark") != "").height


def test_a_switch_that_restarts_in_mid_run_is_marked_and_delays_no_other(
    lab: Lab, run: Run, fault: Callable[..., None]
) -> None:
    with Collector(_sources(lab, "sw1", "sw2", "pdu1"), run) as collector:
        _until(collector, _ok("sw1", "switch", 4))
        fault("reboot", target="sw1")
        _until(collector, _seen("restarted", "sw1"), 120.0)
        _until(collector, lambda samples: samples.table("ports").filter(pl.col("mark") == "reset").height > 0)
    samples = RunSamples(run.folder)
    kinds = [event["kind"] for event in samples.events if event.get("source") == "sw1"]
    assert kinds[0] == "failed"
    assert set(kinds) == {"failed", "answers_again", "restarted"}
    assert kinds.count("restarted") == 1
    resets = samples.table("ports").filter((pl.col("switch") == "sw1") & (pl.col("mark") == "reset"))
    assert set(resets.group_by("port").len()["len"].to_list()) == {1}
    polls = samples.table("polls")
    for other in ("sw2", "pdu1"):
        rows = polls.filter(pl.col("source") == other)
        assert rows["tick"].to_list() == list(range(rows.height))
        assert rows.filter(pl.col("outcome") == "failed").is_empty()
    sw1 = polls.filter(pl.col("source") == "sw1")
    assert sw1["tick"].to_list() == list(range(sw1.height))  # unmeasured values are recorded too
    assert not (samples.increments("ports", "in_byte")["in_byte"] < 0).any()


def test_lost_datagrams_delay_samples_and_none_is_invented(lab: Lab, run: Run, fault: Callable[..., None]) -> None:
    fault("lose", target="sw2", share=0.2)
    with Collector(_sources(lab, "sw1", "sw2"), run) as collector:
        _until(collector, _ok("sw2", "switch", 4), 90.0)
    samples = RunSamples(run.folder)
    polls = samples.table("polls").filter(pl.col("source") == "sw2")
    assert polls["tick"].to_list() == list(range(polls.height))
    took = polls.filter(pl.col("outcome") == "ok").select(pl.col("received_ns") - pl.col("sent_ns"))
    assert took.to_series().max() > 250_000_000  # type: ignore[operator]
    ports = samples.table("ports").filter(pl.col("switch") == "sw2")
    assert set(ports["tick"].to_list()) == set(polls.filter(pl.col("outcome") == "ok")["tick"].to_list())
    other = samples.table("polls").filter(pl.col("source") == "sw1")
    assert set(other["outcome"].to_list()) <= {"ok", "missed"}


def test_a_meter_that_freezes_is_detected(lab: Lab, run: Run, fault: Callable[..., None]) -> None:
    with Collector(_sources(lab, "pdu1"), run) as collector:
        _until(collector, _ok("pdu1", "strip", 60))  # a dozen refreshes of the meter, to know how often it moves
        fault("freeze", target="pdu1")
        _until(collector, _seen("meter_frozen", "pdu1"), 90.0)
        labs.order(lab.name, "clear")
        _until(collector, _seen("meter_moves", "pdu1"), 30.0)
    samples = RunSamples(run.folder)
    stale = samples.table("watts").filter(pl.col("mark") == "stale")
    assert stale.height > 0
    frozen = next(event for event in samples.events if event["kind"] == EventKind.METER_FROZEN)
    assert stale["sent_ns"].min() > frozen["since_ns"]  # type: ignore[operator]
    assert samples.power("pdu1").fresh().power_watt.size < samples.power("pdu1").power_watt.size


def test_clocks_of_nodes_and_switches_are_known_with_bounds(lab: Lab, run: Run) -> None:
    found = note_clocks(run, lab.hosts)
    with Collector(_sources(lab, "sw1"), run) as collector:
        _until(collector, _ok("sw1", "switch", 3))
    note_clocks(run, lab.hosts)
    assert set(found) == {host.name for host in lab.hosts}
    samples = RunSamples(run.folder)
    for host in lab.hosts:  # they are processes of this machine: the truth is 0
        offsets = [clock for clock in samples.facts["clocks"] if clock["source"] == host.name]
        assert len(offsets) == 2
        # The system's clock may have been slewed meanwhile.
        assert all(abs(one["offset_ns"]) <= one["bound_ns"] + 1_000_000 for one in offsets)
        assert all(one["bound_ns"] < 50_000_000 for one in offsets)
    assert any(clock["source"] == "sw1" and clock["method"] == "sysUpTime" for clock in samples.facts["clocks"])


def test_a_node_that_cannot_be_reached_is_an_event(lab: Lab, run: Run, fault: Callable[..., None]) -> None:
    fault("power", target="n04", on=False)
    found = note_clocks(run, [lab.host("n01"), lab.host("n04")])
    run.flush()
    assert set(found) == {"n01"}
    events = [event for event in RunSamples(run.folder).events if event["kind"] == EventKind.CLOCK_UNKNOWN]
    assert [event["source"] for event in events] == ["n04"]
