"""Tables as spreadsheets save them are the same tables, or are refused in words that say what to click."""

from pathlib import Path

import pytest

from eee_testbed.lab.cables import read_cables, read_outlets
from eee_testbed.lab.errors import Problem

_HEAD = "end_a,end_b,rate_mbps,kind,switchable"
_ROWS = ("sw1:gi1,n01:eth0,1000,copper,no", "sw1:gi2,sw2:gi2,10000,dac,yes")


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([_HEAD, *_ROWS]),
        "\ufeff" + "\r\n".join([_HEAD, *_ROWS, ""]),
        "\r\n".join([_HEAD, *_ROWS, ",,,,", ",,,,", ""]),
        "\r\n".join([_HEAD, ",,,,", _ROWS[0], "", _ROWS[1], "  , ,,,"]),
        "\ufeff" + "\r\n".join([f"{_HEAD},,", *(f"{row},," for row in _ROWS), ",,,,,,"]),
        "\n".join([f"{_HEAD},lag", *(f"{row}," for row in _ROWS)]),
    ],
)
def test_a_table_from_a_spreadsheet_is_the_same_table(tmp_path: Path, text: str) -> None:
    file, problems = tmp_path / "cables.csv", list[Problem]()
    file.write_text(text, encoding="utf-8", newline="")
    rows = read_cables(file, problems)
    assert not problems
    assert [(row.end_a, row.end_b, row.rate_mbps, row.kind, row.switchable, row.lag) for row in rows] == [
        ("sw1:gi1", "n01:eth0", 1000, "copper", False, None),
        ("sw1:gi2", "sw2:gi2", 10_000, "dac", True, None),
    ]


@pytest.mark.parametrize(("separator", "words"), [(";", "separated by semicolons"), ("\t", "separated by tabs")])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_another_separator_is_named(tmp_path: Path, separator: str, words: str, mark: str) -> None:
    file, problems = tmp_path / "outlets.csv", list[Problem]()
    file.write_text(mark + "strip,outlet,feeds\r\npdu1,1,sw1\r\n".replace(",", separator), encoding="utf-8", newline="")
    assert read_outlets(file, problems, needed=True) == []
    (problem,) = problems
    assert words in problem.sentence
    assert "commas" in problem.remedy


def test_a_field_too_many_is_still_a_mistake(tmp_path: Path) -> None:
    file, problems = tmp_path / "cables.csv", list[Problem]()
    file.write_text(f"{_HEAD}\n{_ROWS[0]},x\n{_ROWS[1]}\nsw1:gi3,n02:eth0\n", encoding="utf-8")
    assert len(read_cables(file, problems)) == 1
    assert [problem.line for problem in problems] == [2, 4]
