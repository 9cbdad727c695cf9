"""Tables on narrow terminals: no word is broken, no number is cut, and no line is wider than the terminal."""

import io

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eee_testbed.lab.fitting_table import print_table
from tests.support import ROOT

_OF_TEXT_ALONE = {
    "check.py",
    "commands.py",
    "fault.py",
    "first_hour.py",
    "program_list.py",
    "replay.py",
    "truth_text.py",
}
"""Their cells are names and sentences, which wrap between words."""


def _printed(table: Table, width: int, *, markup: bool = True) -> list[str]:
    text = io.StringIO()
    print_table(Console(file=text, width=width, highlight=False), table, markup=markup)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def _comparison() -> Table:
    table = Table("FIGURE", "WHERE", "UNIT", box=None, pad_edge=False, title="two runs", caption="medians")
    for heading in ("A", "B", "B / A paired", "95 %", "B - A paired", "95 %", "TRIALS"):
        table.add_column(heading, justify="right")
    table.add_row(
        *("mpi_time", "", "s", "1.2829", "1.1468", "0.9422", "0.7365 - 1.3006", "-0.08043", "-0.3472 - +0.2706"),
        "3, 3 few blocks",
    )
    table.add_row("energy", "[sw1]", "J", "373.39", "353.39", "0.9477", "-", "-20", "-", "2, 2 few blocks")
    return table


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_numbers_are_whole_and_lines_fit_at_any_width(width: int) -> None:
    lines = _printed(_comparison(), width, markup=False)
    assert max(map(len, lines)) <= width
    for whole in ("mpi_time", "-0.08043", "0.7365 - 1.3006", "-0.3472 - +0.2706", "[sw1]", "373.39", "medians"):
        assert any(whole in line for line in lines), whole
    assert not any("…" in line for line in lines)


def test_a_table_that_fits_stays_a_table_and_another_becomes_records() -> None:
    heading = "FIGURE    WHERE  UNIT       A       B  B / A paired             95 %  B - A paired               95 %"
    assert heading in _printed(_comparison(), 200)[1]
    assert _printed(_comparison(), 80, markup=False)[1:4] == [
        "mpi_time",
        "  UNIT s   A 1.2829   B 1.1468   B / A paired 0.9422   95 % 0.7365 - 1.3006",
        "  B - A paired -0.08043   95 % -0.3472 - +0.2706   TRIALS 3, 3 few blocks",
    ]


def test_text_wraps_between_words_and_keeps_its_colour() -> None:
    table = Table("NAME", "WHY", box=None, pad_edge=False)
    table.add_row("n01", Text("no answer within three seconds", style="red"))
    assert _printed(table, 24) == ["NAME  WHY", "n01   no answer within", "      three seconds"]
    table = Table("NAME", "WHY", box=None, pad_edge=False)
    table.add_column("WATTS", justify="right")
    table.add_row("n01", "no answer within three seconds", "123456789.5")
    assert _printed(table, 24) == ["n01", "  WHY no answer within", "  three seconds", "  WATTS 123456789.5"]


def test_every_table_with_numbers_is_printed_so() -> None:
    folders = (ROOT / "eeectl", ROOT / "measuring" / "study")
    sources = [path for folder in folders for path in folder.rglob("*.py") if "rich.table" in path.read_text()]
    without = {path.name for path in sources if "print_table" not in path.read_text()}
    assert without <= _OF_TEXT_ALONE
    assert len(sources) > len(without)
