"""Whether an experiment fits its lab and its program, and what its levels then mean: links, programs, probes."""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from benchmarks.program import Parameters, Placement, Program, Unfit
from benchmarks.table import PROGRAMS
from controller.drivers.table import capabilities_of
from controller.experiments.blocks import Levels, Slot, order_of
from controller.experiments.experiment import OF_LINKS, Experiment, Factor, ProbeRun
from controller.experiments.experiment_file import ExperimentSource
from controller.model.state import factory_state
from controller.planning.limits import abilities_of
from controller.planning.regulate import eee
from controller.planning.routing_options import find_trunk
from lab.errors import ExperimentError, NotExpressible, PlanError, Problem
from lab.model import Lab, Link

_SHOWN: Final = 12


def order_for(experiment: Experiment) -> tuple[Slot, ...]:
    """The experiment's slots."""
    return order_of(
        {name: factor.levels for name, factor in experiment.factors.items()},
        blocks=experiment.blocks,
        repetitions=experiment.repetitions,
        seed=experiment.seed,
        slow=experiment.slow,
        skip=experiment.skip,
    )


def links_of(lab: Lab, factor: Factor) -> tuple[Link, ...]:
    """The links that a factor changes; PlanError names one that does not exist or cannot be changed so."""
    trunks = tuple(lab.trunks())
    if factor.links == "trunks":
        return trunks if factor.kind != "link" else tuple(link for link in trunks if link.switchable)
    if factor.links == "hosts":
        hosts = {host.name for host in lab.hosts}
        return tuple(link for link in lab.links if {link.a.device, link.b.device} & hosts)
    if factor.links == "all":
        return lab.links
    return tuple(_link(lab, str(name), factor) for name in factor.links)


def _link(lab: Lab, name: str, factor: Factor) -> Link:
    if factor.kind in ("link", "speed_mbps"):
        return find_trunk(lab, name)
    try:
        return lab.find_link(name)
    except KeyError:
        raise PlanError(f"no link '{name}': name one by its number, an end such as sw1:gi1/0/11, or a host.") from None


def validate_experiment(experiment: Experiment, lab: Lab, source: ExperimentSource) -> None:
    """ExperimentError tells all that does not go together with the lab or with the program."""
    problems = [judge for of in (_of_hosts, _of_meters, _of_links) for judge in of(experiment, lab, source)]
    if not problems:
        problems += _of_parameters(experiment, source)
    if not order_for(experiment):
        problems.append(source.problem(("skip",), "leaves no trial", "skip less"))
    if problems:
        raise ExperimentError(problems)


def _of_hosts(experiment: Experiment, lab: Lab, source: ExperimentSource) -> Iterator[Problem]:
    known = [host.name for host in lab.hosts]
    listed = f"lab {lab.name} has {', '.join(known[:_SHOWN])}{', ...' if len(known) > _SHOWN else ''}"
    what, names = experiment.measure.what, experiment.measure.hosts
    inner = ("from", "to") if what == "probe" else tuple(("hosts", n) for n in range(len(names)))
    for within, name in zip(inner, names, strict=True):
        if name not in known:
            place = ("measure", what, *((within,) if isinstance(within, str) else within))
            yield source.problem(place, f"there is no host {name}", listed)
    if len(set(names)) < len(names):
        remedy = "name each once; ranks_per_host gives it more ranks"
        yield source.problem(("measure", what), "a host stands there twice", remedy)
    for name, factor in experiment.of_kind("host_count").items():
        for level in factor.levels:
            if isinstance(level, int) and level > len(names):
                remedy = f"measure.program.hosts lists {len(names)}"
                yield source.problem(("factors", name), f"there are no {level} hosts", remedy)


def _of_meters(experiment: Experiment, lab: Lab, source: ExperimentSource) -> Iterator[Problem]:
    devices = {*(host.name for host in lab.hosts), *(switch.name for switch in lab.switches)}
    fed = {outlet.feeds for outlet in lab.outlets}
    for n, name in enumerate(experiment.expect.meters):
        if name not in devices:
            yield source.problem(("expect", "meters", n), f"there is no device {name}", "name a switch or a host")
        elif name not in fed:
            yield source.problem(("expect", "meters", n), f"no meter feeds {name}", "see outlets.csv")


def _of_links(experiment: Experiment, lab: Lab, source: ExperimentSource) -> Iterator[Problem]:
    for name, factor in experiment.of_kind(*OF_LINKS).items():
        try:
            links = links_of(lab, factor)
        except PlanError as error:
            sentence, _, remedy = str(error).rstrip(".").partition(": ")
            yield source.problem(("factors", name, "links"), sentence, remedy or "correct it")
            continue
        if not links:
            yield source.problem(("factors", name, "links"), "no link is meant", "name links, see cables.csv")
        trunks = set(lab.trunks())
        if factor.kind in ("link", "speed_mbps") and not trunks.issuperset(links):
            sentence = "a host has no other way than its own link"
            yield source.problem(("factors", name, "links"), sentence, "name links between switches, or write trunks")
        elif factor.kind in ("eee", "hold_us"):
            yield from _of_abilities(lab, source, name, factor, links)


def _of_abilities(
    lab: Lab, source: ExperimentSource, name: str, factor: Factor, links: tuple[Link, ...]
) -> Iterator[Problem]:
    """Whether the switches can say it; what else is in the way depends on what the lab is then."""
    abilities, hold_us = abilities_of(lab, capabilities_of), 1 if factor.kind == "hold_us" else None
    try:
        eee(lab, factory_state(lab), links, on=True, hold_us=hold_us, may_flap=True, abilities=abilities)
    except NotExpressible as error:
        sentence = f"{error.switch} is a {error.family}, which cannot do {error.feature}"
        yield source.problem(("factors", name, "links"), sentence, "name other links")
    except PlanError:
        return


def _of_parameters(experiment: Experiment, source: ExperimentSource) -> Iterator[Problem]:
    measure = experiment.measure
    if measure.window is not None:
        for name in experiment.of_kind("parameter"):
            yield source.problem(("factors", name), "is a parameter, and a window has none", "say its `kind`")
        return
    if measure.program is not None and measure.program.name not in PROGRAMS:
        sentence, remedy = f"there is no program {measure.program.name}", f"known are {', '.join(PROGRAMS)}"
        yield source.problem(("measure", "program", "name"), sentence, remedy)
        return
    told: dict[str, Problem] = {}
    for slot in order_for(experiment):
        try:
            if measure.program is not None:
                program_of(experiment, slot.levels)
            else:
                probe_of(experiment, slot.levels)
        except ValidationError as error:
            for found in error.errors():
                key = str(found["loc"][0]) if found["loc"] else ""
                told.setdefault(key, _of_parameter(experiment, source, key, found))
        except Unfit as error:
            sentence, _, remedy = str(error).rstrip(".").partition(": ")
            told.setdefault("", source.problem(("measure", "program"), sentence, remedy or "correct it"))
    yield from told.values()


def _of_parameter(experiment: Experiment, source: ExperimentSource, key: str, found: Any) -> Problem:
    run = experiment.measure.program
    place: list[str] = ["factors", key]
    if key not in experiment.factors:
        inner = ["parameters"] if run is not None else []
        place = ["measure", experiment.measure.what, *inner, *([key] if key else [])]
    if found["type"] == "extra_forbidden":
        known = PROGRAMS[run.name].parameters.model_fields if run is not None else ProbeRun.model_fields
        return source.problem(place, "is no parameter of what is measured", f"known are {', '.join(known)}")
    if found["type"] == "missing":
        return source.problem(place, "has no value", "give one in parameters, or make it a factor")
    said, _, remedy = found["msg"].removeprefix("Value error, ").partition(": ")
    return source.problem(place, f"{said} (found {found['input']!r})", remedy or "correct it")


def program_of(experiment: Experiment, levels: Levels) -> tuple[Program, Parameters, Placement]:
    """What is launched at these levels. KeyError, ValidationError or Unfit if that cannot be."""
    run = experiment.measure.program
    if run is None:
        raise AssertionError("a program is measured")
    program = PROGRAMS[run.name]
    parameters = program.parameters.model_validate({**run.parameters, **_own(experiment, levels)})
    count, each = len(run.hosts), run.ranks_per_host
    for name, factor in experiment.factors.items():
        if factor.kind == "host_count":
            count = int(levels[name])
        elif factor.kind == "ranks_per_host":
            each = int(levels[name])
    placement = Placement(run.hosts[:count], each)
    program.launch(parameters, placement)
    return program, parameters, placement


def probe_of(experiment: Experiment, levels: Levels) -> ProbeRun:
    """What is probed at these levels; ValidationError if that cannot be."""
    run = experiment.measure.probe
    if run is None:
        raise AssertionError("a probe is measured")
    return ProbeRun.model_validate({**run.model_dump(by_alias=True), **_own(experiment, levels)})


def _own(experiment: Experiment, levels: Levels) -> dict[str, Any]:
    return {name: levels[name] for name in experiment.of_kind("parameter")}
