"""Read a simulation's file; every mistake is reported with file, line, key and remedy."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lab.errors import ExperimentError
from lab.yaml_source import Place, plain, read_source
from simulation.description import Description, relative_to


def read_description(path: Path) -> Description:
    """Read a file; ExperimentError lists every mistake in it."""
    source = read_source(path, "name a simulation's file")
    if not isinstance(source.content, Mapping):
        raise ExperimentError(
            [source.problem((), "does not describe a simulation", "write name, network, routing, loads")]
        )
    try:
        return relative_to(Description.model_validate(plain(source.content)), path.parent)
    except ValidationError as error:
        raise ExperimentError([source.mistake(_place(one), one) for one in error.errors()]) from error


def _place(found: Any) -> Place:
    """Where the mistake is; the kind of network, which pydantic names too, is no key."""
    return [part for index, part in enumerate(found["loc"]) if index != 1 or found["loc"][0] != "network"]
