"""Power of a machine's nodes while programs are replayed, beside that of its network.

* `by_load`: nodes of a calibration. Those that run a program draw what was measured under load, from begin to end, as
  MPI libraries poll while they wait; the others are idle. A node's card saves what it was measured to save, while its
  link is in deep sleep. All nodes are taken to be the mean of those that were measured.
* `by_use`: Andujar et al. (2023), Eq. 4, with U_cpu of the replay.
"""

from collections.abc import Mapping

import numpy as np

from eee_testbed.analysis.calibration import AndujarPower, NodePower
from eee_testbed.analysis.interval import Floats, Interval
from eee_testbed.analysis.predict.prediction import interval_of
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.replay.jobs import Programs, load_program


def running_nodes(programs: Programs, nodes: int) -> int:
    """How many of so many nodes run a program; jobs that the scheduler starts one after the other count each."""
    used = 0
    for job in programs.jobs:
        each = (
            len(set(job.nodes)) if job.nodes is not None else -(-load_program(job.program).ranks // job.ranks_per_node)
        )
        used += job.copies * each
    return min(used, nodes)


def by_load(nodes: int, running: int, links: StateShares, known: Mapping[str, NodePower]) -> Interval:
    """Watts of all nodes, of which some run a program, by what nodes of a calibration drew; `known` is not empty.

    >>> from eee_testbed.analysis.calibration import Estimate
    >>> one = NodePower(idle_watt=Estimate(value=50, low=50, high=50), loaded_watt=Estimate(value=90, low=90, high=90))
    >>> by_load(3, 2, StateShares(idle=1.0), {"n01": one}).value
    230.0
    """
    draws = Sampler()
    total: Floats = np.zeros(draws.count)
    for name, node in known.items():
        idle = draws.of(f"{name} idle_watt", node.idle_watt)
        loaded = idle if node.loaded_watt is None else draws.of(f"{name} loaded_watt", node.loaded_watt)
        saved = draws.of(f"{name} card_saved_watt", node.card_saved_watt) * (links.quiet + links.refresh)
        total = total + running * loaded + (nodes - running) * idle - nodes * saved
    return interval_of(total / len(known), opened=bool(draws.unbounded))


def unknown_of(known: Mapping[str, NodePower], links: StateShares) -> list[str]:
    """Sentences about what was not measured of nodes."""
    unknown = []
    if all(node.loaded_watt is None for node in known.values()):
        unknown.append("no node was measured under load: idle power is assumed.")
    if links.quiet + links.refresh > 0 and any(node.card_saved_watt is None for node in known.values()):
        unknown.append("what some nodes' cards save by EEE was not measured: it is left out.")
    return unknown


def by_use(nodes: int, cpu_use: float, power: AndujarPower) -> Interval:
    """Watts of all nodes by Eq. 4.

    >>> from eee_testbed.analysis.predict.other_networks import PAPER_POWER
    >>> by_use(2, 0.5, PAPER_POWER).value
    450.0
    """
    draws = Sampler()
    idle = draws.of("idle_node_fraction", power.idle_node_fraction)
    watt = nodes * draws.of("node_watt", power.node_watt) * (idle + (1 - idle) * cpu_use)
    return interval_of(watt, opened=bool(draws.unbounded))
