"""The README's table of commands, made from the commands' own docstrings: ``python -m controller.reference``.

A test compares it with what stands in the README.
"""

from collections.abc import Iterator

from cyclopts import App

from controller.cli import app

BEGIN = "<!-- commands: made by `python -m controller.reference` -->"
END = "<!-- end of commands -->"


def _commands(group: App, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in sorted(name for name in group if not name.startswith("-")):
        command = group[name]
        path = (*words, name)
        if any(not below.startswith("-") for below in command):
            yield from _commands(command, path)
        else:
            yield " ".join(path), command.help.splitlines()[0]


def command_table() -> str:
    """Markdown table of every command of `eeectl` with the first line of its help."""
    rows = "".join(f"| `{path}` | {text} |\n" for path, text in _commands(app, ("eeectl",)))
    return f"{BEGIN}\n| command | what it does |\n| --- | --- |\n{rows}{END}"


if __name__ == "__main__":
    print(command_table())
