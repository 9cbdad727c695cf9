"""Design the experiments of a study from a lab's inventory, as files that a user may edit.

The pilot has five. Echoes after pauses, for the EEE policy of the links of two hosts at one switch (Miwa 2013, section
5.1). The same over a trunk, with EEE at switches' ports alone: without it echoes hardly say which times are the ports'
and which the cards'. Power of switches by stages of their ports (shut, link, asleep), while these echoes are fitted.
An Alltoall with pauses that keep from what was fitted, or any program that is named, with EEE on and off (section 5.2).
The same with links that the network can spare on and off (Koibuchi 2011, section V). The study then extends them block
by block (`decide.py`), and adds echoes with gaps near the edges of the policies that it found (`edges`), echoes beside
a stream that keeps ports awake where it is open which times are theirs (`cards_alone`), and power under load
(`traffic`).
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eee_testbed.analysis.interval import Interval
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.planning.regulate import joined
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.topology import Topology

Content = Mapping[str, Any]
"""The content of an experiment's file."""

_MOST_HOSTS: Final = 4
_SPARE_AT_EACH: Final = 1


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured. Gaps in microseconds, windows in seconds; `stages` of the metered ports."""

    echoes: int
    gap_us: tuple[int, int]
    probe_blocks: int
    program_hosts: int
    sleeps_us: tuple[int, ...]
    arrays_byte: tuple[int, ...]
    iterations: int
    least_s: float
    stages: tuple[str, ...]
    window_s: int
    settle_s: int
    power_blocks: int
    link_blocks: int
    link_repetitions: int
    link_least_s: float


PILOT: Final = Effort(
    echoes=300,
    gap_us=(100, 4_000),
    probe_blocks=2,  # with EEE on and off in turns: hosts drift
    program_hosts=2,  # more ranks would compete for the processors of a small machine that runs the twin
    sleeps_us=(100, 500, 750, 1_000, 1_250, 1_500, 2_000, 3_000, 4_000),
    arrays_byte=(1_024,),
    iterations=40,
    least_s=0.05,  # of lab time: at 1/10, half a second
    stages=("off", "on"),
    window_s=10,  # ten readings of most meters
    settle_s=3,
    power_blocks=2,  # one cannot be told from drift
    link_blocks=1,
    link_repetitions=3,  # one trial has no interval; turning links takes longer than two more
    link_least_s=0.1,  # without pauses nothing but chance is left in shorter ones
)
"""The first blocks of everything, some minutes together; more where the decision says so."""

LOAD_SHARES: Final = (0.45, 0.9)
"""Of the slowest host's line rate, for the power of traffic: less is lost in most meters.

Two, one near the line rate, tell bits from what carrying any traffic draws.
"""

_TRAFFIC_WINDOW_S: Final = 10

_NEAR_HOLD_SHARE: Final = 0.1
"""Of a hold: a round of the program takes less, so that the gaps of a pause beyond it are all on one side."""

_EDGE_ECHOES: Final = 600
_SHORTEST_US: Final = 20.0


_OWN_BLOCKS: Final = 3
"""Fewer have no interval, and what a program costs is what its study is for."""

OWN_PROGRAM: Final = "program-eee"
"""The experiment that has the place of `alltoall-eee` where a program is named."""


@dataclass(frozen=True, slots=True)
class StudiedProgram:
    """A program that a study is about, as an experiment's file has it. `factors`: levels of its parameters.

    `launched`: its launcher, and the words for that, unless it is the usual one.
    """

    name: str
    parameters: Content
    ranks_per_host: int = 1
    figures: tuple[str, ...] = ()
    timeout_s: float = 600.0
    factors: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    launched: Mapping[str, str] = field(default_factory=dict)

    def on(self, hosts: Sequence[str]) -> Content:
        """The program on some hosts."""
        run: dict[str, Any] = {"name": self.name, "parameters": dict(self.parameters), "hosts": list(hosts)}
        run |= {"ranks_per_host": self.ranks_per_host, "timeout_s": self.timeout_s}
        run |= {"figures": list(self.figures)} if self.figures else {}
        return run | dict(self.launched)


@dataclass(frozen=True, slots=True)
class Design:
    """Experiments in order, and in sentences what cannot be measured in this lab."""

    experiments: tuple[Content, ...]
    left_out: tuple[str, ...]


def design(
    lab: Lab, effort: Effort, agent_user: str = "", hosts: Sequence[str] = (), programs: Sequence[StudiedProgram] = ()
) -> Design:
    """The experiments for a lab; LabError if fewer than two hosts are at switches with EEE.

    `hosts` take part in this order, and all of them run the program; default: up to four, the first two at one switch,
    of which the first `program_hosts` run the program.
    `agent_user` runs agents on nodes, if not the inventory's user. `programs`: instead of Alltoall and a sleep.
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
    running = chosen if hosts else chosen[: effort.program_hosts]
    alone = _ports_alone(lab, effort, chosen, agent_user)
    probed = chosen[: 3 if alone is None else 2]
    experiments = [_probes(lab, effort, probed, agent_user), *([] if alone is None else [alone])]
    left_out = []
    spare = _spare(lab, topology)
    fed = {outlet.feeds for outlet in lab.outlets}
    hosts = chosen[:_MOST_HOSTS]
    homes = dict.fromkeys(topology.homes[host].device for host in hosts)
    if any(name in fed for name in (*_switches_of(spare), *homes, *hosts)):
        experiments.append(
            _power(lab, effort, spare, [name for name in _switches_of(spare) or homes if name in fed], hosts)
        )
        if not spare:
            left_out.append("no port between switches can be shut, so their watts are not known, only what EEE saves.")
    else:
        left_out.append("neither a switch nor a host is fed by a metered outlet, so no power model is fitted.")
    experiments += [_own(lab, running, program, agent_user) for program in programs]
    if not programs:
        experiments.append(_alltoall(lab, effort, running, agent_user))
    if spare:
        experiments += [_links_off(lab, effort, running, spare, program) for program in programs or (None,)]
    else:
        left_out.append("the network can spare no link between switches, so none is switched off.")
    return Design(_numbered(experiments), tuple(left_out))


def _numbered(experiments: Sequence[Content]) -> tuple[Content, ...]:
    """Experiments of further programs get numbers behind their names: program-eee, program-eee-2."""
    count: Counter[str] = Counter()
    numbered = []
    for content in experiments:
        name = str(content["name"])
        count[name] += 1
        numbered.append(content if count[name] == 1 else {**content, "name": f"{name}-{count[name]}"})
    return tuple(numbered)


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
    """Switchable trunks without which all hosts stay connected, of parallel ones the last; each switch gets some.

    A link is taken as long as one of its switches has fewer than `_SPARE_AT_EACH`, those between the poorest first.
    """
    count: dict[frozenset[str], int] = {}
    last: dict[frozenset[str], Link] = {}
    for link in topology.trunks.values():
        pair = frozenset((link.a.device, link.b.device))
        count[pair] = count.get(pair, 0) + 1
        if link.switchable and all(_has_eee(lab, end.device) for end in (link.a, link.b)):
            last[pair] = link
    left = list(last.values())
    spared: list[Link] = []
    has = dict.fromkeys(topology.switches, 0)
    while left:
        link = min(left, key=lambda one: (has[one.a.device] + has[one.b.device], count[_ends(one)] < 2, one.number))
        left.remove(link)
        off = {one.number for one in (*spared, link)}
        poorest = min(has[link.a.device], has[link.b.device])
        if poorest < _SPARE_AT_EACH and joined(topology, topology.trunks.keys() - off):
            spared.append(link)
            has[link.a.device] += 1
            has[link.b.device] += 1
    return tuple(spared)


def _ends(link: Link) -> frozenset[str]:
    return frozenset((link.a.device, link.b.device))


def _switches_of(links: Sequence[Link]) -> tuple[str, ...]:
    """The switches of these links, the one with most of them first."""
    ends = [end.device for link in links for end in (link.a, link.b)]
    return tuple(sorted(dict.fromkeys(ends), key=lambda name: -ends.count(name)))


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
    targets = list(hosts[1:])
    links = [hosts[0], *targets, *_names(_between(lab, (hosts[0], *targets)))]
    return _experiment(
        lab,
        "probe-sweep",
        "Round-trip time by the pause before it, with EEE on and off.",
        ["eee"],
        factors={"eee": {"links": links, "levels": ["on", "off"]}, "to": targets},
        measure={
            "probe": {"from": hosts[0], "to": targets[0], "count": effort.echoes, "draw": "log"}
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
        blocks=1,  # nothing shows what of a slowdown is chance, so the study repeats it first of all
        recordings={"gaps": True, "traffic": True, "user": agent_user},
    )


def _own(lab: Lab, hosts: Sequence[str], program: StudiedProgram, agent_user: str) -> Content:
    """A named program with EEE on and off, at all levels of its parameters."""
    eee = {"links": [*hosts, *_names(_between(lab, hosts))], "levels": ["on", "off"]}
    return _experiment(
        lab,
        OWN_PROGRAM,
        f"Run time of {program.name}, with EEE on and off.",
        ["eee"],
        factors={"eee": eee, **{name: list(levels) for name, levels in program.factors.items()}},
        measure={"program": program.on(hosts)},
        blocks=_OWN_BLOCKS,
        recordings={"gaps": True, "traffic": True, "user": agent_user},
    )


def _program(effort: Effort, hosts: Sequence[str], more: Content) -> Content:
    iterations: Content = {"iterations": effort.iterations, "warm_up_iterations": max(10, effort.iterations // 10)}
    parameters = {**iterations, "least_s": effort.least_s, **more}
    return {"name": "alltoall", "parameters": parameters, "hosts": list(hosts), "timeout_s": 600}


def _links_off(
    lab: Lab, effort: Effort, hosts: Sequence[str], spare: Sequence[Link], program: StudiedProgram | None
) -> Content:
    varied: Content = {"array_byte": [max(effort.arrays_byte)]}
    run = _program(effort, hosts, {"sleep_us": 0, "least_s": effort.link_least_s})
    if program is not None:
        varied = {name: list(levels) for name, levels in program.factors.items()}
        run = program.on(hosts)
    return _experiment(
        lab,
        "links-off",
        f"{'Alltoall' if program is None else program.name} over all links, and with the spare links off.",
        ["link"],
        factors={"link": {"links": _names(spare), "levels": ["on", "off"]}, **varied},
        measure={"program": run},
        blocks=effort.link_blocks,
        repetitions=effort.link_repetitions,
    )


def traffic(lab: Lab, power: Content) -> Content:
    """The power experiment with loads that a meter can see."""
    rate_mbps = min(lab.host(name).rate_mbps for name in power["measure"]["power"]["hosts"])
    loads = [round(share * rate_mbps) for share in LOAD_SHARES]
    measure = {"power": {**power["measure"]["power"], "window_s": _TRAFFIC_WINDOW_S}}
    skip = [
        combination for combination in power["skip"] if not combination.get("load_mbps")
    ]  # of an edited file, or an earlier version's
    stages = [stage for stage in power["factors"].get("link", {}).get("levels", ()) if stage != "on"]
    skip += [{"link": stage, "load_mbps": load} for stage in stages for load in loads]
    skip += [{"eee": "on", "load_mbps": load} for load in loads]
    factors = {**power["factors"], "load_mbps": [0, *loads]}
    about = "Power under load, for the energy of a bit and a packet."
    return {**power, "name": "power-traffic", "about": about, "factors": factors, "measure": measure, "skip": skip}


def beside_holds(program: Content, holds_us: Sequence[Interval]) -> Content:
    """The program with pauses just below and above each hold instead of the pilot's that are near it.

    Near means within `_NEAR_HOLD_SHARE` of the hold, or of its interval. Microseconds of the ranks' own time decide
    whether links sleep in such a pause. So it shows neither what sleep costs nor how well a model predicts that.
    Pauses that a user has edited stay, and so do those near a hold that is hardly known.
    """
    pauses_us = list(program["factors"]["sleep_us"])
    if pauses_us != list(PILOT.sleeps_us):
        return program
    for low_us, high_us in _near(holds_us):
        far = [pause for pause in pauses_us if not low_us < pause < high_us]
        if far != pauses_us:
            pauses_us = sorted({*far, low_us, high_us})
    return {**program, "factors": {**program["factors"], "sleep_us": pauses_us}}


def _near(holds_us: Sequence[Interval]) -> list[tuple[int, int]]:
    """What is near holds that are known, in disjoint ranges of whole us."""
    narrow = [hold for hold in holds_us if hold.half_width <= _NEAR_HOLD_SHARE * hold.value]
    ranges: list[tuple[int, int]] = []
    for hold in sorted(narrow, key=lambda one: one.low):
        low_us, high_us = math.floor(hold.low * (1 - _NEAR_HOLD_SHARE)), math.ceil(hold.high * (1 + _NEAR_HOLD_SHARE))
        if ranges and low_us <= ranges[-1][1]:
            low_us, before_us = ranges.pop()
            high_us = max(before_us, high_us)
        ranges.append((low_us, high_us))
    return ranges


def edges(probes: Content, pair: tuple[str, str], range_us: tuple[float, float], number: int) -> Content:
    """Echoes of one pair, with EEE on and gaps in the range in which its policy is uncertain."""
    low_us, high_us = max(range_us[0], _SHORTEST_US), max(range_us[1], 2 * _SHORTEST_US)
    probe = {**probes["measure"]["probe"], "from": pair[0], "to": pair[1], "count": _EDGE_ECHOES}
    probe |= {"draw": "uniform", "gap_us": [round(low_us, 1), round(high_us, 1)]}
    factors = {"eee": {**probes["factors"]["eee"], "levels": ["on"]}}
    return {
        **probes,
        "name": f"edges-{'-'.join(pair)}-{number}",
        "about": f"Round-trip time near the edges of the policy between {' and '.join(pair)}.",
        "factors": factors,
        "measure": {"probe": probe},
        "blocks": 1,
        "seed": number,
    }


def _ports_alone(lab: Lab, effort: Effort, hosts: Sequence[str], agent_user: str) -> Content | None:
    """Echoes that wait for switches' ports alone: EEE on and off at the trunks, and off at both hosts.

    None if no trunk joins the first host's switch with another one's.
    """
    homes = Topology.of(lab).homes
    source, far = hosts[0], next((name for name in hosts[1:] if homes[name].device != homes[hosts[0]].device), "")
    trunks = _names(_between(lab, (source, far))) if far else []
    if not trunks:
        return None
    factors = {
        "eee": {"links": trunks, "levels": ["on", "off"]},
        "cards": {"kind": "eee", "links": [source, far], "levels": ["off"]},
    }
    about = "Round-trip time where only switches' ports may sleep, which says what of other paths is theirs."
    probes = _probes(lab, effort, (source, far), agent_user)
    return {**probes, "name": "ports-alone", "about": about, "factors": factors, "slow": ["eee", "cards"]}


def stream_of(lab: Lab, probes: Content) -> tuple[str, tuple[str, ...]]:
    """The host that can stream while pairs of one switch are probed, and whom these echoes go to; ("", ()): none."""
    homes = Topology.of(lab).homes
    source, to = probes["measure"]["probe"]["from"], probes["factors"].get("to", probes["measure"]["probe"]["to"])
    levels = to["levels"] if isinstance(to, Mapping) else [to] if isinstance(to, str) else to
    targets = [name for name in levels if homes[name].device == homes[source].device]
    others = [name for name in homes if name not in (source, *targets)]
    third = others[0] if others else targets.pop() if len(targets) > 1 else ""
    return (third, tuple(targets)) if third and targets else ("", ())


def cards_alone(lab: Lab, probes: Content, every_us: float) -> Content:
    """Echoes that wait for hosts' cards alone: another host streams meanwhile, so that the ports to both stay awake.

    `every_us`: between its frames. LabError if no host is left to stream.
    """
    third, targets = stream_of(lab, probes)
    if not third:
        raise LabError(f"no host of {lab.name} is left to stream to two probed hosts of one switch: add one.")
    probe = {**probes["measure"]["probe"], "to": targets[0], "stream_from": third, "stream_every_us": every_us}
    about = "Round-trip time where only hosts' cards may sleep, which says what of other paths is theirs."
    factors = {**probes["factors"], "to": list(targets)}
    return {**probes, "name": "cards-alone", "about": about, "factors": factors, "measure": {"probe": probe}}


def _power(lab: Lab, effort: Effort, spare: Sequence[Link], switches: Sequence[str], hosts: Sequence[str]) -> Content:
    """Windows with EEE off on the whole path of the load that `traffic` adds; without spare links, of nothing else.

    Most switches do not say for how long ports slept beside a load.
    """
    links = _names(spare)
    on_path = list(dict.fromkeys((*links, *hosts, *_names(_between(lab, hosts)))))
    stages = {"link": {"links": links, "levels": list(effort.stages)}} if links else {}
    return _experiment(
        lab,
        "power-staged",
        f"Power of {', '.join(switches or hosts)} by stages of their ports, for P_base, P_port and EEE's share.",
        [*stages, "eee"],
        factors={**stages, "eee": {"links": on_path, "levels": ["on", "off"]}, "load_mbps": [0]},
        measure={"power": {"window_s": effort.window_s, "settle_s": effort.settle_s, "hosts": list(hosts)}},
        skip=[{"link": stage, "eee": "off"} for stage in effort.stages if stage != "on"] if stages else [],
        blocks=effort.power_blocks,
        sampling={"lpi_period_s": 5},
    )
