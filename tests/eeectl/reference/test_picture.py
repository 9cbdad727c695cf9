"""Pictures of commands' output: what a terminal of that size shows."""

import sys
from pathlib import Path

from eee_testbed.eeectl.reference.picture import main, output_in_terminal, svg_of_output

_SHOW = "import os, sys; print(sys.stdout.isatty(), *os.get_terminal_size()); print('\\033[1mbold\\033[0m <&>')"


def test_the_command_sees_a_terminal_of_that_size() -> None:
    printed = output_in_terminal([sys.executable, "-c", _SHOW], 72, 20)
    assert printed.splitlines()[0] == "True 72 20"


def test_the_picture_holds_what_was_printed_and_needs_no_network(tmp_path: Path) -> None:
    file = tmp_path / "shown.svg"
    main([str(file), "72x20", sys.executable, "-c", _SHOW])
    svg = file.read_text(encoding="utf-8")
    assert "72&#160;20" in svg
    assert "&lt;&amp;&gt;" in svg
    assert "@font-face" not in svg
    assert "https://cdn" not in svg
    assert svg_of_output("eeectl", "one\n", 40).count("one") == 1
