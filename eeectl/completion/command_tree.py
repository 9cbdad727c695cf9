"""The tree of commands for completion, from the command line's own parser.

It is kept in a file, as loading every verb takes seconds.
"""

import inspect
import json
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin

from eee_testbed.eeectl.completion.candidates import Tree

_PACKAGE: Final = Path(__file__).resolve().parents[1]


def command_tree() -> Tree:
    """The tree, from the file of these very commands if it exists; else it is made and kept."""
    file = _cache_file()
    try:
        return json.loads(file.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    except (OSError, ValueError):
        tree = make_tree()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in file.parent.glob("commands-*.json"):
            old.unlink(missing_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(tree), encoding="utf-8")
        draft.replace(file)
    except OSError:
        pass  # the next completion makes it again
    return tree


def _cache_file() -> Path:
    """A file whose name changes with any of the verbs' modules."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    modules = sorted(_PACKAGE.rglob("*.py"))
    seen = [f"{path} {path.stat().st_mtime_ns}" for path in modules]
    return root / "eee-testbed" / f"commands-{blake2b(' '.join(seen).encode(), digest_size=8).hexdigest()}.json"


def make_tree() -> dict[str, Any]:
    """The tree, from cyclopts; it loads every verb."""
    from eee_testbed.eeectl.application import app  # noqa: PLC0415 - it loads every verb, which the file spares

    return _node(app)


def _node(command: Any) -> dict[str, Any]:
    children = {name: command[name] for name in command if not name.startswith("-")}
    if children:
        return {"children": {name: _node(child) for name, child in sorted(children.items())}}
    arguments = [one for one in command.assemble_argument_collection(parse_docstring=False) if one.show]
    positional = [one for one in arguments if one.field_info.kind is not inspect.Parameter.KEYWORD_ONLY]
    leaf: dict[str, Any] = {"positional": [], "many": False, "options": {}, "choices": {}}
    for one in arguments:
        options = [name for name in one.names if name.startswith("-")]
        leaf["options"] |= dict.fromkeys(options, not _is_flag(one.hint))
        place = options[0] if options and one not in positional else one.names[0]
        if one in positional:
            leaf["positional"].append(place)
            leaf["many"] = leaf["many"] or one.field_info.kind is inspect.Parameter.VAR_POSITIONAL
        if choices := list(dict.fromkeys(_choices(one.hint))):
            leaf["choices"] |= dict.fromkeys([place, *options], choices)
    return leaf


def _is_flag(hint: Any) -> bool:
    return hint is bool or {*get_args(hint)} == {bool, NoneType}


def _choices(hint: Any) -> Iterator[str]:
    if get_origin(hint) is Literal:
        yield from map(str, get_args(hint))
    else:
        for inner in get_args(hint):
            yield from _choices(inner)
