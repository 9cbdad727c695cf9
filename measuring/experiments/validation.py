"""Validate an experiment against its lab and its program; resolve its levels to links, programs and probes."""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from eee_testbed.benchmarks.program import Launch, Parameters, Placement, Program, Unfit
from eee_testbed.benchmarks.table import PROGRAMS
from eee_testbed.controller.drivers.table import capabilities_of
from eee_testbed.controller.model.state import factory_state
from eee_testbed.controller.planning.limits import abilities_of
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.wishes import Eee
from eee_testbed.lab.errors import ExperimentError, NotExpressible, PlanError, Problem
from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.named_links import link_named, trunk_named
from eee_testbed.lab.yaml_source import YamlSource
from eee_testbed.measuring.experiments.blocks import Levels, Slot, order_of
from eee_testbed.measuring.experiments.experiment import OF_LINKS, Experiment, Factor, ProbeRun

_SHOWN: Final = 12


def order_for(experiment: Experiment) -> tuple[Slot, ...]:
    """The experiment's slots, in order."""
    return order_of(
        {name: factor.levels for name, factor in experiment.factors.items()},
        blocks=experiment.blocks,
        repetitions=experiment.repetitions,
        seed=experiment.seed,
        slow=experiment.slow,
        skip=experiment.skip,
    )


def links_of(lab: Lab, factor: Factor) -> tuple[Link, ...]:
    """The links that a factor changes; PlanError names one that does not exist or that this kind cannot change."""
    if factor.kind == "regulation":
        return ()  # its choices name trees and trunks of the whole lab
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
        return trunk_named(lab, name)
    return link_named(lab, name)


def validate_experiment(experiment: Experiment, lab: Lab, source: YamlSource) -> None:
    """Raise ExperimentError with everything that does not match the lab or the program."""
    problems = [problem for check in (_of_hosts, _of_meters, _of_links) for problem in check(experiment, lab, source)]
    if not problems:
        problems += _of_parameters(experiment, source)
    if not order_for(experiment):
        problems.append(source.problem(("skip",), "skips every trial", "skip fewer combinations"))
    if problems:
        raise ExperimentError(problems)


def _of_hosts(experiment: Experiment, lab: Lab, source: YamlSource) -> Iterator[Problem]:
    known = [host.name for host in lab.hosts]
    listed = f"lab {lab.name} has {', '.join(known[:_SHOWN])}{', ...' if len(known) > _SHOWN else ''}"
    what, names = experiment.measure.what, experiment.measure.hosts
    inner = ("from", "to") if what == "probe" else tuple(("hosts", n) for n in range(len(names)))
    for within, name in zip(inner, names, strict=True):
        if name not in known:
            place = ("measure", what, *((within,) if isinstance(within, str) else within))
            yield source.problem(place, f"unknown host {name}", listed)
    probe = experiment.measure.probe
    if probe is not None and probe.stream_from and probe.stream_from not in known:
        yield source.problem(("measure", "probe", "stream_from"), f"unknown host {probe.stream_from}", listed)
    if len(set(names)) < len(names):
        remedy = "list each host once; use ranks_per_host for more ranks"
        yield source.problem(("measure", what), "a host is listed twice", remedy)
    for name, factor in experiment.of_kind("host_count").items():
        for level in factor.levels:
            if isinstance(level, int) and level > len(names):
                remedy = f"measure.program.hosts lists {len(names)}"
                yield source.problem(("factors", name), f"{level} hosts are not available", remedy)


def _of_meters(experiment: Experiment, lab: Lab, source: YamlSource) -> Iterator[Problem]:
    devices = {*(host.name for host in lab.hosts), *(switch.name for switch in lab.switches)}
    fed = {outlet.feeds for outlet in lab.outlets}
    for n, name in enumerate(experiment.expect.meters):
        if name not in devices:
            yield source.problem(("expect", "meters", n), f"unknown device {name}", "name a switch or a host")
        elif name not in fed:
            yield source.problem(("expect", "meters", n), f"no metered outlet feeds {name}", "see outlets.csv")


def _of_links(experiment: Experiment, lab: Lab, source: YamlSource) -> Iterator[Problem]:
    for name, factor in experiment.of_kind(*OF_LINKS).items():
        try:
            links = links_of(lab, factor)
        except PlanError as error:
            sentence, _, remedy = str(error).rstrip(".").partition(": ")
            yield source.problem(("factors", name, "links"), sentence, remedy or "correct it")
            continue
        if not links:
            yield source.problem(("factors", name, "links"), "selects no link", "name links, see cables.csv")
        trunks = set(lab.trunks())
        if factor.kind in ("link", "speed_mbps") and not trunks.issuperset(links):
            sentence = "a host is reachable over its own link only"
            yield source.problem(("factors", name, "links"), sentence, "name links between switches, or use trunks")
        elif factor.kind in ("eee", "hold_us"):
            yield from _of_abilities(lab, source, name, factor, links)


def _of_abilities(
    lab: Lab, source: YamlSource, name: str, factor: Factor, links: tuple[Link, ...]
) -> Iterator[Problem]:
    """Whether the switch families support the setting. Other obstacles depend on the lab's state at that time."""
    abilities, hold_us = abilities_of(lab, capabilities_of), 1 if factor.kind == "hold_us" else None
    try:
        names = tuple(link.name for link in links)
        plan_for(Site(lab, None, abilities), factory_state(lab), Eee(names, on=True, hold_us=hold_us, may_flap=True))
    except NotExpressible as error:
        sentence = f"{error.switch} is a {error.family}, which does not support {error.feature}"
        yield source.problem(("factors", name, "links"), sentence, "name other links")
    except PlanError:
        return


def _of_parameters(experiment: Experiment, source: YamlSource) -> Iterator[Problem]:
    measure = experiment.measure
    if measure.window is not None:
        for name in experiment.of_kind("parameter"):
            yield source.problem(("factors", name), "is a program parameter, but a window has none", "give its `kind`")
        return
    if measure.program is not None and measure.program.name not in PROGRAMS:
        sentence, remedy = f"unknown program {measure.program.name}", f"known programs: {', '.join(PROGRAMS)}"
        yield source.problem(("measure", "program", "name"), sentence, remedy)
        return
    problems: dict[str, Problem] = {}
    for slot in order_for(experiment):
        try:
            if measure.program is not None:
                program_of(experiment, slot.levels)
            else:
                probe_of(experiment, slot.levels)
        except ValidationError as error:
            for found in error.errors():
                key = str(found["loc"][0]) if found["loc"] else ""
                problems.setdefault(key, _of_parameter(experiment, source, key, found))
        except Unfit as error:
            sentence, _, remedy = str(error).rstrip(".").partition(": ")
            problems.setdefault("", source.problem(("measure", "program"), sentence, remedy or "correct it"))
    yield from problems.values()


def _of_parameter(experiment: Experiment, source: YamlSource, key: str, found: Any) -> Problem:
    run = experiment.measure.program
    place: list[str] = ["factors", key]
    if key not in experiment.factors:
        inner = ["parameters"] if run is not None else []
        place = ["measure", experiment.measure.what, *inner, *([key] if key else [])]
    if found["type"] == "extra_forbidden":
        known = PROGRAMS[run.name].parameters.model_fields if run is not None else ProbeRun.model_fields
        return source.problem(
            place, "is not a parameter of the program or probe", f"known parameters: {', '.join(known)}"
        )
    if found["type"] == "missing":
        return source.problem(place, "has no value", "set it in parameters, or make it a factor")
    sentence, _, remedy = found["msg"].removeprefix("Value error, ").partition(": ")
    return source.problem(place, f"{sentence} (found {found['input']!r})", remedy or "correct it")


def program_of(experiment: Experiment, levels: Levels) -> tuple[Program, Parameters, Placement]:
    """What to launch at these levels. KeyError, ValidationError or Unfit if that is impossible."""
    run = experiment.measure.program
    if run is None:
        raise AssertionError("the experiment measures no program")
    program = PROGRAMS[run.name]
    parameters = program.parameters.model_validate({**run.parameters, **_own(experiment, levels)})
    count, ranks_each = len(run.hosts), run.ranks_per_host
    for name, factor in experiment.factors.items():
        if factor.kind == "host_count":
            count = int(levels[name])
        elif factor.kind == "ranks_per_host":
            ranks_each = int(levels[name])
    placement = Placement(run.hosts[:count], ranks_each)
    program.launch(parameters, placement)
    return program, parameters, placement


def first_launch(experiment: Experiment) -> Launch:
    """What the first trial launches; the errors of `program_of`."""
    program, parameters, placement = program_of(experiment, order_for(experiment)[0].levels)
    return program.launch(parameters, placement)


def probe_of(experiment: Experiment, levels: Levels) -> ProbeRun:
    """The probe to run at these levels; ValidationError if that is impossible."""
    run = experiment.measure.probe
    if run is None:
        raise AssertionError("the experiment measures no probe")
    return ProbeRun.model_validate({**run.model_dump(by_alias=True), **_own(experiment, levels)})


def _own(experiment: Experiment, levels: Levels) -> dict[str, Any]:
    return {name: levels[name] for name in experiment.of_kind("parameter")}
