"""A YAML file that a person writes: its content with the line of each entry, and what is wrong in it.

Experiments and descriptions of simulations are read through it; every mistake becomes a `Problem` with file, line, key
and remedy.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eee_testbed.lab.errors import ExperimentError, Problem, UnreadableFile
from eee_testbed.lab.plain_text import one_line
from eee_testbed.lab.untrusted_files import parse_yaml, read_text

Place = Sequence[str | int]
"""A path of keys such as ("measure", "program", "hosts", 1)."""

_SECTIONS: Final = frozenset({"measure", "program", "probe", "recordings"})
_OPTIONS: Final = {
    "name": "the program",
    "parameters": "--set",
    "factors": "--factor",
    "figures": "--figure",
    "user": "--agent-user",
}
"""Of the keys whose options have another name."""

_NAMED: Final = frozenset({"parameters", "factors"})
"""Keys below which the next one is a name that a person gave."""


class YamlSource:
    """The text of a file: its content, and the line of each entry."""

    def __init__(self, file: str, content: Any) -> None:
        self.file = file
        self.content = content

    def problem(self, place: Place, sentence: str, remedy: str) -> Problem:
        """A mistake at a path of keys."""
        return Problem(self.file, self._line(place), ".".join(map(str, place)), sentence, remedy)

    def mistake(self, place: Place, error: Any) -> Problem:
        """One entry of a pydantic ValidationError's `errors()`, at this path of keys."""
        sentence, remedy = error["msg"].removeprefix("Value error, "), "correct it"
        if error["type"] == "value_error":
            sentence, _, hint = sentence.partition(": ")
            remedy = hint or remedy
        elif error["type"] == "missing":
            sentence, remedy = "is missing", "add it"
        elif error["type"] == "extra_forbidden":
            sentence, remedy = "is unknown here", "check its spelling, or remove it"
        else:
            sentence += f" (found {error['input']!r})"
        return self.problem(place, sentence, remedy)

    def _line(self, place: Place) -> int:
        """The line of the innermost part of the path that exists; 0 if the content has no line numbers."""
        node: Any = self.content
        line = 0
        for part in place:
            marks = getattr(getattr(node, "lc", None), "data", None)
            if marks is None:
                break
            try:
                line, node = marks[part][0] + 1, node[part]
            except (KeyError, IndexError, TypeError):
                break
        return line


class CommandLine(YamlSource):
    """A command line in the place of a file: its mistakes name options in the place of keys."""

    def __init__(self, content: Any) -> None:
        super().__init__("the command line", content)

    def problem(self, place: Place, sentence: str, remedy: str) -> Problem:
        """A mistake in what an option gave."""
        return Problem(_option_of(place), 0, "", sentence, remedy)


def _option_of(place: Place) -> str:
    """The option behind a path of keys: --hosts for ("measure", "program", "hosts", 1)."""
    keys = [str(key) for key in place if isinstance(key, str) and key not in _SECTIONS]
    if not keys:
        return "the command line"
    option = _OPTIONS.get(keys[0], f"--{keys[0].replace('_', '-')}")
    return f"{option} {keys[1]}" if keys[0] in _NAMED and len(keys) > 1 else option


def read_source(path: Path, remedy: str) -> YamlSource:
    """Read a file; ExperimentError if it is not readable (`remedy` says which file to name) or is no YAML."""
    try:
        text = read_text(path, remedy)
        return YamlSource(str(path), parse_yaml(text, str(path), "correct it", round_trip=True))
    except UnreadableFile as error:
        raise ExperimentError([Problem(str(path), error.line, "", error.sentence, error.remedy)]) from error


def plain(value: Any) -> Any:
    """The content as plain Python values, without line numbers; its text is safe to show, each a single line."""
    if isinstance(value, Mapping):
        return {one_line(str(name)): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return one_line(str(value))
    for kind in (bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value
