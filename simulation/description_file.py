"""Read a simulation's file; every mistake is reported with file, line, key and remedy."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from lab.errors import ExperimentError, Problem
from simulation.description import Description, relative_to


def read_description(path: Path) -> Description:
    """Read a file; ExperimentError lists every mistake in it."""
    try:
        content = YAML().load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise _wrong(path, 0, "", f"cannot be read ({reason})", "name a simulation's file") from error
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        raise _wrong(path, mark.line + 1 if mark else 0, "", "is not YAML", "correct it") from error
    if not isinstance(content, Mapping):
        raise _wrong(path, 0, "", "does not describe a simulation", "write name, network, routing, loads")
    try:
        return relative_to(Description.model_validate(_plain(content)), path.parent)
    except ValidationError as error:
        raise ExperimentError([_problem(path, content, one) for one in error.errors()]) from error


def _wrong(path: Path, line: int, key: str, sentence: str, remedy: str) -> ExperimentError:
    return ExperimentError([Problem(str(path), line, key, sentence, remedy)])


def _problem(path: Path, content: Any, found: Any) -> Problem:
    # A part of a union has the kind in its place, which is no key.
    place = [part for index, part in enumerate(found["loc"]) if index != 1 or found["loc"][0] != "network"]
    sentence, remedy = found["msg"].removeprefix("Value error, "), "correct it"
    if found["type"] == "value_error":
        sentence, _, remedy = sentence.partition(": ")
    elif found["type"] == "missing":
        sentence, remedy = "is missing", "add it"
    elif found["type"] == "extra_forbidden":
        sentence, remedy = "is unknown here", "check its spelling, or remove it"
    else:
        sentence += f" (found {found['input']!r})"
    return Problem(str(path), _line(content, place), ".".join(map(str, place)), sentence, remedy)


def _line(content: Any, place: list[Any]) -> int:
    """The line of the innermost part of the path that exists; 0 if there is none."""
    line = 0
    for part in place:
        marks = getattr(getattr(content, "lc", None), "data", None)
        try:
            if marks is None:
                break
            line, content = marks[part][0] + 1, content[part]
        except (KeyError, IndexError, TypeError):
            break
    return line


def _plain(value: Any) -> Any:
    """The content as plain Python values, without line numbers."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value
