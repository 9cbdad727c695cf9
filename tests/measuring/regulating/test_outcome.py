"""What a run says of its choices, and the traffic of a pre-run, from written run folders."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.analysis.report.table import cell_text
from eee_testbed.controller.model.state import State, factory_state
from eee_testbed.controller.planning.limits import UNLIMITED
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.eeectl.regulation.outcome_text import notes_of, percent, show
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Outlet
from eee_testbed.measuring.regulating.choosing import BASELINE, Rules, Traffic, choose, peak_named, swept
from eee_testbed.measuring.regulating.comparison import FACT, Comparison, comparison_in
from eee_testbed.measuring.regulating.outcome import loop_phases, network_watts, rows_of
from eee_testbed.measuring.regulating.pre_run import PreRun, traffic_in
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import Run, RunFolder
from eee_testbed.regulation.levels import Knob, assumed_watts
from tests.support.graph_lab import graph_lab
from tests.support.measured.synthetic_run import BASE_NS, Writer, write_run
from tests.support.regulation.port_calibration import port_calibration

LAB = graph_lab(3, list(combinations(range(3), 2)), [2] * 3)
METERED = replace(LAB, outlets=(Outlet("pdu1", 1, "sw1"),))
HOSTS = tuple(host.name for host in LAB.hosts)
SECOND_NS = 1_000_000_000


def _routed() -> State:
    start = factory_state(LAB)
    return make_plan(LAB, start, multi_tree(LAB, start, shortest_routes)[1]).end


def _compared(*, looped: bool = False) -> Comparison:
    counted = PreRun({("n01", "n03"): 1000}, 1.0, "by hand")
    traffic = Traffic.of(LAB, _routed(), counted.byte_by_pair)
    peak = peak_named("1MB", traffic.network, counted.time_s)
    chosen = choose(traffic, [peak], Rules("off", "koibuchi", assumed_watts), UNLIMITED)
    return Comparison.of(counted, traffic, chosen, looped=looped)


def _trials(writer: Writer) -> None:
    """Six blocks: a fifth slower and a tenth less power with links off."""
    for block in range(6):
        for level, time_s, watt in ((BASELINE, 20.0, 100.0), ("peak 1MB", 25.0, 90.0)):
            figures = [("time", time_s * (1 + block / 100), "s"), ("rate", 1e9 / time_s, "flop/s")]
            levels = {"regulation": level}
            begun_ns, ended_ns = writer.write(
                levels, time_s, figures=figures, block=block, program="hpl", hosts=HOSTS, ranks_per_host=1
            )
            writer.watts(begun_ns - SECOND_NS, ended_ns + SECOND_NS, watt)


def test_performance_and_power_are_relative_to_the_baseline(tmp_path: Path) -> None:
    folder = write_run(tmp_path, _trials)
    (row,) = rows_of(RunSamples(folder), METERED, _compared(), None)
    assert row.performance is not None
    assert row.metered is not None
    assert (row.figure, row.as_level, row.weak) == ("time", "peak 1MB", False)
    assert row.performance.value == pytest.approx(0.8)
    assert row.metered.value == pytest.approx(0.9, abs=0.002)
    (row,) = rows_of(RunSamples(folder), METERED, _compared(), None, "rate")
    assert row.performance is not None
    assert row.performance.value == pytest.approx(0.8)


def test_slowdown_and_saving_are_shares_of_the_baseline(tmp_path: Path) -> None:
    (row,) = rows_of(RunSamples(write_run(tmp_path, _trials)), METERED, _compared(), None)
    assert row.slowdown is not None
    assert row.saving_metered is not None
    assert row.slowdown.value == pytest.approx(0.25)
    assert row.slowdown.low <= row.slowdown.value <= row.slowdown.high
    assert row.saving_metered.value == pytest.approx(0.1, abs=0.002)
    assert row.saving_metered.low <= row.saving_metered.value <= row.saving_metered.high
    assert row.saving_modelled is None
    assert percent(row.slowdown).startswith("+25.0% (")
    assert percent(None) == cell_text(None)


NAMES = {link.number: link.name for link in LAB.trunks()}


def _looped_trials(writer: Writer) -> None:
    """One link is off when a trial of 20 s begins; from half of the last trial on two are."""
    first, second = sorted(NAMES)[:2]
    for block in range(6):
        for level, time_s in ((BASELINE, 10.0), ("auto", 20.0)):
            begun_ns = writer.now_ns + SECOND_NS
            if level == "auto":
                _epoch(writer, begun_ns - SECOND_NS, {"off": [NAMES[first]], "shadow": [NAMES[second]]})
            if level == "auto" and block == 5:
                _epoch(writer, begun_ns + 10 * SECOND_NS, {"off": [NAMES[first], NAMES[second]], "shadow": []})
            levels = {"regulation": level}
            figures = [("time", time_s, "s")]
            writer.write(levels, time_s, figures=figures, block=block, program="x", hosts=HOSTS, ranks_per_host=1)
            _epoch(writer, writer.now_ns + SECOND_NS // 2, {"off": [], "shadow": []})


def _epoch(writer: Writer, time_ns: int, links: dict[str, list[str]]) -> None:
    facts = {"epoch": 1, "active": 1, "links": links, "busiest_share": 0.0}
    writer.run.event(EventKind.LOOP_EPOCH, time_ns=time_ns, **facts, slowdown=None, backs_off=False, undecided="")


def test_a_loop_is_counted_by_the_time_for_which_links_were_off(tmp_path: Path) -> None:
    folder = write_run(tmp_path, _looped_trials)
    first, second = sorted(NAMES)[:2]
    phases = loop_phases(folder, "auto")
    assert phases == {
        frozenset({NAMES[first]}): pytest.approx(110 / 120),
        frozenset({NAMES[first], NAMES[second]}): pytest.approx(10 / 120),
    }
    compared = _compared(looped=True)
    rows = rows_of(RunSamples(folder), LAB, replace(compared, candidates=()), None)
    row = next(row for row in rows if row.as_level == "auto")
    assert row.links_off == pytest.approx(1 + 10 / 120)
    assert row.candidate.off == {first}, "most of the time"
    baseline_watt = sum(level.watt for level in compared.baseline.values())
    each = compared.baseline[first].watt
    assert row.candidate.watt == pytest.approx(baseline_watt - each * (1 + 10 / 120))
    assert row.slowdown is not None
    assert row.slowdown.value == pytest.approx(1.0)


def test_a_run_in_which_the_loop_was_never_measured_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no valid trial of the closed loop"):
        rows_of(RunSamples(write_run(tmp_path, _trials)), LAB, _compared(looped=True), None)


def test_a_lab_without_meters_has_no_metered_power(tmp_path: Path) -> None:
    (row,) = rows_of(RunSamples(write_run(tmp_path, _trials)), LAB, _compared(), None)
    assert row.metered is None
    assert row.performance is not None


def _pattern_trials(writer: Writer) -> None:
    """A program that sends for a fixed time, half as much with links off."""
    for block in range(6):
        for level, rate_bps in ((BASELINE, 1e9), ("peak 1MB", 5e8)):
            figures = [("pairs", 3.0, "1"), ("throughput", rate_bps * (1 + block / 100), "bit/s")]
            levels = {"regulation": level}
            writer.write(levels, 5.0, figures=figures, block=block, program="x", hosts=HOSTS, ranks_per_host=1)


def test_a_program_without_a_run_time_is_compared_by_its_throughput(tmp_path: Path) -> None:
    (row,) = rows_of(RunSamples(write_run(tmp_path, _pattern_trials)), LAB, _compared(), None)
    assert row.performance is not None
    assert (row.figure, row.performance.value) == ("throughput", pytest.approx(0.5))


def test_an_unknown_figure_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"no figure speed: name one of time, .*rate"):
        rows_of(RunSamples(write_run(tmp_path, _trials)), METERED, _compared(), None, "speed")


def _pre_run(writer: Writer) -> None:
    """Three ranks that send in a circle; ports count twice that, in steps of two seconds around 4 s of program."""
    sizes = [[0, 500, 0], [0, 0, 500], [500, 0, 0]]
    files = {"traffic.json": json.dumps({"messages": [[0] * 3] * 3, "bytes": sizes})}
    hosts = ("n01", "n03", "n05")
    writer.write({}, 4.0, figures=[("time", 4.0, "s")], files=files, program="x", hosts=hosts, ranks_per_host=1)
    ports = [(end.device, end.port) for link in LAB.links for end in (link.a, link.b) if end.device.startswith("sw")]
    sending = {("sw1", "h1"), ("sw2", "h1"), ("sw3", "h1")}
    due = [BASE_NS + step * 2 * SECOND_NS for step in range(5)]
    for switch, port in ports:
        counts = [250 * step if (switch, port) in sending else 0 for step in range(5)]
        columns: dict[str, Any] = {"switch": switch, "port": port, "tick": list(range(5)), "due_ns": due}
        columns |= {"sent_ns": due, "received_ns": due, "in_byte": counts, "out_byte": counts, "mark": ""}
        if not port.startswith("h"):
            # The trunk from each switch to the next carries what its first host sends.
            onward = {("sw1", "t1"), ("sw2", "t2"), ("sw3", "t1")}
            columns["out_byte"] = [250 * step if (switch, port) in onward else 0 for step in range(5)]
        writer.run.append(Batch("ports", len(due), columns))


def test_traffic_by_messages(tmp_path: Path) -> None:
    found = traffic_in(write_run(tmp_path, _pre_run), LAB, _routed(), "messages")
    assert found.byte_by_pair == {("n01", "n03"): 500, ("n03", "n05"): 500, ("n05", "n01"): 500}
    assert found.time_s == 4.0


def test_traffic_by_counters(tmp_path: Path) -> None:
    """All that ports counted from before the program until after it: the same pairs, from 0 to 6 s of the run."""
    found = traffic_in(write_run(tmp_path, _pre_run), LAB, _routed(), "counters")
    assert found.byte_by_pair == {("n01", "n03"): 750, ("n03", "n05"): 750, ("n05", "n01"): 750}
    assert "0.0%" in found.note


def test_counters_that_end_with_the_program_are_refused(tmp_path: Path) -> None:
    def longer(writer: Writer) -> None:
        _pre_run(writer)
        writer.write({}, 60.0, figures=[("time", 60.0, "s")], program="x", hosts=("n01",), ranks_per_host=1)

    with pytest.raises(LabError, match="were not read before and after the program"):
        traffic_in(write_run(tmp_path, longer), LAB, _routed(), "counters")


def test_a_program_that_sends_past_mpi_is_refused_with_the_way_out(tmp_path: Path) -> None:
    def uncounted(writer: Writer) -> None:
        writer.write({}, 4.0, figures=[("time", 4.0, "s")], program="bit-reversal", hosts=HOSTS, ranks_per_host=1)

    with pytest.raises(LabError, match=r"no messages of bit-reversal .* use --traffic counters"):
        traffic_in(write_run(tmp_path, uncounted), LAB, _routed(), "messages")


def test_a_run_without_a_valid_trial_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no valid trial of a program"):
        traffic_in(write_run(tmp_path), LAB, _routed(), "messages")


@pytest.mark.parametrize("knob", ["off", "speed", "eee"])
def test_what_is_compared_is_read_from_the_run_as_it_was_written(tmp_path: Path, knob: Knob) -> None:
    """Levels without a limit, too: with the knob `eee` links that stay awake carry any amount."""
    counted = PreRun({("n01", "n03"): 1000}, 1.0, "by hand")
    traffic = Traffic.of(LAB, _routed(), counted.byte_by_pair)
    chosen = choose(traffic, swept(traffic, 2), Rules(knob, "both", assumed_watts), UNLIMITED)
    compared = Comparison.of(counted, traffic, chosen, looped=True, figure="rate", calibration=tmp_path / "power.yaml")
    with Run.create(tmp_path, "x", {FACT: compared.plain()}) as run:
        pass
    assert comparison_in(RunFolder.read(run.folder)) == compared


def test_a_run_that_compares_nothing_and_one_that_was_edited_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="is not a run of `eeectl regulate run` or `compare`"):
        comparison_in(RunFolder.read(write_run(tmp_path / "other")))
    plain = _compared().plain()
    with Run.create(tmp_path, "x", {FACT: plain | {"baseline": {"one": {}}}}) as run:
        pass
    with pytest.raises(LabError, match=r"run.yaml, regulation.baseline.one"):
        comparison_in(RunFolder.read(run.folder))


def test_a_table_is_printed_again_from_the_run_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(tmp_path, _trials)
    compared = _compared()
    show(rows_of(RunSamples(folder), METERED, compared, None), compared, None, METERED, folder=folder, as_json=False)
    told = capsys.readouterr().out
    with Run.create(tmp_path / "kept", "x", {FACT: compared.plain()}) as run:
        pass
    again = comparison_in(RunFolder.read(run.folder))
    show(rows_of(RunSamples(folder), METERED, again, None), again, None, METERED, folder=folder, as_json=False)
    assert capsys.readouterr().out == told
    assert "+25.0% (" in told
    assert "+10.0% (" in told


@pytest.mark.parametrize(("watt", "apart"), [(80.0, True), (69.3, False)])
def test_meters_and_model_that_contradict_each_other_are_named_with_both_shares(
    tmp_path: Path, *, watt: float, apart: bool
) -> None:
    """By the model sw1 draws 24 W, of which one cable that goes off saves 0.9 W: 3.75 %."""

    def trials(writer: Writer) -> None:
        for block in range(6):
            for level, metered in ((BASELINE, 72.0), ("peak 1MB", watt)):
                begun_ns, ended_ns = writer.write(
                    {"regulation": level}, 20.0, figures=[("time", 20.0, "s")], block=block, program="x", hosts=HOSTS
                )
                writer.watts(begun_ns - SECOND_NS, ended_ns + SECOND_NS, metered)

    compared = _compared()
    power = network_watts(METERED, port_calibration(METERED))
    (row,) = rows_of(RunSamples(write_run(tmp_path, trials)), METERED, compared, power)
    assert row.saving_modelled is not None
    assert row.apart is apart
    notes = notes_of((row,), compared, power, METERED)
    told = [note for note in notes if "contradict" in note]
    both = f"{percent(row.saving_metered)} is not {percent(row.saving_modelled)}"
    assert told == ([f"{row.candidate.name}: meters and model contradict each other: {both}"] if apart else [])
    assert "savings are those of sw1: the other switches have no meter" in notes
