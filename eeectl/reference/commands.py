"""Markdown of every command, from the command line's own parser."""

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

from cyclopts import App, Argument

from eee_testbed.eeectl.application import app
from eee_testbed.eeectl.default_text import default_text
from eee_testbed.eeectl.reference.models import cell, prose
from eee_testbed.eeectl.usage import is_positional, object_word, usage_of


class _Command(NamedTuple):
    path: str
    command: App
    summary: str


def _commands(group: App, words: tuple[str, ...]) -> Iterator[_Command]:
    for name in sorted(name for name in group if not name.startswith("-")):
        command = group[name]
        path = (*words, name)
        if any(not below.startswith("-") for below in command):
            yield from _commands(command, path)
        else:
            yield _Command(" ".join(path), command, command.help.splitlines()[0])


def command_table() -> str:
    """Table of every command with the first line of its help."""
    rows = "".join(f"| [`{one.path}`](#{_anchor(one.path)}) | {one.summary} |\n" for one in _commands(app, ("eeectl",)))
    return f"| command | what it does |\n| --- | --- |\n{rows}"


def command_sections() -> str:
    """A section for each command: its words, what it does, its arguments and options with their defaults."""
    return "\n".join(map(_section, command_texts()))


def _anchor(path: str) -> str:
    return path.replace(" ", "-")


class CommandText(NamedTuple):
    """A command as the reference and the manual page show it; `arguments`: names, meaning and default of each."""

    path: str
    usage: str
    about: str
    arguments: tuple[tuple[str, str, str], ...]


def command_texts() -> Iterator[CommandText]:
    """Every command of `eeectl`, by name."""
    return map(_text, _commands(app, ("eeectl",)))


def _text(one: _Command) -> CommandText:
    arguments = [
        argument for argument in one.command.assemble_argument_collection(parse_docstring=True) if argument.show
    ]
    described = inspect.getdoc(one.command.default_command) or one.summary
    rows = tuple(
        (_names(argument), argument.parameter.help or "", _default(argument.field_info.default))
        for argument in arguments
    )
    return CommandText(
        one.path, usage_of(one.path, one.command), described.partition("\nParameters\n---")[0].strip(), rows
    )


def _section(one: CommandText) -> str:
    rows = "".join(f"| {names} | {cell(meaning)} | {default} |\n" for names, meaning, default in one.arguments)
    table = f"\n| | meaning | default |\n| --- | --- | --- |\n{rows}" if rows else ""
    return f"## {one.path}\n\n`{one.usage}`\n\n{prose(one.about)}{table}"


def _names(argument: Argument) -> str:
    names = [object_word(argument)] if is_positional(argument) else []
    names += [name for name in argument.names if name.startswith("-")]
    return ", ".join(f"`{name}`" for name in names)


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    text = default_text(value)
    return "" if text is None else text if value is True else f"`{text}`"
