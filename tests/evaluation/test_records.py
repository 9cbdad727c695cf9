"""Which measurement a record shows, and what is no record."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from evaluation.records import FOLDER, Measurement, Record, read_records, write_record

_MEASURED = {"value": 8.7, "commit": "1234567", "machine": "a machine", "date": "2026-11-27", "quiet": False}
_CLAIM = {"kind": "speed", "claim": "echoes", "unit": "us", "command": "eeectl probe", "about": ("agents",)}


def _measured(**more: object) -> Measurement:
    return Measurement.model_validate(_MEASURED | more)


def test_the_newest_quiet_measurement_is_shown_else_the_newest() -> None:
    record = Record.model_validate(_CLAIM)
    assert record.shown is None
    record = record.with_measurement(_measured(value=1)).with_measurement(_measured(value=2))
    assert record.shown == _measured(value=2)
    record = record.with_measurement(_measured(value=3, quiet=True)).with_measurement(_measured(value=4))
    assert record.shown == _measured(value=3, quiet=True)
    assert [one.value for one in record.measured] == [1, 2, 3, 4]


def test_a_record_stays_aged_until_a_fresh_measurement_is_shown() -> None:
    record = Record.model_validate(_CLAIM | {"aged": True, "measured": [_MEASURED | {"quiet": True}]})
    assert record.with_measurement(_measured()).aged
    assert not record.with_measurement(_measured(quiet=True)).aged


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    claim = "64-byte frames: `forwarded`, with 'quotes' # and signs"
    record = Record.model_validate(_CLAIM | {"claim": claim, "measured": [_MEASURED | {"low": 1 / 3, "n": 7}]})
    assert write_record("frames", record, tmp_path) == FOLDER / "frames.yaml"
    assert read_records(tmp_path) == {"frames": record}
    assert record.measured[0].low == 0.33333
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["frames.yaml"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: opinion\n", "evaluation/records/x.yaml: kind: Input should be 'accuracy', 'speed' or 'links'"),
        ("- 1\n", "evaluation/records/x.yaml: the file: Input should be a valid dictionary"),
        ("a: [\n", "evaluation/records/x.yaml is not YAML: "),
    ],
)
def test_a_file_that_is_no_record_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "x.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        read_records(tmp_path)
    assert str(ended.value).startswith(said)


@pytest.mark.parametrize("wrong", [{"commit": "none"}, {"held": "most"}, {"n": 0}, {"load": -1}, {"remark": "x"}])
def test_what_is_no_measurement_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        _measured(**wrong)


@pytest.mark.parametrize("wrong", [{"kind": "opinion"}, {"about": ()}, {"value": 3}, {"claim": "x" * 121}])
def test_what_is_no_record_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Record.model_validate(_CLAIM | wrong)
