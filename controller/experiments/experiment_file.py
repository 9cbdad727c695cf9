"""Read an experiment's file into an `Experiment`; report every mistake at once, with file, line, key and remedy."""

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
    """The text of an experiment: its content, and the line of each entry."""

    def __init__(self, file: str, content: Any) -> None:
        self.file = file
        self.content = content

    def problem(self, place: Place, sentence: str, remedy: str) -> Problem:
        """A mistake at a key path such as ("measure", "program", "hosts", 1)."""
        return Problem(self.file, self._line(place), ".".join(map(str, place)), sentence, remedy)

    def _line(self, place: Place) -> int:
        """The line of the innermost part of the path that exists; 0 if the content has no line numbers."""
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
    """Read a file; ExperimentError lists every mistake in it."""
    try:
        content = YAML().load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        problem = Problem(str(path), 0, "", f"cannot be read ({reason})", "name an experiment's file, see experiments/")
        raise ExperimentError([problem]) from error
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        line = mark.line + 1 if mark else 0
        reason = (error.problem if isinstance(error, MarkedYAMLError) else None) or "it does not parse"
        raise ExperimentError([Problem(str(path), line, "", f"is not YAML: {reason}", "correct it")]) from error
    source = ExperimentSource(str(path), content)
    return experiment_of(source), source


def experiment_of(source: ExperimentSource) -> Experiment:
    """The experiment that a file or the command line describes; ExperimentError lists every mistake."""
    if not isinstance(source.content, Mapping):
        raise ExperimentError(
            [source.problem((), "does not describe an experiment", "write name, factors, measure; see experiments/")]
        )
    try:
        return Experiment.model_validate(_plain(source.content))
    except ValidationError as error:
        raise ExperimentError([_problem(source, one) for one in error.errors()]) from error


def _problem(source: ExperimentSource, found: Any) -> Problem:
    place = [part for part in found["loc"] if isinstance(part, int) or not part.startswith(("function-", "literal["))]
    while place and place[-1] in ("bool", "int", "float", "str"):
        place.pop()
    sentence, remedy = found["msg"].removeprefix("Value error, "), "correct it"
    if found["type"] == "value_error":
        sentence, _, hint = sentence.partition(": ")
        remedy = hint or remedy
    elif found["type"] == "missing":
        sentence, remedy = "is missing", "add it"
    elif found["type"] == "extra_forbidden":
        sentence, remedy = "is unknown here", "check its spelling, or remove it"
    else:
        sentence += f" (found {found['input']!r})"
    return source.problem(place, sentence, remedy)


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
