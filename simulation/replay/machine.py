"""Programs on a machine: which node each rank runs on, and the engine's replay of them all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from eee_engine import ProgramReplay, SimulationError

from eee_testbed.simulation.description import Description, Policies
from eee_testbed.simulation.facts import facts_of
from eee_testbed.simulation.point import BrokenSimulation
from eee_testbed.simulation.replay.hosts import hosts_of
from eee_testbed.simulation.replay.jobs import Job, LogGops, Programs, load_program
from eee_testbed.simulation.replay.loops import repetitions
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.records import records

if TYPE_CHECKING:
    from numpy.random import Generator

_NS_PER_MS: Final = 1e6
_MOST_TICKS: Final = 1 << 62
_PLACING: Final = 0x706C6163
"""So that placements do not depend on what else the seed is for."""


def begin_replay(
    description: Description, programs: Programs, links: Policies, seed: int, *, gates: bool = True
) -> ProgramReplay:
    """Every job on its nodes, at tick 0, with these policies of links; `gates` says whether TCEP may turn links off.

    BrokenSimulation if the parts do not fit together; UnreadableFile if a program's file cannot be read.
    """
    try:
        return _begin(description, programs, links, seed, gates=gates)
    except SimulationError as error:
        raise BrokenSimulation(f"{description.name}: {error}; change the simulation's file.") from error


def _begin(description: Description, programs: Programs, links: Policies, seed: int, *, gates: bool) -> ProgramReplay:
    form = description.network.form()
    nodes = facts_of(form)["nodes"]
    between, to_nodes, from_nodes = links
    tcep = description.consolidation
    replay = ProgramReplay(
        nodes=nodes,
        tick_ns=programs.cycle_ns,
        hosts=hosts_of(programs.hosts).form(),
        library=programs.collectives,
        element_bytes=programs.element_byte,
        cores=programs.cores,
        seed=seed,
        network=None
        if programs.log_gops
        else {
            "topology": form,
            "routing": description.routing,
            "parameters": description.router.form(),
            "link": between.form(),
            "node_link": to_nodes.form(),
            "card_link": from_nodes.form(),
            "bound": (programs.bound.percent / 100, programs.bound.epoch) if programs.bound else None,
            "consolidation": tcep.form() if gates and tcep else None,
            "flit_bytes": programs.flit_byte,
        },
        log_gops=_times(programs.log_gops),
    )
    switches = [channel["from_router"] for channel in replay.node_channels()[:nodes]] or list(range(nodes))
    free = _Free(switches, np.random.default_rng([seed, _PLACING]))
    for job in programs.jobs:
        program = load_program(job.program)
        _require_countable(description.name, programs, job, program)
        number = _add(replay, program)
        for _ in range(job.copies):
            replay.add_job(
                number,
                None if job.placement == "scheduled" else free.place(job, program, description.name),
                start_ticks=round(job.start_ms * _NS_PER_MS / programs.cycle_ns),
                repeats=programs.repeat,
                compute_scale=job.compute_scale,
            )
    return replay


def _require_countable(name: str, programs: Programs, job: Job, program: Program) -> None:
    """BrokenSimulation if a rank computes for more cycles than the engine counts."""
    calls = program.calls
    ns = np.bincount(calls["rank"].to_numpy(), weights=calls["compute_ns"].to_numpy() * repetitions(calls), minlength=1)
    longest_s = (job.start_ms / 1e3) + float(ns.max()) * job.compute_scale / 1e9
    if longest_s * 1e9 / programs.cycle_ns > _MOST_TICKS:
        raise BrokenSimulation(
            f"{name}: {program.name} computes until {longest_s:.3g} s, and a replay counts {_MOST_TICKS:.2g} cycles: "
            "write a longer cycle_ns, or a smaller compute_scale or start_ms."
        )


def _times(log_gops: LogGops | None) -> tuple[float, float, float] | None:
    return (log_gops.latency_ns, log_gops.gap_ns, log_gops.gap_byte_ns) if log_gops else None


def _add(replay: ProgramReplay, program: Program) -> int:
    packed = records(program)
    return replay.add_program(packed.rows, packed.lists, packed.first, packed.communicators)


class _Free:
    """Nodes that no job has. `switches` is the switch of each node."""

    def __init__(self, switches: Sequence[int], rng: "Generator") -> None:
        self._free = list(range(len(switches)))
        self._switches = switches
        self._rng = rng

    def place(self, job: Job, program: Program, name: str) -> list[int]:
        """The node of each rank; they are taken."""
        if job.nodes is not None:
            if len(job.nodes) != program.ranks:
                raise BrokenSimulation(
                    f"{name}: {program.name} has {program.ranks} ranks and {len(job.nodes)} nodes are given: write "
                    "nodes with one for each rank."
                )
            taken = set(job.nodes)
            self._free = [node for node in self._free if node not in taken]
            return job.nodes
        wanted = -(-program.ranks // job.ranks_per_node)
        if wanted > len(self._free):
            raise BrokenSimulation(
                f"{name}: {program.name} needs {wanted} nodes and {len(self._free)} are free: take a larger network, "
                "more ranks_per_node, or placement: scheduled."
            )
        if job.placement == "random":
            self._rng.shuffle(self._free)
        if job.placement == "by_switch":
            places = self._rng.permutation(max(self._switches) + 1)
            self._free.sort(key=lambda node: (places[self._switches[node]], node))
        chosen, self._free = self._free[:wanted], sorted(self._free[wanted:])
        return [chosen[rank // job.ranks_per_node] for rank in range(program.ranks)]
