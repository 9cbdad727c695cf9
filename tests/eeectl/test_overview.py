"""`eeectl --help`: every verb, by purpose, without the library that parses command lines."""

import subprocess
import sys

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.eeectl.verb_table import VERBS, overview


@pytest.mark.parametrize("width", [80, 160])
def test_the_overview_names_every_verb_once_and_fits(width: int) -> None:
    lines = overview(width).splitlines()
    assert max(map(len, lines)) <= width
    firsts = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(firsts) == sorted(verb.name for verb in VERBS)


def test_a_wide_terminal_shows_the_whole_sentences() -> None:
    assert [verb.name for verb in VERBS if verb.help not in overview(160)] == []


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help_alone_is_the_overview(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 0
    assert capsys.readouterr().out.startswith("Usage: eeectl VERB")


def test_the_overview_loads_neither_parser_nor_verbs() -> None:
    script = (
        "import sys; sys.argv = ['eeectl', '--help']; from eee_testbed.eeectl.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'cyclopts', 'rich', 'polars', 'numpy', 'netmiko', 'textual'}\n"
        "print(sorted(heavy & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "[]\n"
