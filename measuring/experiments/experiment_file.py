"""Read an experiment's file into an `Experiment`; report every mistake at once, with file, line, key and remedy."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.lab.yaml_source import Place, YamlSource, plain, read_source
from eee_testbed.measuring.experiments.experiment import Experiment


def read_experiment(path: Path) -> tuple[Experiment, YamlSource]:
    """Read a file; ExperimentError lists every mistake in it."""
    source = read_source(path, "name an experiment's file, see experiments/")
    return experiment_of(source), source


def experiment_of(source: YamlSource) -> Experiment:
    """The experiment that a file or the command line describes; ExperimentError lists every mistake."""
    if not isinstance(source.content, Mapping):
        raise ExperimentError(
            [source.problem((), "does not describe an experiment", "write name, factors, measure; see experiments/")]
        )
    try:
        return Experiment.model_validate(plain(source.content))
    except ValidationError as error:
        raise ExperimentError([source.mistake(_place(one), one) for one in error.errors()]) from error


def _place(found: Any) -> Place:
    """Where the mistake is; the kinds of a union that pydantic names are no keys."""
    place = [part for part in found["loc"] if isinstance(part, int) or not part.startswith(("function-", "literal["))]
    while place and place[-1] in ("bool", "int", "float", "str"):
        place.pop()
    return place
