"""Alltoall and a sleep on nodes around one switch whose ports sleep: a loop over messages, without the engine.

Each rank sends to every rank of other nodes when it calls, waits for all of theirs, sleeps for a while that scatters.
Links take frames in the order in which they come; a port that has been idle for longer than its hold delays the next.
"""

from dataclasses import dataclass

import numpy as np

from eee_testbed.agents.gap_histogram import lower_edges_ns
from eee_testbed.analysis.calibration import Estimate
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.programs.profile import Gaps, NodeGaps, Profile
from tests.support.measured.gap_bins import bin_of

LINK_MBPS = 1000.0
_HOP_US = 6.0
_SOFTWARE_US = 9.0


@dataclass(frozen=True)
class Shape:
    """A configuration."""

    nodes: int = 4
    ranks_per_node: int = 1
    message_byte: int = 256
    sleep_us: float = 500.0
    scatter_us: float = 30.0
    rounds: int = 400


@dataclass(frozen=True)
class Played:
    """How long it took, and the gaps that each port saw before its frames."""

    time_s: float
    gaps_us: tuple[list[float], ...]


def play(shape: Shape, policy: Policy | None, seed: int) -> Played:
    """Run it; without a policy nothing sleeps."""
    random = np.random.default_rng(seed)
    ranks = shape.nodes * shape.ranks_per_node
    node = np.arange(ranks) // shape.ranks_per_node
    wire_us = (shape.message_byte + 66) * 8 / LINK_MBPS
    free_nic, free_port = np.zeros(shape.nodes), np.zeros(shape.nodes)
    gaps: tuple[list[float], ...] = tuple([] for _ in range(shape.nodes))
    ready = np.zeros(ranks)
    for _ in range(shape.rounds):
        arrivals: list[tuple[float, int]] = []
        for rank in np.argsort(ready):
            at = ready[rank]
            for other in range(1, ranks):
                to = (rank + other) % ranks
                if node[to] == node[rank]:
                    continue
                at += _SOFTWARE_US
                start = max(at, free_nic[node[rank]])
                free_nic[node[rank]] = start + wire_us
                arrivals.append((free_nic[node[rank]] + _HOP_US, int(to)))
        done = ready.copy()
        for when, to in sorted(arrivals):
            port = node[to]
            idle_us = when - free_port[port]
            if idle_us > 0:
                gaps[port].append(idle_us)
                wait_us = 0.0 if policy is None else float(policy.delay_us(np.array(idle_us)))
                start = when + wait_us
            else:
                start = free_port[port]
            free_port[port] = start + wire_us
            done[to] = max(done[to], free_port[port] + _HOP_US) + _SOFTWARE_US / 3
        ready = done + shape.sleep_us + random.exponential(shape.scatter_us, size=ranks)
    return Played(float(ready.max()) / 1e6, gaps)


def _gaps(gaps_us: list[float], window_us: float) -> Gaps:
    edges = np.array(lower_edges_ns()) / 1e3
    numbers, counts = np.unique([bin_of(int(gap * 1e3)) for gap in gaps_us], return_counts=True)
    return Gaps(
        low_us=tuple(edges[numbers]), high_us=tuple(edges[numbers + 1]), count=tuple(counts), window_us=window_us
    )


def profile(shape: Shape, played: Played) -> Profile:
    """The profile that a recording of the run without EEE would yield."""
    gaps = [_gaps(gaps, played.time_s * 1e6) for gaps in played.gaps_us]
    return Profile(
        name=f"alltoall {shape.message_byte} {shape.sleep_us:g}",
        program="alltoall",
        hosts=tuple(f"n{number}" for number in range(shape.nodes)),
        ranks_per_host=shape.ranks_per_node,
        trial_count=1,
        base_s=Estimate(value=played.time_s, low=played.time_s, high=played.time_s),
        call_count=shape.rounds * shape.ranks_per_node,
        message_byte=shape.message_byte * shape.ranks_per_node * (shape.nodes - 1),
        link_mbps=LINK_MBPS,
        gaps={f"n{number}": NodeGaps(transmit=gap, receive=gap) for number, gap in enumerate(gaps)},
    )
