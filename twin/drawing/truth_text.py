"""The truth of a drawn lab, cut from another lab's file with its comments, which say what was measured."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

_HEAD: Final = (
    "# What only the twin knows of this lab: the controller never opens this file. Units are in the names;",
    '# "invented" says that nobody measured it. docs/reference/truth.md describes every key.',
    "# It was copied from the shipped lab `virtual`, and is yours to change.",
    "seed: 1",
    "",
)


def truth_of(text: str, families: Collection[str]) -> str:
    """A truth file for a lab with these families of switches, from the truth of a lab that has all of them.

    Nodes and strips are copied; overrides of single switches and other families are left out. ValueError names a
    family that the text lacks.
    """
    parts = _blocks(text.splitlines(), 0)
    known = _blocks(_blocks(parts["switches"], 2)["families"], 4)
    if missing := sorted(set(families) - known.keys()):
        raise ValueError(f"it lacks switches.families.{missing[0]}")
    lines = [*_HEAD, "switches:", "  families:", *_lines(known[family] for family in known if family in families)]
    return "\n".join([*lines, "", *_lines(parts[name] for name in ("nodes", "strips"))]) + "\n"


def _lines(blocks: Iterable[Sequence[str]]) -> list[str]:
    return [line for block in blocks for line in block]


def _blocks(lines: Iterable[str], indent: int) -> dict[str, list[str]]:
    """The lines of each key of a mapping of YAML whose keys stand at `indent`, with the comments right before it."""
    key_line = re.compile(rf" {{{indent}}}(\w+):")
    comment = " " * indent + "#"
    blocks: dict[str, list[str]] = {}
    block, comments = list[str](), list[str]()
    for line in lines:
        if line.startswith(comment):
            comments.append(line)
            continue
        if key := key_line.match(line):
            block = blocks.setdefault(key[1], [])
        block += [*comments, line]
        comments = []
    return blocks
