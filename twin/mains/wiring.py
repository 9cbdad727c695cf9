"""Builds the electrical side of a lab from its inventory, its truth and the rack's engine ids."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.twin.mains.entity_sensor import PowerSensor
from eee_testbed.twin.mains.mains import Mains
from eee_testbed.twin.power.loads import Loads, NodeLoad, PortReader, SwitchLoad
from eee_testbed.twin.strips import FAMILIES, Strip
from eee_testbed.twin.strips.mib import Agent
from eee_testbed.twin.truth.truth import Truth


@dataclass(frozen=True, slots=True)
class RackedSwitch:
    """What the rack knows of a switch: its physical ports' engine ids, and whether it is booting."""

    ports: Sequence[int]
    booting: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class RackedNode:
    """What the rack knows of a node: its data NIC's engine id, and the CPU seconds its cgroup has used."""

    nic: int
    cpu_s: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Racked:
    """Switches and nodes by name, and cables as pairs of engine port ids."""

    switches: Mapping[str, RackedSwitch]
    nodes: Mapping[str, RackedNode]
    cables: Sequence[tuple[int, int]]


def wire(
    lab: Lab,
    truth: Truth,
    engine: PortReader,
    racked: Racked,
    *,
    clock_s: Callable[[], float],
    on_power: Callable[[str, bool], None],
    wake: Callable[[float], None],
) -> tuple[Mains, dict[str, Strip]]:
    """Build loads, strips and mains; LabError for a family, model, outlet or override that does not exist.

    `clock_s` counts seconds since the lab's start. Each strip then needs an agent: make one with
    `on_set=strip.on_set`, and call `strip.bind(agent)`.
    """
    unknown = truth.unknown_overrides(
        switches={switch.name for switch in lab.switches},
        nodes={host.name for host in lab.hosts},
        strips={strip.name for strip in lab.strips},
    )
    if unknown:
        raise LabError(
            f"twin/truth.yaml: {unknown[0]} names a device that this lab does not have; correct the name or remove it"
        )
    loads: list[SwitchLoad | NodeLoad] = []
    for switch in lab.switches:
        known_switch = racked.switches[switch.name]
        power = truth.switch(switch.name, switch.family).power
        loads.append(SwitchLoad(switch.name, power, tuple(known_switch.ports), known_switch.booting))
    for host in lab.hosts:
        node = racked.nodes[host.name]
        loads.append(NodeLoad(host.name, truth.node(host.name).power, node.nic, node.cpu_s))
    strips = {}
    for entry in lab.strips:
        if entry.family not in FAMILIES:
            raise LabError(
                f"{entry.name} is a {entry.family}, which has no twin (these have: {', '.join(FAMILIES)}): "
                "bring up a lab of those, or use this one with its real strips."
            )
        family = FAMILIES[entry.family]
        model = family.model(entry.model)
        if model.outlet_count != entry.outlet_count:
            raise LabError(
                f"hosts.yml: {entry.name} has {entry.outlet_count} outlets, but model {model.name} has "
                f"{model.outlet_count}; correct one of them"
            )
        strip_truth = truth.strip(entry.name, entry.family)
        strips[entry.name] = Strip(entry.name, family, model, strip_truth, seed=truth.seed, clock_s=clock_s)
    feeds = {(outlet.strip, outlet.number): outlet.feeds for outlet in lab.outlets}
    sampled = Loads(engine, loads, cables=racked.cables, seed=truth.seed)
    return Mains(sampled, list(strips.values()), feeds, on_power=on_power, wake=wake), strips


def wire_sensors(
    mains: Mains,
    lab: Lab,
    truth: Truth,
    *,
    agents: Mapping[str, Agent],
    uptime_s: Mapping[str, Callable[[], float]],
) -> None:
    """Show the power sensor of each switch that has one in its truth; mappings are by switch name."""
    for switch in lab.switches:
        sensor_truth = truth.switch(switch.name, switch.family).power_sensor
        if sensor_truth is not None:
            sensor = PowerSensor(switch.name, sensor_truth, seed=truth.seed)
            mains.add_sensor(switch.name, sensor, agents[switch.name], uptime_s[switch.name])
