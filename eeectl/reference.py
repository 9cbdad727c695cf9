"""The README's tables of commands and switch families, made from the code: ``python -m eeectl.reference``.

A test compares them with the README.
"""

from collections.abc import Iterator

from cyclopts import App

from controller.drivers.table import FAMILIES
from controller.model.capabilities import Capabilities
from eeectl.application import app

BEGIN = "<!-- commands: made by `python -m eeectl.reference` -->"
END = "<!-- end of commands -->"
FAMILIES_BEGIN = "<!-- families: made by `python -m eeectl.reference` -->"
FAMILIES_END = "<!-- end of families -->"


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


def family_table() -> str:
    """Markdown table of every switch family: what it can express, and how far its driver was verified."""
    rows = "".join(
        f"| {family.title} | `{name}` | {_abilities(family.driver.capabilities)} | {family.verified} | "
        f"{family.from_memory} |\n"
        for name, family in FAMILIES.items()
    )
    head = "| family | `family:` | can | verified on | from memory alone |\n| --- | --- | --- | --- | --- |\n"
    return f"{FAMILIES_BEGIN}\n{head}{rows}{FAMILIES_END}"


def _abilities(able: Capabilities) -> str:
    untags = "untags many VLANs" if able.multi_untagged else "hosts pop tags"
    eee = "EEE and hold" if able.hold_settable else "EEE" if able.eee_settable else "no EEE"
    entries = f"; {able.static_entries_per_port} entries a port" if able.static_entries_per_port else ""
    return f"{untags}; {eee}{entries}"


if __name__ == "__main__":
    print(command_table())
    print(family_table())
