"""The truth file: all its mistakes are reported together, each with file, line, key and remedy."""

from pathlib import Path

import pytest

from eee_testbed.lab.errors import InventoryError
from eee_testbed.lab.folder import find_lab
from eee_testbed.twin.truth.truth_file import load_truth

MIWA = (
    (find_lab("miwa") / "twin" / "truth.yaml").read_text(encoding="utf-8")
    + """
  overrides:
    pdu1: {noise_watt: 0.5}
"""
)


def mistakes(tmp_path: Path, *changes: tuple[str, str]) -> list[tuple[str, str]]:
    """Line and text of each mistake of miwa's truth with these changes."""
    text = MIWA
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "truth.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InventoryError) as caught:
        load_truth(path)
    assert all(problem.file == str(path) and problem.remedy for problem in caught.value.problems)
    lines = text.splitlines()
    return [
        (lines[problem.line - 1].strip(), f"{problem.key}: {problem.sentence}") for problem in caught.value.problems
    ]


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("base_watt: 26.0", "base_wat: 26.0", "base_watt: is missing"),
        ("base_watt: 26.0", "base_watt: -1", "base_watt: Input should be greater than or equal to 0 (found -1)"),
        ("{10: 0.20", "{11: 0.20", "11 Mb/s is not an Ethernet speed"),
        ("full_watt: 310.0", "full_watt: 9.0", "full_watt 9.0 is below idle_watt 96.0"),
        ("pdu1: {noise_watt: 0.5", "pdu1: {skipped_fraction: 1.5", "strips.overrides.pdu1.skipped_fraction"),
        ("seed: 2013", "seed: [1", "is not YAML"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, named: str) -> None:
    assert named in "\n".join(text for _, text in mistakes(tmp_path, (old, new)))


def test_all_mistakes_are_reported_each_in_its_line(tmp_path: Path) -> None:
    changes = ("hold_us: 1000.0", "hold_us: -5"), ("idle_watt: 96.0", "idle_watt: warm"), ("seed: 2013", "seed: -1")
    assert [line for line, _ in mistakes(tmp_path, *changes)] == ["seed: -1", "hold_us: -5", "idle_watt: warm"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match="a virtual lab needs its"):
        load_truth(tmp_path / "truth.yaml")
