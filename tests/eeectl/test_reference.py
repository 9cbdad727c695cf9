"""The README agrees with the command line and the shipped labs."""

from eeectl.application import app
from eeectl.reference import BEGIN, END, FAMILIES_BEGIN, FAMILIES_END, command_table, family_table
from eeectl.verb_table import VERBS
from lab.folder import find_lab, load_lab
from tests.support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_lists_every_command_with_its_own_words() -> None:
    table = README[README.index(BEGIN) : README.index(END) + len(END)]
    assert table == command_table(), "run `python -m eeectl.reference` and put its output into README.md"


def test_the_help_of_a_verb_is_shown_before_it_is_loaded() -> None:
    for verb in VERBS:
        assert app[verb.name].help.splitlines()[0] == verb.help


def test_the_readme_says_how_far_each_family_was_verified() -> None:
    table = README[README.index(FAMILIES_BEGIN) : README.index(FAMILIES_END) + len(FAMILIES_END)]
    assert table == family_table(), "run `python -m eeectl.reference` and put its output into README.md"


def test_the_readme_counts_the_shipped_labs_right() -> None:
    for name in ("virtual", "miwa", "koibuchi"):
        lab = load_lab(find_lab(name))
        row = next(line for line in README.splitlines() if line.startswith(f"| `{name}` |"))
        counts = [int(cell) for cell in row.split("|")[2:6]]
        assert counts == [len(lab.switches), len(lab.hosts), len(lab.links), len(lab.strips)]
