"""`eeectl lab replay` counts verdicts, and fails if anything was misread."""

import json
import warnings
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.lab.untrusted_files import DamagedPart
from tests.controller.checking.test_recorded import LLDP, LLDP_RECORDS, write_recordings


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    write_recordings(tmp_path)
    return tmp_path


def test_recordings_that_are_read_right(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "replay", str(recordings)]) == 0
    printed = capsys.readouterr().out
    assert "3 recordings of known devices" in printed
    assert "0 misread" in printed
    assert run(["lab", "replay", str(recordings), "--markdown"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("| all | | ")
    assert last.endswith("| 0 | 0 |")


def test_a_misread_recording_fails_the_command(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = LLDP_RECORDS.replace("02:b1:56:ac:07:64", "02:b1:56:ac:07:65")
    (recordings / "cisco_s300" / "show_lldp_neighbors" / "one.yml").write_text(other)
    assert run(["lab", "replay", str(recordings), "--json"]) == 1
    verdicts = json.loads(capsys.readouterr().out)
    (misread,) = [verdict for verdict in verdicts if verdict["outcome"] == "misread"]
    assert misread["reading"] == "LLDP neighbours"


def test_ones_own_recordings_are_read_without_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "cisco_sg" / "show_lldp_neighbors"
    place.mkdir(parents=True)
    (place / "mine.raw").write_text(LLDP)
    assert run(["lab", "replay", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "LLDP neighbours: read: gi10: 02:b1:56:ac:07:64" in printed
    assert "1 recordings of known devices" in printed
    assert "1 read with nothing to compare with" in printed


def test_a_folder_of_which_nothing_can_be_read_fails_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sw1.snmpwalk").write_text("IF-MIB::ifName.1 = STRING: gi1\n")
    place = tmp_path / "nokia" / "show_version"
    place.mkdir(parents=True)
    (place / "mine.raw").write_text("hello\n")
    assert run(["lab", "replay", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "sw1.snmpwalk: not read" in printed
    assert "nokia is not a known platform" in printed


def test_a_folder_without_recordings_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "replay", str(tmp_path)]) == 1
    assert "holds no recording" in capsys.readouterr().err


@pytest.mark.parametrize("damage", [b"\xff\xfe\x00", b"parsed_sample: [\x1b"])
def test_a_damaged_file_beside_a_show_is_lost_and_the_rest_is_judged(
    recordings: Path, capsys: pytest.CaptureFixture[str], damage: bytes
) -> None:
    (recordings / "cisco_s300" / "show_lldp_neighbors" / "one.yml").write_bytes(damage)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedPart)
        assert run(["lab", "replay", str(recordings), "--json"]) == 0
    verdicts = json.loads(capsys.readouterr().out)
    assert "read" in {verdict["outcome"] for verdict in verdicts}, "nobody says any more what is right"
    assert len(verdicts) > 1


def test_where_nothing_can_be_read_the_command_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "noise.snmpwalk").write_bytes(bytes(range(256)))
    assert run(["lab", "replay", str(tmp_path)]) == 1
    assert "noise.snmpwalk: not read" in capsys.readouterr().out


def test_the_first_hour_needs_a_switch_of_the_lab(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "first-hour", "virtual", "sw99"]) == 1
    assert "has no switch sw99: it has sw1" in capsys.readouterr().err
