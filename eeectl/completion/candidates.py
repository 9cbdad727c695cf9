"""What may stand where the cursor is. Pure: a tree of commands, the words so far, and a source of names."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Tree = Mapping[str, Any]
"""`children` by name; or `positional` names, whether the last of them repeats (`many`), `options` with whether each
takes a value, and `choices` by name. Plain data, as it is kept in a file."""

Names = Callable[[str, Sequence[str]], Sequence[str]]
"""Names of a kind (`KINDS`), for a command line of these words."""

KINDS: Final[Mapping[str, str]] = {
    "--lab": "lab",
    "LAB": "lab",
    "HOST": "host",
    "--hosts": "host",
    "--probe": "host",
    "--stream-from": "host",
    "LINK": "end",
    "LINKS": "end",
    "CABLE": "end",
    "--links": "end",
    "--off": "end",
    "SWITCH": "switch",
    "--switch": "switch",
    "--devices": "switch",
    "DEVICE": "device",
    "STRIP": "strip",
    "OUTLET": "outlet",
    "RUN": "run",
    "RUNS": "run",
    "PROFILE": "run",
    "--pre-run": "run",
    "PROGRAM": "program",
}
"""The kind of names that an option or a positional takes; others take files or free text."""

_OF_VERB: Final = {("compare", "A"): "run", ("compare", "B"): "run", ("probe", "A"): "host", ("probe", "B"): "host"}


@dataclass(frozen=True, slots=True)
class Line:
    """A command line up to the cursor, without `eeectl` itself: complete words, and the one that is typed."""

    words: tuple[str, ...]
    current: str


def line_of(text: str) -> Line:
    """Split a line as a shell does; an open quotation is as good as a closed one."""
    for closing in ("", '"', "'"):
        try:
            words = shlex.split(text + closing)
        except ValueError:
            continue
        break
    else:
        words = text.split()
    current = "" if not words or text[-1:].isspace() else words.pop()
    return Line(tuple(words[1:]), current)


def candidates(tree: Tree, line: Line, names: Names) -> list[str]:
    """Words that may replace the current one; empty where a file or free text stands."""
    node, path, rest = tree, [], list(line.words)
    while rest and rest[0] in node.get("children", {}):
        path.append(rest.pop(0))
        node = node["children"][path[-1]]
    if "children" in node:
        found = list(node["children"]) if not rest else []
    else:
        found = _of_leaf(node, path[0] if path else "", rest, line, names)
    return [word for word in found if word.startswith(line.current)]


def _of_leaf(node: Tree, verb: str, rest: Sequence[str], line: Line, names: Names) -> list[str]:
    options: Mapping[str, bool] = node["options"]
    if "--" in rest:
        return []
    count, pending = 0, ""
    for word in rest:
        if pending:
            pending = ""
        elif word.startswith("-"):
            pending = word if options.get(word, False) else ""
        else:
            count += 1
    name, equals, _ = line.current.partition("=")
    if not pending and equals and options.get(name, False):
        typed = line.current[len(name) + 1 :]
        return [f"{name}={value}" for value in _values(node, verb, name, typed, line, names)]
    if pending:
        return _values(node, verb, pending, line.current, line, names)
    if line.current.startswith("-"):
        return [*options, "--help"]
    places: Sequence[str] = node["positional"]
    if count >= len(places) and not (node["many"] and places):
        return [] if line.current else list(options)
    return _values(node, verb, places[min(count, len(places) - 1)], line.current, line, names)


def _values(node: Tree, verb: str, name: str, typed: str, line: Line, names: Names) -> list[str]:
    """Values of an option or positional; of a list with commas, with the part before the last one."""
    if name in node["choices"]:
        return list(node["choices"][name])
    kind = _OF_VERB.get((verb, name), KINDS.get(name, ""))
    if not kind:
        return []
    head = typed[: typed.rfind(",") + 1] if kind == "host" else ""
    return [f"{head}{word}" for word in names(kind, line.words)]
