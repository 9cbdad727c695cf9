"""Read a simulation's file; every mistake is reported with file, line, key and remedy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from eee_testbed.lab.errors import ExperimentError, Problem
from eee_testbed.lab.yaml_source import Place, YamlSource, plain, read_source
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.description_paths import relative_to
from eee_testbed.simulation.standard_links import WrongLink, with_times


def read_description(path: Path) -> Description:
    """Read a file; ExperimentError lists every mistake in it."""
    source = read_source(path, "name a simulation's file")
    if not isinstance(source.content, Mapping):
        raise ExperimentError(
            [source.problem((), "does not describe a simulation", "write name, network, routing, loads")]
        )
    try:
        return relative_to(Description.model_validate(with_times(plain(source.content))), path.parent)
    except WrongLink as error:
        raise ExperimentError([source.problem(error.place.split("."), error.sentence, error.remedy)]) from error
    except ValidationError as error:
        raise ExperimentError([_problem(source, mistake) for mistake in error.errors()]) from error


def _problem(source: YamlSource, mistake: Any) -> Problem:
    place = _place(mistake)
    if mistake["type"] != "extra_forbidden":
        return source.mistake(place, mistake)
    known = keys_at(mistake["loc"][:-1])
    return source.problem(place, "is unknown here", f"write one of {', '.join(known)}, or remove it")


def keys_at(loc: Sequence[str | int]) -> list[str]:
    """The keys that exist at a pydantic location, which names the kind of a network or program after its key.

    >>> keys_at(("network", "k_ary_tree"))
    ['kind', 'k', 'levels', 'link_latency']
    >>> keys_at(("programs", "jobs", 0, "program", "file"))
    ['kind', 'path']
    """
    models: list[type[BaseModel]] = [Description]
    for part in loc:
        if isinstance(part, int):
            continue  # of a list, whose items are alike
        if len(models) > 1:
            models = [model for model in models if part in get_args(model.model_fields[_KIND].annotation)]
        else:
            models = _models(models[0].model_fields[part].annotation)
    return list(models[0].model_fields)


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Models that a field's annotation names."""
    if get_origin(annotation) in (Union, UnionType, Annotated, list):
        return [model for part in get_args(annotation) for model in _models(part)]
    return [annotation] if isinstance(annotation, type) and issubclass(annotation, BaseModel) else []


_KIND: Final = "kind"
"""Tells networks apart, and programs."""

_TOLD_APART: Final = ("network", "program")
"""Keys behind which pydantic names the kind, too."""


def _place(mistake: Any) -> Place:
    """Where the mistake is; the kind that pydantic names is no key."""
    loc = mistake["loc"]
    return [part for index, part in enumerate(loc) if index == 0 or loc[index - 1] not in _TOLD_APART]
