"""Tables as LaTeX: escaped, aligned, and complete."""

import re
from pathlib import Path

import pytest

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.latex import escaped, latex_of, save_latex
from eee_testbed.analysis.report.table import Column, Table
from eee_testbed.lab.errors import LabError

_TABLE = Table(
    "costs",
    "Cost & saving",
    (Column("state_of"), Column("longer", "%"), Column("gap", "us")),
    (("eee on", Interval(5.0, 4.5, 5.5), 1.0), ("a\\b $x$", None, 2.5)),
)


def test_a_table_has_a_row_for_each_of_its_own() -> None:
    text = latex_of(_TABLE)
    assert r"\begin{tabular}{lrr}" in text
    assert r"state\_of & longer (\%) & gap (\textmu{}s) \\" in text
    assert r"eee on & 5.00 (4.50 to 5.50) & 1 \\" in text
    assert r"a\textbackslash{}b \$x\$ & -- & 2.5 \\" in text
    assert r"\caption{Cost \& saving}" in text
    assert text.count(r"\begin") == text.count(r"\end") == 2


@pytest.mark.parametrize("letter", list("&%$#_{}~^\\<>"))
def test_no_letter_that_means_something_is_left(letter: str) -> None:
    assert re.sub(r"\\text\w+\{\}|\\[&%$#_{}]", "", escaped(f"a{letter}b")) == "ab"


def test_letters_that_latex_lacks_are_replaced() -> None:
    assert escaped("日本 é") == "?? é"


def test_files_are_named_after_their_tables(tmp_path: Path) -> None:
    (file,) = save_latex([_TABLE], tmp_path / "a" / "b")
    assert file.name == "costs.tex"
    assert file.read_text(encoding="utf-8") == latex_of(_TABLE)
    with pytest.raises(LabError, match="--latex"):
        save_latex([_TABLE], file / "below-a-file")
