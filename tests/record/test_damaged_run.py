"""A run's folder in which something is broken: that part is lost and said, the rest counts."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.lab.untrusted_files import DamagedPart
from eee_testbed.record.run_tail import RunTail
from eee_testbed.record.sample_tables import TABLES
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import read_events, read_facts
from eee_testbed.record.trials import read_trials
from tests.support.measured.synthetic_run import write_alltoall, write_probe, write_regulation, write_run

WATTS = {
    "strip": "pdu1",
    "outlet": [0],
    "tick": 1,
    "due_ns": 10**18,
    "sent_ns": 10**18,
    "received_ns": 10**18,
    "power_watt": [40.0],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path, write_probe, write_alltoall, write_regulation)


@contextmanager
def lost() -> Iterator[list[str]]:
    """What is said to be lost inside."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DamagedPart)
        yield said
    said += [str(one.message) for one in caught]


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"{",
        b"[]",
        b'{"kind": "trial_ended", "time_ns": 1, "trial": 1}',
        b'{"kind": "trial_ended", "time_ns": "now"}',
        b'{"kind": "failed", "time_ns": 1}',
        b'{"time_ns": 1}',
        json.dumps(
            {"kind": "trial_ended", "time_ns": 1, "trial": 1, "state": "valid", "why": "", "begun_ns": 1, "ended_ns": 2}
            | {"figures": [{"name": "time", "value": float("nan"), "unit": "s"}]}
        ).encode(),
    ],
)
def test_a_damaged_event_is_lost_alone(run: Path, line: bytes) -> None:
    whole = read_events(run)
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    (run / "events.jsonl").write_bytes(b"".join([*lines[:1], line + b"\n", *lines[1:]]))
    with lost() as said:
        assert read_events(run) == whole
        assert [dict(event) for event in RunTail(run).poll().events] == whole
    assert [one.partition(": ")[0] for one in said] == [f"{run / 'events.jsonl'}:2"] * 2


def test_a_trial_whose_end_is_damaged_counts_as_cut_short(run: Path) -> None:
    text = (run / "events.jsonl").read_text()
    (run / "events.jsonl").write_text(text.replace('"state": "valid"', '"state": "great"', 1))
    with lost() as said:
        trials = read_trials(run)
    assert [trial.why for trial in trials].count("it was cut short") == 1
    assert len(said) == 1


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_damaged_segment_is_lost_alone(run: Path, damage: bytes) -> None:
    line = json.dumps({"rows": 1, "columns": WATTS})
    (run / "samples" / "watts-00099.open.jsonl").write_text(f"{line}\n")
    (segment,) = (run / "samples").glob("watts-*.parquet")
    segment.write_bytes(damage)
    with lost() as said:
        assert RunSamples(run).table("watts")["power_watt"].to_list() == [40.0]
    assert [str(segment) in one for one in said] == [True]


def test_rows_of_open_segments_are_lost_where_they_are_no_samples(run: Path) -> None:
    segment = run / "samples" / "watts-00099.open.jsonl"
    before = RunSamples(run).table("watts").height
    broken = [
        {"rows": 1, "columns": WATTS | {"power_watt": [float("inf")]}},
        {"rows": 1, "columns": WATTS | {"power_watt": ["forty"]}},
        {"rows": 2, "columns": WATTS},
        {"rows": -1, "columns": WATTS},
        {"rows": 1, "columns": WATTS | {"strip": None}},
        {"rows": 1, "columns": WATTS | {"due_ns": 2**70}},
        {"rows": 1},
    ]
    good = {"rows": 1, "columns": WATTS}
    segment.write_text("".join(json.dumps(line) + "\n" for line in [*broken, good]))
    with lost() as said:
        assert RunSamples(run).table("watts").height == before + 1
    assert len(said) == len(broken)


def test_rows_of_closed_segments_that_lack_a_time_or_a_name_are_lost_and_nan_is_no_figure(run: Path) -> None:
    (segment,) = (run / "samples").glob("watts-*.parquet")
    rows = pl.read_parquet(segment)
    first = pl.int_range(pl.len()) == 0
    rows.with_columns(
        strip=pl.when(first).then(None).otherwise(pl.col("strip") + "\x1b[2J"),
        power_watt=pl.lit(float("nan")),
    ).drop("mark").write_parquet(segment)
    with lost() as said:
        found = RunSamples(run).table("watts")
    assert found.height == rows.height - 1
    assert found.columns == list(TABLES["watts"].names)
    assert found["power_watt"].null_count() == found["mark"].null_count() == found.height
    assert found["strip"].unique().to_list() == ["pdu1\ufffd[2J"]
    assert len(said) == 1


@pytest.mark.parametrize(
    "edit",
    [
        ("format: 1", "format: 1\nclocks: x"),
        ("name: study", "name: [study]"),
        ("begun: ", "begun: yesterday "),
        ("format: 1", "format: 1\nslot_count: many"),
        ("format: 1", "format: 1\nx: &a [*a]"),
    ],
)
def test_a_damaged_run_yaml_is_named(run: Path, edit: tuple[str, str]) -> None:
    path = run / "run.yaml"
    path.write_text(path.read_text().replace(*edit, 1))
    with pytest.raises(UnreadableFile, match=f"{path}.*: restore it from a copy"):
        read_facts(run)


def test_a_run_yaml_that_is_no_text_or_missing_is_named(run: Path) -> None:
    (run / "run.yaml").write_bytes(b"\xff")
    with pytest.raises(UnreadableFile, match="not UTF-8"):
        read_facts(run)
    (run / "run.yaml").unlink()
    with pytest.raises(LabError, match="not a run's folder"):
        read_facts(run)
