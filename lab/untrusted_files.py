"""Files that may be damaged or hostile, read at the border: each error names file, line and what to do.

Two things can be wrong. A file that is needed as a whole raises UnreadableFile. Of a file of parts (lines, rows,
segments) a bad part is lost, and only that: `lose` says which, as a warning of the category DamagedPart. The
command line prints such warnings on standard error; a notebook shows them beside the cell.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.lab.json_text import parse_object
from eee_testbed.lab.plain_text import one_line, safe_tree

_MOST_ENTRIES: Final = 200_000
"""Of a YAML file with all its aliases written out; the longest calibration has some thousands."""

_MOST_NESTED: Final = 100
_DEEP_NESTING: Final = re.compile(rf"(?:[\[{{]\s*){{{_MOST_NESTED}}}")
_MOST_BYTE: Final = 64 << 20
_SHOWN_CHARACTERS: Final = 200
_Part = TypeVar("_Part")


class DamagedPart(UserWarning):
    """A part of a file was lost; the text says which and why."""


def lose(path: Path, line: int, sentence: str) -> None:
    """Say that a part of a file is lost: its line (1-based; 0 for a file as a whole) and what is wrong with it."""
    warnings.warn(f"{_place(path, line)}: {one_line(sentence)}", DamagedPart, stacklevel=2)


def _place(path: Path, line: int) -> str:
    return one_line(f"{path}:{line}" if line else str(path))


def read_text(path: Path, remedy: str) -> str:
    """A file as text; UnreadableFile with the remedy if it is missing, closed to us, too long or not UTF-8."""
    try:
        if path.stat().st_size > _MOST_BYTE:
            raise UnreadableFile(str(path), 0, f"has more than {_MOST_BYTE >> 20} MiB", remedy)
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableFile(str(path), 0, f"cannot be read ({error.strerror})", remedy) from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(str(path), 0, "is not UTF-8 text", remedy) from error


def read_object(path: Path, remedy: str) -> dict[str, Any]:
    """A file that is one JSON object; UnreadableFile otherwise."""
    text = read_text(path, remedy)
    try:
        return parse_object(text)
    except ValueError as error:
        raise UnreadableFile(str(path), getattr(error, "lineno", 0), f"is not JSON ({error})", remedy) from error


def read_json_lines(path: Path, parse: Callable[[bytes], _Part]) -> Iterator[_Part]:
    """Each whole line of a file of JSON lines; a last line without a line break is being written and is left out.

    `parse` raises ValueError for a line that it cannot use: that line is lost. UnreadableFile if the file cannot be
    read at all; FileNotFoundError passes through.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    part = parse(line)
                except ValueError as error:
                    lose(path, number, f"this line is left out: {str(error)[:_SHOWN_CHARACTERS]}")
                else:
                    yield part
    except FileNotFoundError:
        raise
    except OSError as error:
        remedy = "make it readable, or restore it from a copy"
        raise UnreadableFile(str(path), 0, f"cannot be read ({error.strerror})", remedy) from error


def read_yaml(path: Path, remedy: str) -> Any:
    """A YAML file as plain values, its text safe to show; UnreadableFile with file and line otherwise."""
    return parse_yaml(read_text(path, remedy), str(path), remedy)


def parse_yaml(text: str, file: str, remedy: str, *, round_trip: bool = False) -> Any:
    """The content of a YAML text; UnreadableFile says in which line what is wrong.

    `round_trip` keeps the line of each entry, and leaves text as it is. A file whose aliases (`*name`) write out to
    more entries than a person could mean is refused before it is built.
    """
    try:
        check_size(text)
        if round_trip:
            content = YAML().load(text)
            safe_tree(content)
            return content
        return safe_tree(YAML(typ="safe", pure=True).load(text))
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        said = " ".join(str(error.problem or error.context).split())
        raise UnreadableFile(file, line, f"is not YAML: {said[:_SHOWN_CHARACTERS]}", remedy) from error
    except RecursionError:
        raise UnreadableFile(file, 0, "is nested too deeply", remedy) from None
    except _YAML_ERRORS as error:
        said = " ".join(str(error).split())
        raise UnreadableFile(file, 0, f"is not YAML: {said[:_SHOWN_CHARACTERS]}", remedy) from error


_YAML_ERRORS: Final = (YAMLError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError, AssertionError)
"""What ruamel.yaml raises of files that are not well-formed: its own errors, and those of its constructors."""


def check_size(text: str) -> None:
    """ValueError if a YAML text is nested too deeply, or too long with its aliases written out."""
    if _DEEP_NESTING.search(text):
        raise ValueError(f"it is nested in more than {_MOST_NESTED} levels")
    if "*" not in text:  # without an alias a text is as long as it is
        return
    root = YAML(typ="safe", pure=True).compose(text)
    if root is not None and _entries(root, {}, 0) > _MOST_ENTRIES:
        raise ValueError(f"its aliases expand to more than {_MOST_ENTRIES} entries")


def _entries(node: Node, counted: dict[int, int], nested: int) -> int:
    """Entries below a node, each alias counted as what it stands for."""
    if nested > _MOST_NESTED:
        raise ValueError(f"it is nested in more than {_MOST_NESTED} levels, or an alias is inside its own anchor")
    known = counted.get(id(node))
    if known is not None:
        return known
    match node:
        case ScalarNode():
            return 1
        case MappingNode():
            inner = [part for pair in node.value for part in pair]
        case SequenceNode():
            inner = list(node.value)
        case _:
            inner = []
    count = 1 + sum(_entries(part, counted, nested + 1) for part in inner)
    counted[id(node)] = count
    return count
