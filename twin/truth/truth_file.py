"""Reads a lab's ``twin/truth.yaml``: all mistakes in it are reported together, each with line, key and remedy."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from eee_testbed.lab.errors import InventoryError, Problem, UnreadableFile
from eee_testbed.lab.model import Lab
from eee_testbed.lab.untrusted_files import parse_yaml, read_text
from eee_testbed.lab.yaml_source import YamlSource, plain
from eee_testbed.twin.truth.truth import NodeTruth, StripTruth, SwitchTruth, Truth, overridden

_REMEDY: Final = "correct it: a virtual lab needs its twin/truth.yaml, as UTF-8"


def load_truth(path: Path) -> Truth:
    """Read a truth file and validate every override; InventoryError holds every mistake found."""
    source = _source(path)
    try:
        truth = Truth.model_validate(plain(source.content))
    except ValidationError as error:
        raise InventoryError(_mistakes(source, (), error)) from error
    if problems := [*_of_overrides(source, truth)]:
        raise InventoryError(problems)
    return truth


def unknown_overrides(path: Path, truth: Truth, lab: Lab) -> list[Problem]:
    """A mistake for each override that names no device of the lab."""
    keys = truth.unknown_overrides(
        switches={switch.name for switch in lab.switches},
        nodes={host.name for host in lab.hosts},
        strips={strip.name for strip in lab.strips},
    )
    source = _source(path)
    remedy = "correct or remove it"
    return [source.problem(key.split("."), "names no device of hosts.yml", remedy) for key in keys]


def lacks_family(path: Path, truth: Truth, family: str) -> Problem:
    """The mistake that a family of the lab's switches has no section."""
    has = ", ".join(sorted(truth.switches.families)) or "none"
    return _source(path).problem(("switches", "families"), f"has {has}, and not {family}", f"add {family}")


def _source(path: Path) -> YamlSource:
    try:
        source = YamlSource(str(path), parse_yaml(read_text(path, _REMEDY), str(path), _REMEDY, round_trip=True))
    except UnreadableFile as error:
        raise InventoryError([Problem(str(path), error.line, "", error.sentence, error.remedy)]) from error
    if not isinstance(source.content, Mapping):
        remedy = "write a mapping with the keys seed, switches, nodes and strips"
        raise InventoryError([source.problem((), "is no mapping", remedy)])
    return source


def _of_overrides(source: YamlSource, truth: Truth) -> Iterator[Problem]:
    """Mistakes that show when an override is merged; of a switch's for the first family that it does not fit."""
    for name, override in truth.switches.overrides.items():
        place = ("switches", "overrides", name)
        overrides = (_merge(source, place, family, override) for family in truth.switches.families.values())
        yield from next(filter(None, overrides), [])
    for name, override in truth.nodes.overrides.items():
        yield from _merge(source, ("nodes", "overrides", name), truth.nodes.defaults, override)
    for name, override in truth.strips.overrides.items():
        yield from _merge(source, ("strips", "overrides", name), StripTruth(), override)


def _merge(
    source: YamlSource,
    place: tuple[str, ...],
    default: SwitchTruth | NodeTruth | StripTruth,
    override: Mapping[str, object],
) -> list[Problem]:
    try:
        overridden(default, override)
    except ValidationError as error:
        return _mistakes(source, place, error)
    return []


def _mistakes(source: YamlSource, place: tuple[str, ...], error: ValidationError) -> list[Problem]:
    return [source.mistake((*place, *problem["loc"]), problem) for problem in error.errors()]
