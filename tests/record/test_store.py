"""Run folders: what was measured can be read, whatever ended the run."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.lab.errors import LabError, RunFolderFailed
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import PORTS, TABLES, WATTS, Batch, Table
from eee_testbed.record.samples import RunSamples, increments
from eee_testbed.record.segments import SegmentWriter, read_table
from eee_testbed.record.store import Run, RunFolder, mark_interrupted, read_events, read_facts
from tests.support import ROOT
from tests.support.needs import needs_root


def _watts(tick: int, watts: list[float | None]) -> Batch:
    times = {"tick": tick, "due_ns": tick * 10**9, "sent_ns": tick * 10**9, "received_ns": tick * 10**9 + 4}
    outlets = list(range(len(watts)))
    return Batch("watts", len(watts), {"strip": "pdu1", **times, "outlet": outlets, "power_watt": watts, "mark": ""})


def _shown(folder: Path) -> list[tuple[int, int, float | None]]:
    return RunSamples(folder).table("watts").select("tick", "outlet", "power_watt").rows()


def _expected(ticks: int) -> list[tuple[int, int, float | None]]:
    return [(tick, outlet, watt) for tick in range(ticks) for outlet, watt in enumerate([float(tick), None])]


def test_what_is_written_is_read_while_it_is_written_and_after(run: Run) -> None:
    for tick in range(5):
        run.append(_watts(tick, [float(tick), None]))
    assert run.flush()
    assert _shown(run.folder) == _expected(5)
    run.close()
    assert _shown(run.folder) == _expected(5)
    assert not list((run.folder / "samples").glob("*.open.jsonl"))
    facts = read_facts(run.folder)
    assert (facts["state"], facts["lab"], facts["format"]) == ("finished", "toy", 1)
    assert [event["kind"] for event in read_events(run.folder)] == ["begun"]


def test_every_column_is_in_the_file_in_its_type(run: Run) -> None:
    run.append(_watts(1, [2.5]))
    run.close()
    rows = pl.read_parquet(next((run.folder / "samples").glob("watts-*.parquet")))
    assert tuple(rows.columns) == WATTS.names
    assert rows.schema["power_watt"] == pl.Float64
    assert rows.schema["sent_ns"] == pl.Int64


def test_names_of_columns_end_in_their_units() -> None:
    units = {"ns", "ms", "us", "s", "mbps", "byte", "frame", "event", "watt", "joule"}
    words = {
        "tick",
        "port",
        "switch",
        "strip",
        "source",
        "outlet",
        "feeds",
        "kind",
        "outcome",
        "mark",
        "why",
        "on",
        "up",
    }
    for table in TABLES.values():
        for column in table.columns:
            assert column.name.rpartition("_")[2] in units or column.name in words, column.name


_VICTIM = """
import time
from pathlib import Path
from eee_testbed.record.store import Run
from tests.record.test_store import _watts
run = Run.create(Path({root!r}), "victim", {{}}, segment_s=0.2)
print(run.folder, flush=True)
tick = 0
while True:
    run.append(_watts(tick, [float(tick), None]))
    assert run.flush()
    print(tick, flush=True)
    tick += 1
"""


def _killed(root: Path, after: int) -> tuple[Path, int]:
    """A run killed with SIGKILL after some ticks: its folder, and the last tick that it knew to be written."""
    program = textwrap.dedent(_VICTIM).format(root=str(root))
    victim = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert victim.stdout is not None
    folder, last_tick = Path(victim.stdout.readline().strip()), -1
    while last_tick < after:
        last_tick = int(victim.stdout.readline())
    victim.send_signal(signal.SIGKILL)
    rest = victim.stdout.read().splitlines(keepends=True)
    victim.wait()
    whole = [int(line) for line in rest if line.endswith("\n")]
    return folder, max([last_tick, *whole])


@pytest.mark.slow
def test_what_was_measured_before_kill_9_is_readable_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    folder, last_tick = _killed(tmp_path, 150)
    seen = _shown(folder)
    assert len(seen) >= 2 * (last_tick + 1)
    assert seen == _expected(len(seen) // 2)
    with Run.resume(RunFolder.read(folder)) as run:
        run.append(_watts(10**6, [1.0]))
    assert _shown(folder) == [*seen, (10**6, 0, 1.0)]
    kinds = [event["kind"] for event in read_events(folder)]
    assert kinds == ["begun", "resumed"]
    assert read_facts(folder)["state"] == "finished"
    assert not list((folder / "samples").glob("*.open.jsonl"))


def test_a_torn_last_line_is_not_read_and_does_not_stop_a_resumption(run: Run) -> None:
    run.append(_watts(0, [1.0]))
    run.event(EventKind.WARMED_UP, number=1)
    assert run.flush()
    run._lock.close()  # as if the process had died
    with next((run.folder / "samples").glob("watts-*.open.jsonl")).open("a") as file:
        file.write('{"rows":1,"columns":{"str')
    with (run.folder / "events.jsonl").open("a") as file:
        file.write('{"time_ns": 12')
    assert _shown(run.folder) == [(0, 0, 1.0)]
    assert [event["kind"] for event in read_events(run.folder)] == ["begun", "warmed_up"]
    with Run.resume(RunFolder.read(run.folder)) as again:
        again.append(_watts(1, [2.0]))
    assert _shown(run.folder) == [(0, 0, 1.0), (1, 0, 2.0)]
    assert [event["kind"] for event in read_events(run.folder)] == ["begun", "warmed_up", "resumed"]


@pytest.mark.parametrize(
    "damage",
    [
        b"\0" * 40,
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"rows":1,"columns":3}',
        b'{"rows":1,"columns":{"tick":"x"}}',
        b'{"rows":1',
    ],
)
def test_samples_that_cannot_be_read_lose_themselves_only(run: Run, damage: bytes) -> None:
    for tick in range(3):
        run.append(_watts(tick, [float(tick), None]))
        assert run.flush()
    run._lock.close()  # as if the process had died
    (path,) = (run.folder / "samples").glob("watts-*.open.jsonl")
    first, _, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + damage + b"\n" + last)
    with Run.resume(RunFolder.read(run.folder)) as again:
        (said,) = again.set_aside
        again.append(_watts(3, [3.0, None]))
    assert f"1 of 3 lines of {path.name}" in said
    assert (path.with_name(f"{path.name}.damaged")).read_bytes() == first + damage + b"\n" + last
    assert _shown(run.folder) == [row for row in _expected(4) if row[0] != 1]
    (event,) = (event for event in read_events(run.folder) if event["kind"] == EventKind.SAMPLES_SET_ASIDE)
    assert event["why"] == said


def test_a_file_of_samples_without_a_readable_line_is_set_aside_whole(run: Run) -> None:
    run.append(_watts(0, [1.0]))
    assert run.flush()
    run._lock.close()
    (path,) = (run.folder / "samples").glob("watts-*.open.jsonl")
    path.write_bytes(b"\0" * 4096 + b"\n")
    counts = []
    for _ in range(2):  # the second time there is nothing to say
        with Run.resume(RunFolder.read(run.folder)) as again:
            counts.append(len(again.set_aside))
    assert counts == [1, 0]
    assert _shown(run.folder) == []


def test_a_killed_run_is_marked_as_ended_if_its_folder_lets_it(run: Run, tmp_path: Path) -> None:
    run._lock.close()
    mark_interrupted(run.folder)
    assert read_facts(run.folder)["state"] == "interrupted"
    for damage in (b"\0\xff", b"{", b"[]"):
        (run.folder / "run.yaml").write_bytes(damage)
        mark_interrupted(run.folder)
        assert (run.folder / "run.yaml").read_bytes() == damage
    mark_interrupted(tmp_path / "gone")


def test_a_crash_between_parquet_and_the_end_of_the_open_segment_doubles_nothing(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, WATTS)
    writer.append([_watts(0, [1.0])])
    opened = next(tmp_path.glob("*.open.jsonl"))
    kept = opened.read_bytes()
    writer.close_segment()
    opened.write_bytes(kept)
    assert read_table(tmp_path, WATTS).height == 1
    SegmentWriter(tmp_path, WATTS).recover()
    assert not opened.exists()
    assert read_table(tmp_path, WATTS).height == 1


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o750), (0o000, 0o750), (0o077, 0o700), (0o027, 0o750)])
def test_a_runs_folder_is_its_owners_and_their_groups_less_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        with Run.create(tmp_path / "runs", "private", {}) as run:
            pass
    finally:
        os.umask(before)
    assert run.folder.stat().st_mode & 0o777 == mode


def test_two_processes_do_not_write_one_folder(run: Run) -> None:
    with pytest.raises(LabError, match="another process"):
        Run.resume(RunFolder.read(run.folder))


def test_a_run_that_was_written_since_it_was_read_is_not_resumed_over_that(run: Run) -> None:
    begun = RunFolder.read(run.folder)
    run.add_facts({"found": 1})
    run.close()
    with pytest.raises(LabError, match="was written by another process in between"):
        Run.resume(begun)
    assert read_facts(run.folder)["found"] == 1
    with Run.resume(RunFolder.read(run.folder)) as again:
        assert again.facts["found"] == 1


@pytest.mark.parametrize("name", ["", "Run", "a b", "../up", "x" * 70])
def test_an_invalid_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LabError, match=r"invalid name .* for a run"):
        Run.create(tmp_path, name, {})


def test_a_folder_that_is_not_a_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="is not a run's folder"):
        read_facts(tmp_path)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    needs_root("mounting a small file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], check=True)
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _fill(run: Run, stopper: threading.Event) -> int:
    """Append until the disk is full; how many ticks were appended."""
    tick = 0
    while not run.trouble:
        run.append(_watts(tick, [float(tick), None]))
        tick += 1
        stopper.wait(0.0005)
        assert tick < 50_000
    return tick


@pytest.mark.slow
def test_a_full_disk_loses_nothing_and_writing_continues_once_space_is_free(tiny_disk: Path) -> None:
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(bytes(150_000))
    run = Run.create(tiny_disk, "full", {}, segment_s=3_600.0)
    ticks = _fill(run, threading.Event())
    assert run.trouble == "No space left on device"
    for tick in range(ticks, ticks + 20):
        run.append(_watts(tick, [float(tick), None]))
    seen = _shown(run.folder)
    assert seen == _expected(len(seen) // 2)  # whole lines only, in order
    ballast.unlink()
    assert run.flush()
    assert run.trouble == ""
    assert _shown(run.folder) == _expected(ticks + 20)
    run.close()
    assert _shown(run.folder) == _expected(ticks + 20)
    assert [event["kind"] for event in read_events(run.folder)] == ["begun", "disk_recovered"]


@pytest.mark.slow
def test_a_disk_that_stays_full_is_one_error_and_what_was_written_is_readable(tiny_disk: Path) -> None:
    run = Run.create(tiny_disk, "full", {}, segment_s=3_600.0)
    _fill(run, threading.Event())
    with pytest.raises(RunFolderFailed, match=r"could not be written \(No space left on device; \d+ rows are lost\)"):
        run.close()
    seen = _shown(run.folder)
    assert len(seen) > 100
    assert seen == _expected(len(seen) // 2)


def test_too_many_waiting_rows_end_a_run(tmp_path: Path) -> None:
    gate = threading.Event()

    class Slow(SegmentWriter):
        def append(self, batches: Sequence[Batch]) -> None:
            gate.wait(10.0)
            super().append(batches)

    big = Batch("watts", 1_000_001, {"strip": "pdu1", "outlet": 1})
    with Run.create(tmp_path, "slow", {}, open_table=Slow) as run:
        run.append(big)
        with pytest.raises(RunFolderFailed, match="too slow"):
            run.append(big)
        gate.set()


# -- differences


def _ports(rows: list[tuple[int, str, int | None, str]]) -> pl.DataFrame:
    values = [
        {
            "switch": "sw1",
            "port": port,
            "sent_ns": tick * 100,
            "received_ns": tick * 100 + 20,
            "in_byte": value,
            "mark": m,
        }
        for tick, port, value, m in rows
    ]
    return pl.DataFrame(values, schema={name: _TYPES[name] for name in values[0]})


_TYPES = {
    "switch": pl.String,
    "port": pl.String,
    "sent_ns": pl.Int64,
    "received_ns": pl.Int64,
    "in_byte": pl.Int64,
    "mark": pl.String,
}


def test_differences_are_of_one_port_and_not_across_a_reset() -> None:
    rows = _ports(
        [
            (0, "a", 10, ""),
            (0, "b", 500, ""),
            (1, "a", 15, ""),
            (1, "b", None, ""),
            (2, "a", 3, "reset"),
            (2, "b", 530, ""),
            (3, "a", 4, ""),
            (3, "b", None, "reset"),
            (4, "b", 540, ""),
        ]
    )
    found = increments(rows, PORTS.keys, "in_byte")
    assert found.select("port", "from_ns", "to_ns", "in_byte").sort("port", "to_ns").rows() == [
        ("a", 10, 110, 5),
        ("a", 210, 310, 1),
        ("b", 10, 210, 30),
    ]
    assert found["bound_ns"].to_list() == [20, 20, 20]


def test_no_rows_have_no_differences() -> None:
    table: Table = TABLES["ports"]
    empty = read_table(Path("/nonexistent"), table)
    assert increments(empty, table.keys, "in_byte").is_empty()


def test_events_keep_their_facts(run: Run) -> None:
    run.event(EventKind.CLOCK_JUMP, jump_ns=-5, time_ns=7)
    run.close()
    assert read_events(run.folder)[-1] == {"time_ns": 7, "kind": "clock_jump", "jump_ns": -5}
    assert json.loads((run.folder / "events.jsonl").read_text().splitlines()[-1])["jump_ns"] == -5
