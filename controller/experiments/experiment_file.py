"""From an experiment's file to an `Experiment`: every mistake at once, with file, line, key and remedy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from controller.experiments.experiment import Experiment
from lab.errors import ExperimentError, Problem

Place = Sequence[str | int]


class ExperimentSource:
    """An experiment's text: what stands in it, and where."""

    def __init__(self, file: str, content: Any) -> None:
        self.file = file
        self.content = content

    def problem(self, place: Place, sentence: str, remedy: str) -> Problem:
        """A mistake at a place, such as ("measure", "program", "hosts", 1)."""
        return Problem(self.file, self._line(place), ".".join(map(str, place)), sentence, remedy)

    def _line(self, place: Place) -> int:
        """The line of the innermost part of a place that is there; 0 where a text has no lines."""
        found: Any = self.content
        line = 0
        for part in place:
            marks = getattr(getattr(found, "lc", None), "data", None)
            if marks is None:
                break
            try:
                line, found = marks[part][0] + 1, found[part]
            except (KeyError, IndexError, TypeError):
                break
        return line


def read_experiment(path: Path) -> tuple[Experiment, ExperimentSource]:
    """Read a file; ExperimentError tells all that is wrong with it."""
    try:
        content = YAML().load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no text"
        problem = Problem(str(path), 0, "", f"cannot be read ({said})", "name an experiment's file, see experiments/")
        raise ExperimentError([problem]) from error
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        line = mark.line + 1 if mark else 0
        said = (error.problem if isinstance(error, MarkedYAMLError) else None) or "it does not parse"
        raise ExperimentError([Problem(str(path), line, "", f"is not YAML: {said}", "correct it")]) from error
    source = ExperimentSource(str(path), content)
    return experiment_of(source), source


def experiment_of(source: ExperimentSource) -> Experiment:
    """An experiment from what stands in a file or on the command line."""
    if not isinstance(source.content, Mapping):
        raise ExperimentError(
            [source.problem((), "holds no experiment", "write name, factors, measure; see experiments/")]
        )
    try:
        return Experiment.model_validate(_plain(source.content))
    except ValidationError as error:
        raise ExperimentError([_told(source, one) for one in error.errors()]) from error


def _told(source: ExperimentSource, found: Any) -> Problem:
    place = [part for part in found["loc"] if isinstance(part, int) or not part.startswith(("function-", "literal["))]
    while place and place[-1] in ("bool", "int", "float", "str"):
        place.pop()
    sentence, remedy = found["msg"].removeprefix("Value error, "), "correct it"
    if found["type"] == "value_error":
        sentence, _, said = sentence.partition(": ")
        remedy = said or remedy
    elif found["type"] == "missing":
        sentence, remedy = "is missing", "add it"
    elif found["type"] == "extra_forbidden":
        sentence, remedy = "is unknown here", "look for a slip, or leave it out"
    else:
        sentence += f" (found {found['input']!r})"
    return source.problem(place, sentence, remedy)


def _plain(value: Any) -> Any:
    """Without the marks of where things stood."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value
