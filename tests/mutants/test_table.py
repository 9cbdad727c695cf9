"""The table of mutants fits the code as it is now, and says so in one sentence where it does not."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants.table import AREAS, LEAST, Mutant, TableError, faults_of, mutated, read_table, select
from tests.support import ROOT

_TABLE = read_table()
_TOY = Mutant("check", "a toy", "toy.py", "return x <= y", "return x < y", "equal counts", "tests/t.py", "tests/t.py")


def test_every_mutant_is_one_other_line_of_the_code_and_every_area_has_some() -> None:
    assert faults_of(_TABLE, ROOT) == ()


def test_a_mutant_has_a_law_and_tests_that_should_fail() -> None:
    for mutant in _TABLE:
        assert mutant.law, mutant.name
        assert mutant.tests.startswith(("-p ", "tests/")), mutant.name
        assert mutant.is_rust or mutant.unit.startswith("tests/"), mutant.name


def test_a_mutated_line_keeps_its_indentation_and_all_others() -> None:
    text = "def f(x, y):\n    return x <= y\n\n\ndef g():\n    return 1"
    assert mutated(text, _TOY) == text.replace("<=", "<")


@pytest.mark.parametrize(("text", "words"), [("return x\n", "is not in"), ("return x <= y\n" * 2, "is 2 times in")])
def test_a_line_that_moved_or_stands_there_twice_is_refused(text: str, words: str) -> None:
    with pytest.raises(TableError, match=words):
        mutated(text, _TOY)


def test_what_is_wrong_with_a_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text("return x <= y\n", encoding="utf-8")
    table = [_TOY, _TOY, replace(_TOY, name="same", new=_TOY.old), replace(_TOY, name="gone", file="gone.py")]
    faults = "\n".join(faults_of(table, tmp_path))
    for words in (
        "2 mutants are called 'a toy'",
        "area credits has no mutant",
        f"needs at least {LEAST}",
        "'same': the new line has to be one other line",
        "gone.py does not exist",
        "'a toy': tests/t.py does not exist",
    ):
        assert words in faults
    assert "area check" not in faults


def test_rust_tests_that_a_mutant_names_exist(tmp_path: Path) -> None:
    (tmp_path / "toy.rs").write_text("return x <= y\n", encoding="utf-8")
    toy = replace(_TOY, file="toy.rs", tests="-p fabric --test laws -- trees:: gone::")
    for tests, missing in (("--test laws -- trees:: gone::", "gone"), ("--test lpi", "lpi"), ("--test laws", "")):
        faults = "\n".join(faults_of([replace(toy, tests=f"-p fabric {tests}")], tmp_path))
        assert (f"engine/fabric/tests/{missing}.rs does not exist" in faults) == bool(missing)
    assert "engine/fabric/tests/trees.rs does not exist" in "\n".join(faults_of([toy], tmp_path))


def test_areas_and_names_select() -> None:
    assert select(_TABLE, ()) == _TABLE
    assert {mutant.area for mutant in select(_TABLE, AREAS[:2])} == set(AREAS[:2])
    assert select(_TABLE, [_TABLE[-1].name]) == _TABLE[-1:]
    with pytest.raises(TableError, match="no area and no mutant is called 'nothing'"):
        select(_TABLE, ["nothing"])
