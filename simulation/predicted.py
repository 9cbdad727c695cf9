"""What links that sleep cost and save between the switches of a network that is simulated, for a program's prediction.

The program's messages are simulated as packets of their mean size, at random times with the program's mean load, to
other nodes at random; what links add is the mean latency with links asleep less that with links awake, same seed. This
takes the place of hops times wake (`analysis.predict.other_networks`): messages of other nodes keep inner links awake,
links of a path sleep each for itself, and packets wait behind each other.

Simplifications: a program's bursts and its matrix are left out (messages arrive as in a Poisson process). A round waits
for a mean message, not for its slowest. A torus is routed in order of dimensions, a tree by destination (DBBM), a
dragonfly minimally, while the paper's torus is adaptive and its dragonfly not minimal. An "n-tree" whose last stage has
half of the switches is simulated as the k-ary n-tree with all: the hops are the same.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np
from eee_engine import network_facts

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.predict.asked_mode import AskedMode
from eee_testbed.analysis.predict.other_networks import InnerLinks
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.topologies import Topology, topologies_named
from eee_testbed.analysis.predict.what_if import WhatIf
from eee_testbed.analysis.programs.profile import Profile
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Description, Links
from eee_testbed.simulation.description_file import read_description
from eee_testbed.simulation.link_times import link_times
from eee_testbed.simulation.point import Point, simulate_point

PHY_MBPS: Final[Mapping[str, float]] = {
    "100BASE-TX": 100, "1000BASE-T": 1_000, "10GBASE-T": 10_000, "andujar-10G": 10_000,
    "25GBASE-R": 25_000, "40GBASE-R": 40_000, "100GBASE-R": 100_000,
}  # fmt: skip
"""Rates of `analysis.predict.what_if.PHYS`; links without a PHY are as fast as the program's."""

_TIMED_DRAWS: Final = 8
"""Simulations with links' times drawn from their intervals; none where the times are a standard's."""

_PARTS: Final = 4
"""Cycles in the shortest time of a link, at least."""

_MOST_FLITS: Final = 8_000
"""Of a packet: buffers hold eight."""

_BATCH_PACKETS: Final = 5
_LEAST_BATCH: Final = 200
_AWAKE_LINKS: Final = Links()
_SIGMAS: Final = 1.96
_LAB: Final = "lab:"


@dataclass(frozen=True, slots=True)
class SimulatedNetwork:
    """A network as predictions count it, and the description that is simulated."""

    topology: Topology
    network: Mapping[str, Any]
    routing: str
    router: Mapping[str, Any]

    def description(self, flits: int, load: float, links: Links = _AWAKE_LINKS) -> Description:
        """Messages of so many flits, to nodes at random, at a load in flits a node and cycle."""
        batch = max(_LEAST_BATCH, ceil(_BATCH_PACKETS * flits / (self.topology.nodes * load)))
        router = {
            "packet_flits": flits,
            "buffer_flits": 8 * flits,
            "switching": "cut_through",
            "traversal_delay": 1,
            "routing_delay": 0,
        }
        return Description.model_validate(
            {
                "name": "predicted",
                "network": self.network,
                "routing": self.routing,
                "router": {**self.router, **router},
                "traffic": {"kind": "uniform_others"},
                "links": links,
                "loads": [load],
                "precision": {"within_percent": 2, "batch_cycles": batch, "most_cycles": 2_000 * batch},
            }
        )


def network_named(name: str) -> tuple[SimulatedNetwork, ...]:
    """Networks to simulate: Andujar's by name, `lab:NAME`, or a simulation's file; LabError names what exists."""
    if name.startswith(_LAB):
        network = {"kind": "lab", "lab": name.removeprefix(_LAB)}
        return (_counted(name, _described(network, "up_down", {"vcs": 2})),)
    if name.endswith((".yaml", ".yml")):
        description = read_description(Path(name))
        return (_counted(description.name, description),)
    return tuple(_of_paper(topology) for topology in topologies_named(name))


def _described(network: Mapping[str, Any], routing: str, router: Mapping[str, Any]) -> Description:
    return Description.model_validate(
        {"name": "predicted", "network": network, "routing": routing, "router": router, "loads": [0.1]}
    )


def _counted(name: str, description: Description) -> SimulatedNetwork:
    """With the ports that are cabled; how many links a path has is left to the simulation."""
    facts = network_facts(description.network.form())
    ports = 2 * facts["links"] + facts["nodes"]
    topology = Topology(name, "other", facts["nodes"], facts["routers"], 0, float("nan"), ports=ports)
    network, router = description.network.model_dump(), description.router.model_dump()
    return SimulatedNetwork(topology, network, description.routing, router)


_NAMES: Final[Sequence[tuple[str, Callable[..., tuple[Mapping[str, Any], str]]]]] = (
    (
        r"torus-([\dx]+)(?:-trunk(\d+))?",
        lambda sides, trunk: (
            {
                "kind": "torus",
                "radix": [int(one) for one in sides.split("x")],
                "concentration": int(trunk or 1),
                "trunk": int(trunk or 1),
            },
            "dor",
        ),
    ),
    (r"fattree-k(\d+)-n(\d+)", lambda k, n: ({"kind": "k_ary_tree", "k": int(k), "levels": int(n)}, "tree_dbbm")),
    (
        r"dragonfly-a(\d+)-h(\d+)-p(\d+)",
        lambda a, h, p: (
            {
                "kind": "dragonfly",
                "concentration": int(p),
                "group": [int(a)],
                "global_links": int(h),
                "groups": int(a) * int(h) + 1,
            },
            "dragonfly_min",
        ),
    ),
)
"""Names of `analysis.predict.topologies` to networks and routings."""


def _of_paper(topology: Topology) -> SimulatedNetwork:
    for pattern, made in _NAMES:
        if match := re.fullmatch(pattern, topology.name):
            network, routing = made(*match.groups())
            return SimulatedNetwork(topology, network, routing, {"vcs": 4})
    raise LabError(f"'{topology.name}' is not simulated: leave --simulated out.")


class Simulator:
    """Answers what sleeping links between switches do, for predictions."""

    def __init__(self, networks: Sequence[SimulatedNetwork]) -> None:
        self._networks = {network.topology.name: network for network in networks}

    def __call__(
        self, where: Topology, profile: Profile, asked: WhatIf, mode: AskedMode, draws: int
    ) -> InnerLinks | None:
        """Draws of the wait of a message and of the shares of low power; None if the network is saturated."""
        network = self._networks[where.name]
        mbps = PHY_MBPS[asked.phy] if asked.phy else profile.link_mbps
        if asked.mode == "coalescing" or np.any(np.asarray(mode.policy.wait_us) > 0):
            raise LabError(f"'{asked.text}': links that coalesce are not simulated: leave --simulated out.")
        sent_byte = _sent_byte(profile)
        if not sent_byte or not profile.message_byte:
            nothing: Floats = np.zeros(draws)
            return InnerLinks(nothing, nothing, nothing)
        message_us = 8 * profile.message_byte / mbps
        every = [link_times(mode, draw) for draw in range(min(_TIMED_DRAWS + 1, draws))]
        if all(one == every[0] for one in every):
            every = every[:1]
        shortest_us = min((one for times in every for one in times.sleepy_us if one > 0), default=message_us)
        cycle_us = max(min(shortest_us / _PARTS, message_us), message_us / _MOST_FLITS)
        load = 8 * sent_byte / (profile.base_s.value * mbps * 1e6)
        if load > 1:
            return None  # more than the nodes' own links carry
        flits = max(1, round(message_us / cycle_us))
        awake = _simulated(network, Links(), flits, load)
        asleep = [_simulated(network, times.links(cycle_us), flits, load) for times in every]
        if any(one.saturated or one.latency is None for one in (awake, *asleep)):
            return None
        return _spread(awake, asleep, cycle_us, draws)


def _sent_byte(profile: Profile) -> float:
    """Bytes that a node sends, in the mean over the program's nodes."""
    if profile.traffic is not None:
        return sum(map(sum, profile.traffic.bytes)) / len(profile.hosts)
    return profile.call_count * profile.message_byte


def _simulated(network: SimulatedNetwork, links: Links, flits: int, load: float) -> Point:
    return simulate_point(network.description(flits, load, links), load, 1)


def _spread(awake: Point, asleep: Sequence[Point], cycle_us: float, draws: int) -> InnerLinks:
    """Values with the simulation's error and the spread of the times' draws, as normal draws that are never below 0."""
    first = asleep[0]
    waits = np.array([(point.latency or 0.0) - (awake.latency or 0.0) for point in asleep]) * cycle_us
    own_us = np.hypot(first.latency_half_width or 0.0, awake.latency_half_width or 0.0) / _SIGMAS * cycle_us
    normal = Sampler(draws).normal("simulated")
    normal[0] = 0.0

    def drawn(values: Floats, error: float) -> Floats:
        spread = float(np.std(values, ddof=1)) if values.size > 1 else 0.0
        waits_us: Floats = np.maximum(values[0] + normal * np.hypot(spread, error), 0.0)
        return waits_us

    deep = np.array([point.shares.quiet + point.shares.refresh for point in asleep])
    fast = np.array([point.shares.fast for point in asleep])
    return InnerLinks(drawn(waits, float(own_us)), np.minimum(drawn(deep, 0.0), 1.0), np.minimum(drawn(fast, 0.0), 1.0))
