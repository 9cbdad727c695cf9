"""Any program: run time by EEE and by every other setting, with and without calls that were counted."""

import itertools
import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.analysis.compare_runs import Side, compare_sides
from eee_testbed.analysis.configurations import command_name
from eee_testbed.analysis.report.changes import changes_of
from eee_testbed.analysis.report.findings.finding import Finding
from eee_testbed.analysis.report.findings.table import findings_of
from eee_testbed.analysis.report.page import report_of
from eee_testbed.analysis.report.report_data import ReportData, read_report_data
from eee_testbed.analysis.report.run_times import run_times
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.table import cell_text
from eee_testbed.eeectl.application import app
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch
from eee_testbed.record.samples import RunSamples
from tests.support.measured.synthetic_run import Writer, write_alltoall, write_probe, write_regulation, write_run

_PARAMETERS = {"words": ["/shared/halo", "200"], "expect": "Time = ", "mpi": True}
_COST = "What EEE costs and saves"
_SLEPT = "Which links had EEE, and slept"


def _data(folder: Path) -> ReportData:
    return read_report_data([folder], None, "")


def _findings(folder: Path) -> Mapping[str, Finding]:
    return {one.topic: one for one in findings_of(_data(folder))}


def halo(
    blocks: int,
    levels: Sequence[Mapping[str, Any]] = ({"eee": "off"}, {"eee": "on"}),
    *,
    share: float = 0.05,
    run_s: float = 4.0,
    metered: bool = False,
    **more: Any,
) -> Callable[[Writer], None]:
    """A command that prints its time, and that each level makes slower by a share more; nothing else was counted."""

    def part(writer: Writer) -> None:
        for block in range(blocks):
            for place, level in enumerate(levels):
                time_s = run_s * (1.2**block) * (1 + share * place) * (1 + float(writer.random.normal(0, 0.002)))
                begun_ns, ended_ns = writer.write(
                    level, time_s + 1.0, figures=[("time", time_s, "s")], block=block, program="command",
                    parameters=_PARAMETERS, hosts=("n01", "n02"), ranks_per_host=1, **more,
                )  # fmt: skip
                if metered:
                    writer.watts(begun_ns - 1_000_000_000, ended_ns + 1_000_000_000, 60.0 * (1 - 0.1 * place))

    return part


def test_the_name_of_an_axis_fits_beside_one_configuration(tmp_path: Path) -> None:
    found = run_times(_data(write_run(tmp_path, halo(3))))
    assert isinstance(found, Section)
    figure = found.drawings[0].figure
    (axes,) = figure.axes
    figure.draw_without_rendering()
    name = axes.yaxis.label.get_window_extent()
    assert 0 <= name.y0 < name.y1 <= figure.bbox.height


def test_a_program_without_counts_has_its_cost_with_an_interval(tmp_path: Path) -> None:
    folder = write_run(tmp_path, halo(3))
    found = _findings(folder)[_COST]
    assert re.match(
        r"EEE makes halo on 2 hosts [45]\.\d+ % \(\S+ to \S+\) slower: \S+ s instead of \S+ s", found.sentence
    )
    assert "in 3 blocks" in found.sentence
    assert not found.command
    (change,) = changes_of(_data(folder))
    assert change.slower_percent.value == pytest.approx(5.0, abs=0.5)
    assert change.slower_percent.half_width < 2.0, "what drifts from block to block cancels"
    report = report_of(_data(folder))
    assert report.lead is not None
    assert report.lead.name == "headline-halo-2x1"
    assert "no program ran with EEE on and off" not in str(report).lower()


@pytest.mark.parametrize("blocks", [1, 2])
def test_fewer_than_three_blocks_have_no_interval(tmp_path: Path, blocks: int) -> None:
    folder = write_run(tmp_path, halo(blocks))
    (change,) = changes_of(_data(folder))
    assert math.isnan(change.slower_percent.low)
    assert cell_text(change.slower_percent).endswith("(–)")  # noqa: RUF001
    found = _findings(folder)[_COST]
    assert "too few to know" in found.sentence
    assert found.command.endswith("--resume --blocks 3")


@pytest.mark.parametrize("sizes", [1, 3])
def test_repetitions_of_one_block_are_no_blocks(tmp_path: Path, sizes: int) -> None:
    def part(writer: Writer) -> None:
        for repetition, size in itertools.product(range(6), range(sizes)):
            for eee, time_s in (("off", 1.0), ("on", 1.1 + 0.001 * repetition)):
                figures = [("time", time_s, "s"), ("communications", 100.0, "call")]
                levels = {"eee": eee, "size": size}
                writer.write(levels, time_s, figures=figures, program="p", hosts=("n01",), repetition=repetition)

    found = _findings(write_run(tmp_path, part))[_COST]
    assert "1 block" in found.sentence
    assert "slower" not in found.sentence
    assert found.command.endswith("--blocks 3")


def test_a_program_whose_calls_were_counted_at_one_gap_is_compared_by_block(tmp_path: Path) -> None:
    """As `compare` does: of a single configuration the scatter within blocks is all that shows chance."""

    def part(writer: Writer) -> None:
        for block in range(3):
            for eee, time_s in (("off", 1.0), ("on", 1.03)):
                run_s = time_s * 1.2**block * (1 + float(writer.random.normal(0, 0.001)))
                figures = [("time", run_s, "s"), ("communications", 100.0, "call")]
                writer.write({"eee": eee}, run_s, figures=figures, program="p", hosts=("n01",), block=block)

    folder = write_run(tmp_path, part)
    report = report_of(_data(folder))
    assert re.match(r"EEE makes p on 1 host [23]\.\d+ % \(.* to .*\) slower: ", _findings(folder)[_COST].sentence)
    assert report.lead is not None
    assert "by configuration" in str([drawing.title for drawing in report.drawings])


def test_the_report_says_what_compare_says(tmp_path: Path) -> None:
    folder = write_run(tmp_path, halo(4, metered=True))
    (change,) = changes_of(_data(folder))
    sides = Side(RunSamples(folder), {"eee": "off"}), Side(RunSamples(folder), {"eee": "on"})
    rows = {one.figure: one for _, one in compare_sides(*sides)}
    assert list(rows) == ["time", "energy", "power"]
    assert 100 * (rows["time"].ratio.low - 1) == pytest.approx(change.slower_percent.low)
    assert change.saved_percent is not None
    assert change.saved_percent.holds(100 * (1 - 0.9 * 1.05))
    assert rows["energy"].ratio.value == pytest.approx(1 - change.saved_percent.value / 100, rel=0.01)


def test_both_refuse_energy_of_a_window_that_the_meters_do_not_resolve(tmp_path: Path) -> None:
    """Of a trial of 1.4 s the program's loop was 0.4 s: meters that show a value a second know nothing of it."""

    def part(writer: Writer) -> None:
        for block in range(3):
            for place, eee in enumerate(("off", "on")):
                begun_ns = writer.now_ns + 1_000_000_000
                loop = (begun_ns + 500_000_000, begun_ns + 900_000_000)
                figures = [("time", 0.4, "s")]
                writer.write(
                    {"eee": eee}, 1.4, figures=figures, program="p", hosts=("n01", "n02"), block=block, loop_ns=loop
                )
                writer.watts(begun_ns - 2_000_000_000, begun_ns + 4_000_000_000, 60.0 - place)

    folder = write_run(tmp_path, part)
    (change,) = changes_of(_data(folder))
    assert change.saved_percent is None
    rows = compare_sides(Side(RunSamples(folder), {"eee": "off"}), Side(RunSamples(folder), {"eee": "on"}))
    assert [one.figure for _, one in rows] == ["time"]


def test_every_other_setting_is_a_finding(tmp_path: Path) -> None:
    levels = [{"speed": speed, "eee": eee} for speed in (1000, 100) for eee in ("off", "on")]

    def part(writer: Writer) -> None:
        writer.run.facts["experiment"]["factors"]["speed"] = {"kind": "speed_mbps", "levels": [1000, 100]}
        halo(3, levels)(writer)

    folder = write_run(tmp_path, part)
    assert "EEE makes halo on 2 hosts" in _findings(folder)[_COST].sentence
    sentence = _findings(folder)["What other settings change"].sentence
    assert "with EEE on, links of speed at 100 Mb/s, halo on 2 hosts took 1" in sentence
    assert "with EEE off, links of speed at 1,000 Mb/s, in 3 blocks" in sentence
    section = run_times(_data(folder))
    assert isinstance(section, Section)
    (table,) = section.tables
    assert table.rows[0][2] == "eee off, speed 1000"
    assert len(table.rows) == 4


def test_eee_is_compared_in_each_other_state_even_if_all_of_them_save(tmp_path: Path) -> None:
    """Of speeds that no file names as the fastest, none saves nothing; EEE was on and off all the same."""
    levels = [{"speed_mbps": speed, "eee": eee} for speed in (1000, 100) for eee in ("off", "on")]
    folder = write_run(tmp_path, halo(3, levels, metered=True))
    found = _findings(folder)[_COST]
    assert re.match(
        r"EEE makes halo on 2 hosts \S+ % \(\S+ to \S+\) slower, most with links at \d+ Mb/s: ", found.sentence
    )
    assert re.search(r"use[s]? \S+ % \(\S+ to \S+\) less energy", found.sentence)
    of_eee = [change for change in changes_of(_data(folder)) if change.of_eee]
    assert [change.beside for change in of_eee] == ["links at 100 Mb/s", "links at 1,000 Mb/s"]
    assert all(change.saved_percent and change.saved_percent.half_width < 5 for change in of_eee), "drift cancels"
    assert "less time" in _findings(folder)["What other settings change"].sentence


def test_trials_that_do_not_count_are_not_called_missing(tmp_path: Path) -> None:
    folder = write_run(tmp_path, halo(3, state="invalid", why="it was late"))
    found = _findings(folder)[_COST]
    assert "halo on 2 hosts ran with EEE on and off, but no configuration has a valid trial of both" in found.sentence
    assert found.command == shlex.join(["eeectl", "run", str(folder), "--resume"])
    assert isinstance(run_times(_data(folder)), Missing)


def test_links_with_eee_are_named_and_how_long_they_slept(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        ports = {"gi1/0/1": _port(eee=True), "gi1/0/2": _port(eee=False)}
        writer.run.event(EventKind.PORTS_SET, time_ns=writer.now_ns, ports={"sw5": ports})
        from_ns = writer.now_ns
        halo(1, [{"eee": "on"}], run_s=9.0)(writer)
        due = [from_ns + n * 1_000_000_000 for n in range(11)]
        columns: dict[str, Any] = {
            "switch": "sw5", "tick": list(range(11)), "due_ns": due, "sent_ns": due, "received_ns": due,
            "port": "gi1/0/1", "tx_lpi_event": 0, "tx_lpi_us": [n * 800_000 for n in range(11)],
            "rx_lpi_event": 0, "rx_lpi_us": [n * 600_000 for n in range(11)], "mark": "",
        }  # fmt: skip
        writer.run.append(Batch("lpi", 11, columns))

    sentence = _findings(write_run(tmp_path, part))[_SLEPT].sentence
    assert "sw5:gi1/0/1" in sentence
    assert "(1 link)" in sentence
    assert "sw5:gi1/0/1 70 % of the time" in sentence
    assert "not known" in _findings(write_run(tmp_path / "other", _set, halo(1)))[_SLEPT].sentence


def _port(*, eee: bool) -> dict[str, object]:
    return {"admin_up": True, "speed_mbps": None, "eee": eee, "hold_us": None}


def _set(writer: Writer) -> None:
    ports = {"gi1/0/1": _port(eee=True)}
    writer.run.event(EventKind.PORTS_SET, time_ns=writer.now_ns, ports={"sw1": ports})


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("/shared/halo 200", "halo"),
        (["python3", "-u", "a/ring.py", "7"], "ring.py"),
        ("python3.11 x.py", "x.py"),
        ("bash", "bash"),
    ],
)
def test_a_command_is_called_by_its_file(words: str | list[str], name: str) -> None:
    assert command_name(words) == name


_RUNS: Mapping[str, Sequence[Callable[[Writer], None]]] = {
    "empty": (),
    "probes": (write_probe,),
    "one block": (halo(1),),
    "three blocks": (halo(3),),
    "not valid": (halo(2, state="invalid"),),
    "counted": (write_alltoall,),
    "links": (write_regulation,),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _RUNS)
def test_every_command_of_a_report_is_one(tmp_path: Path, name: str) -> None:
    folder = write_run(tmp_path, *_RUNS[name])
    report = report_of(_data(folder))
    commands = [one.command for one in (*report.findings, *report.missing) if one.command]
    assert commands or name == "links"
    for command in commands:
        first, *words = shlex.split(command)
        assert first == "eeectl"
        app.parse_args(words, exit_on_error=False, print_error=False)


def _hpcc(valid_blocks: int) -> Callable[[Writer], None]:
    def part(writer: Writer) -> None:
        for block in range(3):
            for eee, time_s in (("off", 16.0), ("on", 16.8)):
                figures = [("hpl", 2e9 / time_s, "flop/s"), ("mpi_time", time_s + 0.01 * block, "s")]
                counts = eee == "off" or block < valid_blocks
                state = "valid" if counts else "invalid"
                writer.write(
                    {"eee": eee}, 17.0, figures=figures, block=block, program="hpcc", state=state,
                    hosts=("n01", "n02"), ranks_per_host=2,
                )  # fmt: skip

    return part


def test_a_program_with_one_time_a_trial_has_an_interval_from_three_blocks_on(tmp_path: Path) -> None:
    sentence = _findings(write_run(tmp_path, _hpcc(3)))[_COST].sentence
    assert re.match(r"EEE makes hpcc on 2 hosts .* 4\.9\d* % \(\S+ to \S+\) slower: .*, in 3 blocks\.", sentence)


def test_blocks_whose_trials_do_not_count_are_why_there_is_no_interval(tmp_path: Path) -> None:
    folder = write_run(tmp_path, _hpcc(1))
    sentence = _findings(folder)[_COST].sentence
    assert "in 1 of 3 blocks (in the others a state has no valid trial), too few to know" in sentence
    section = run_times(_data(folder))
    assert isinstance(section, Section)
    assert [cell_text(row[4]) for row in section.tables[0].rows] == ["\u2013", "5 (\u2013)"]
