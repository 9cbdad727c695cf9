"""Design the experiments that measure a whole lab, from its inventory, as files that a user may edit.

There are four. Echoes after pauses, for the EEE policy of the links of two hosts at one switch and of a third host at
another switch (Miwa 2013, section 5.1). An Alltoall with pauses, with EEE on and off (section 5.2). Power of a switch
by stages of its ports (base, shut, enabled, link, traffic). Links that the network can spare, on and off (Koibuchi
2011, section V).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from controller.drivers.table import driver_of
from controller.planning.regulate import joined
from lab.errors import LabError
from lab.model import Lab, Link
from lab.topology import Topology

Content = Mapping[str, Any]
"""The content of an experiment's file."""

_MOST_HOSTS: Final = 4
_MOST_SPARE: Final = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured. Gaps in microseconds, windows in seconds; `stages` of the metered ports.

    `load_shares`: loads of the slowest host's line rate, for the power of traffic.
    """

    echoes: int
    gap_us: tuple[int, int]
    probe_blocks: int
    program_hosts: int
    sleeps_us: tuple[int, ...]
    arrays_byte: tuple[int, ...]
    iterations: int
    program_blocks: int
    stages: tuple[str, ...]
    window_s: int
    settle_s: int
    power_blocks: int
    link_blocks: int
    load_shares: tuple[float, ...]


QUICK: Final = Effort(
    echoes=1_200,
    gap_us=(100, 4_000),
    probe_blocks=1,
    program_hosts=2,  # more ranks would compete for the processors of a small machine that runs the twin
    sleeps_us=(0, 250, 500, 750, 1_000, 1_500, 2_000, 3_000),
    arrays_byte=(1_024,),
    iterations=200,
    program_blocks=1,
    stages=("off", "on"),
    window_s=4,
    settle_s=3,
    power_blocks=3,
    link_blocks=1,
    load_shares=(0.1,),  # more would take a small machine that runs the twin all of its processors
)
"""Takes a few minutes: each measurement once, with wide intervals."""

FULL: Final = Effort(
    echoes=4_000,
    gap_us=(50, 10_000),
    probe_blocks=3,
    program_hosts=4,
    sleeps_us=(0, 100, 200, 500, 1_000, 2_000),
    arrays_byte=(256, 4_096, 131_072),
    iterations=2_000,
    program_blocks=5,
    stages=("off", "half", "on"),
    window_s=60,
    settle_s=15,
    power_blocks=5,
    link_blocks=5,
    load_shares=(0.45, 0.9),  # two rates tell bits from what a port draws once it carries traffic
)
"""Takes a night."""


@dataclass(frozen=True, slots=True)
class Design:
    """Experiments in order, and in sentences what cannot be measured in this lab."""

    experiments: tuple[Content, ...]
    left_out: tuple[str, ...]


def design(lab: Lab, effort: Effort, agent_user: str = "", hosts: Sequence[str] = ()) -> Design:
    """The experiments for a lab; LabError if fewer than two hosts are at switches with EEE.

    `hosts` take part in this order; default: up to four, the first two at one switch.
    `agent_user` runs agents on nodes, if not the inventory's user.
    """
    topology = Topology.of(lab)
    chosen = tuple(hosts) or _chosen(lab, topology)
    unknown = [name for name in chosen if name not in topology.hosts]
    if unknown:
        raise LabError(
            f"lab {lab.name} has no host {unknown[0]} with a cable: use some of {', '.join(topology.hosts)}."
        )
    if len(chosen) < 2:
        raise LabError(
            f"lab {lab.name} has fewer than two hosts at switches with EEE: add hosts to the inventory, or name them."
        )
    programs = chosen[: effort.program_hosts]
    made = [_probes(lab, effort, chosen, agent_user), _alltoall(lab, effort, programs, agent_user)]
    left_out = []
    spare = _spare(lab, topology)
    fed = {outlet.feeds for outlet in lab.outlets}
    metered = [name for name in _switches_of(spare) if name in fed]
    if not spare:
        left_out.append("the network can spare no link between switches, so none is switched off.")
    else:
        made.append(_links_off(lab, effort, programs, spare))
    if spare and metered:
        made.append(_power(lab, effort, _at(spare, metered[0]), metered[0], chosen[:_MOST_HOSTS]))
    else:
        left_out.append("no switch with a spare link is fed by a metered outlet, so no power model is fitted.")
    return Design(tuple(made), tuple(left_out))


def _chosen(lab: Lab, topology: Topology) -> tuple[str, ...]:
    """Two hosts of the first switch that has two, then one of each other switch, then any, all with EEE."""
    with_eee = [name for name in topology.switches if _has_eee(lab, name)]
    at = {name: topology.residents[name] for name in with_eee if topology.residents[name]}
    first = next((name for name, residents in at.items() if len(residents) > 1), next(iter(at), ""))
    elsewhere = (residents[0] for name, residents in at.items() if name != first)
    all_residents = (host for residents in at.values() for host in residents)
    return tuple(dict.fromkeys((*at.get(first, ())[:2], *elsewhere, *all_residents)))[:_MOST_HOSTS]


def _has_eee(lab: Lab, switch: str) -> bool:
    return driver_of(lab.switch(switch)).capabilities.eee_settable


def _spare(lab: Lab, topology: Topology) -> tuple[Link, ...]:
    """A few switchable trunks without which all hosts stay connected: the last of parallel trunks first."""
    last: dict[frozenset[str], Link] = {}
    count: dict[frozenset[str], int] = {}
    for link in topology.trunks.values():
        pair = frozenset((link.a.device, link.b.device))
        count[pair] = count.get(pair, 0) + 1
        if link.switchable and all(_has_eee(lab, end.device) for end in (link.a, link.b)):
            last[pair] = link
    candidates = sorted(last.values(), key=lambda link: count[frozenset((link.a.device, link.b.device))] < 2)
    found: list[Link] = []
    for link in candidates:
        off = {one.number for one in (*found, link)}
        if len(found) < _MOST_SPARE and joined(topology, topology.trunks.keys() - off):
            found.append(link)
    return tuple(found)


def _switches_of(links: Sequence[Link]) -> tuple[str, ...]:
    """The switches of these links, the one with most of them first."""
    ends = [end.device for link in links for end in (link.a, link.b)]
    return tuple(sorted(dict.fromkeys(ends), key=lambda name: -ends.count(name)))


def _at(links: Sequence[Link], switch: str) -> tuple[Link, ...]:
    return tuple(link for link in links if switch in (link.a.device, link.b.device))


def _between(lab: Lab, hosts: Sequence[str]) -> tuple[Link, ...]:
    """Trunks between the switches of hosts: EEE off then covers the whole path, where it is a direct one."""
    topology = Topology.of(lab)
    homes = {topology.homes[host].device for host in hosts}
    return tuple(link for link in topology.trunks.values() if {link.a.device, link.b.device} <= homes)


def _names(links: Sequence[Link]) -> list[str]:
    return [str(link.a) for link in links]


def _experiment(lab: Lab, name: str, about: str, slow: Collection[str], **rest: Any) -> Content:
    return {"name": name, "about": about, "lab": lab.folder, "slow": list(slow), **rest}


def _probes(lab: Lab, effort: Effort, hosts: Sequence[str], agent_user: str) -> Content:
    targets = list(hosts[1:3])
    links = [hosts[0], *targets, *_names(_between(lab, (hosts[0], *targets)))]
    return _experiment(
        lab,
        "probe-sweep",
        "Round-trip time by the pause before it, with EEE on and off.",
        ["eee"],
        factors={"eee": {"links": links, "levels": ["on", "off"]}, "to": targets},
        measure={
            "probe": {"from": hosts[0], "to": targets[0], "count": effort.echoes, "draw": "uniform"}
            | {"gap_us": list(effort.gap_us)}
        },
        blocks=effort.probe_blocks,
        sampling={"lpi_period_s": 0},
        recordings={"user": agent_user},
    )


def _alltoall(lab: Lab, effort: Effort, hosts: Sequence[str], agent_user: str) -> Content:
    factors = {
        "eee": {"links": [*hosts, *_names(_between(lab, hosts))], "levels": ["on", "off"]},
        "sleep_us": list(effort.sleeps_us),
        "array_byte": list(effort.arrays_byte),
    }
    return _experiment(
        lab,
        "alltoall-eee",
        "Run time by the mean gap between calls, with EEE on and off.",
        ["eee"],
        factors=factors,
        measure={"program": _program(effort, hosts, {})},
        blocks=effort.program_blocks,
        recordings={"gaps": True, "traffic": True, "user": agent_user},
    )


def _program(effort: Effort, hosts: Sequence[str], more: Content) -> Content:
    parameters = {"iterations": effort.iterations, "warm_up_iterations": max(10, effort.iterations // 10), **more}
    return {"name": "alltoall", "parameters": parameters, "hosts": list(hosts), "timeout_s": 600}


def _links_off(lab: Lab, effort: Effort, hosts: Sequence[str], spare: Sequence[Link]) -> Content:
    return _experiment(
        lab,
        "links-off",
        "Alltoall over all links, and with the spare links off.",
        ["link"],
        factors={
            "link": {"links": _names(spare), "levels": ["on", "off"]},
            "array_byte": [max(effort.arrays_byte)],
        },
        measure={"program": _program(effort, hosts, {"sleep_us": 0})},
        blocks=effort.link_blocks,
    )


def _power(lab: Lab, effort: Effort, spare: Sequence[Link], switch: str, hosts: Sequence[str]) -> Content:
    """Load runs with EEE off on its whole path: else most switches do not say for how long ports slept meanwhile."""
    links = _names(spare)
    on_path = list(dict.fromkeys((*links, *hosts, *_names(_between(lab, hosts)))))
    rate_mbps = min(lab.host(name).rate_mbps for name in hosts)
    loads = [round(share * rate_mbps) for share in effort.load_shares]
    return _experiment(
        lab,
        "power-staged",
        f"Power of {switch} by stages of its ports, for P_base, P_port, EEE's share and the energy of traffic.",
        ["link", "eee"],
        factors={
            "link": {"links": links, "levels": list(effort.stages)},
            "eee": {"links": on_path, "levels": ["on", "off"]},
            "load_mbps": [0, *loads],
        },
        measure={"power": {"window_s": effort.window_s, "settle_s": effort.settle_s, "hosts": list(hosts)}},
        skip=[
            *({"link": stage, "eee": "off"} for stage in effort.stages if stage != "on"),
            *({"link": stage, "load_mbps": load} for stage in effort.stages if stage != "on" for load in loads),
            *({"eee": "on", "load_mbps": load} for load in loads),
        ],
        blocks=effort.power_blocks,
        sampling={"lpi_period_s": 5},
    )
