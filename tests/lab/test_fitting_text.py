"""Sentences on narrow terminals: no word is broken, and a pipe gets whole lines."""

import io

import pytest

from eee_testbed.lab.fitting_text import print_text, wrapped

_STEP = "wake    1     8 x set up a link while it is down; hitless: sw1:gi1/0/4, sw1:gi1/0/6 and 6 more"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_sentence_wraps_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal = _Terminal()
    print_text(f"lab mine\n{_STEP}", indent=8, file=terminal)
    lines = terminal.getvalue().splitlines()
    assert lines[:2] == ["lab mine", "wake    1     8 x set up a link while it"]
    assert all(len(line) <= 40 for line in lines)
    assert all(line.startswith(" " * 8) for line in lines[2:])
    assert " ".join("\n".join(lines[1:]).split()) == " ".join(_STEP.split())


def test_a_pipe_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    pipe = io.StringIO()
    print_text(_STEP, indent=8, file=pipe)
    assert pipe.getvalue() == f"{_STEP}\n"


def test_a_path_stays_whole_and_an_empty_line_stays_empty() -> None:
    path = "/a/very/long/path/of-a-lab/that/no/terminal/of/20/columns/has/room/for"
    assert wrapped(f"written to {path}", 20).splitlines() == ["written to", path]
    assert wrapped("", 20) == ""
