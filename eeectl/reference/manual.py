"""The manual page eeectl(1), from the table of verbs and the command line's own parser."""

import re
from collections.abc import Iterator

from eee_testbed.eeectl.reference.commands import CommandText, command_texts
from eee_testbed.eeectl.verb_table import ABOUT, VERBS

_CODE = re.compile(r"`+([^`]+)`+")


def manual() -> str:
    """The page in the language of `man`."""
    lines = [
        '.TH EEECTL 1 "" eee-testbed "User Commands"',
        ".SH NAME",
        f"eeectl \\- {_plain(ABOUT)}",
        ".SH SYNOPSIS",
        ".B eeectl",
        ".I VERB",
        "[ARGUMENTS] [OPTIONS]",
        ".SH VERBS",
        *(line for verb in VERBS for line in (".TP", f".B {verb.name}", _plain(verb.help))),
        ".SH COMMANDS",
        *(line for command in command_texts() for line in _command(command)),
        ".SH EXIT STATUS",
        "0 done, 1 refused or failed, 2 wrong use, 3 changes or trials pending, 130 interrupted.",
    ]
    return "\n".join(lines) + "\n"


def _command(command: CommandText) -> Iterator[str]:
    yield f".SS {_plain(command.usage)}"
    for number, paragraph in enumerate(command.about.split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith("    "):
            yield from (".nf", *map(_plain, paragraph.splitlines()), ".fi")
        else:
            yield _plain(" ".join(paragraph.removesuffix("::").split()))
    for names, meaning, default in command.arguments:
        yield ".TP"
        yield f".B {_plain(names.replace('`', ''))}"
        yield _plain(
            " ".join(f"{meaning} (default: {default})".split() if default not in {"", "required"} else meaning.split())
        )


def _plain(text: str) -> str:
    """Text in which nothing is a request or an escape but bold code."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", _CODE.sub(r"\\fB\1\\fR", escaped)) or "\\&"
