"""The line of usage begins with what a command works on, in help as in the reference."""

import pytest

from eee_testbed.eeectl.application import app, execute
from eee_testbed.eeectl.usage import usage_of


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["lab", "new"], "eeectl lab new NAME [OPTIONS]"),
        (["bench"], "eeectl bench [PROGRAM] [OPTIONS] [-- COMMAND...]"),
        (["trace", "import"], "eeectl trace import [FILES...] --output OUTPUT [OPTIONS]"),
        (["confirm"], "eeectl confirm [LAB]"),
    ],
)
def test_help_names_objects_before_options(words: list[str], usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*words, "--help"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"Usage: {usage}"
    _, apps, _ = app.parse_commands(words)
    assert usage_of(" ".join(["eeectl", *words]), apps[-1]) == usage
