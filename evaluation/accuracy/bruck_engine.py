"""Bruck's Alltoall on a lab's multi-tree network, on the engine's virtual clock: real frames through its switches.

The MPI library is a model, with a rank a host. In each round a rank sends the blocks whose number has the round's bit
to the rank that is so many further on (`SEND_US`). It begins the next round when the message of this one has come from
the other side (`RECEIVE_US`). `wait_us` is the mean of an exponential time that a rank waits for a processor each time
that it has something to do: to send, to receive, and after its pause. Without it all pauses are equal.

Simplifications: no TCP, so no acknowledgements in the other direction and no congestion window; no EEE.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from eee_engine import VirtualEngine

from eee_testbed.controller.model.state import factory_state
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.measuring.regulating.choosing import Traffic, swept
from eee_testbed.regulation.koibuchi import koibuchi
from eee_testbed.regulation.levels import assumed_watts, levels_of
from eee_testbed.regulation.network import Ways
from evaluation.accuracy.alltoall_engine import PS_US, RECEIVE_US, SEND_US, pieces

_TREES_PER_SWITCH: Final = 2
_VID: Final = 11
_STEP_US: Final = 4.0
_UP_US: Final = 20e6
_LATENCY_US: Final = 2.7


@dataclass(frozen=True, slots=True)
class Tree:
    """Hosts of a switch, and how their frames run to each other switch: from where, over which trunk."""

    root: str
    hosts: tuple[str, ...]
    ways: Ways


Trees = Mapping[str, tuple[Tree, ...]]
"""By choice: `all` links, and by how many of those that trees use are off."""


def rounds(ranks: int) -> list[tuple[int, int]]:
    """Of each round, how far the receiver is, and blocks of its message.

    >>> rounds(6)
    [(1, 3), (2, 2), (4, 2)]
    """
    steps = [1 << bit for bit in range((ranks - 1).bit_length())]
    return [(step, sum(bool(block & step) for block in range(ranks))) for step in steps]


def choices(lab: Lab, block_byte: int) -> Trees:
    """The trees of `eeectl apply`, and those of Koibuchi's selection at the two ends of `--sweep`."""
    start = factory_state(lab)
    routes = partial(shortest_routes, trees_per_switch=_TREES_PER_SWITCH)
    state = make_plan(lab, start, multi_tree(lab, start, routes)[1]).end
    hosts = [host.name for host in lab.hosts]
    sent: Counter[tuple[str, str]] = Counter()
    for rank, host in enumerate(hosts):
        for step, blocks in rounds(len(hosts)):
            sent[host, hosts[(rank + step) % len(hosts)]] += blocks * block_byte
    traffic = Traffic.of(lab, state, sent)
    used = {number for ways in traffic.trees for _, number in ways.values()}
    found = {"all": _trees(traffic, traffic.trees)}
    for peak in swept(traffic, 2):
        levels = levels_of(traffic.network, "off", peak.byte_by_trunk, assumed_watts)
        choice = koibuchi(traffic.network, traffic.streams, traffic.trees, levels)
        found[f"{len(choice.off & used)} of {len(used)} off"] = _trees(traffic, choice.trees)
    return found


def _trees(traffic: Traffic, trees: Sequence[Ways]) -> tuple[Tree, ...]:
    return tuple(Tree(one.root, one.hosts, ways) for one, ways in zip(traffic.senders, trees, strict=True))


class Fabric:
    """Switches, trunks and hosts of a lab, with a VLAN and static entries for each tree."""

    def __init__(self, lab: Lab, trees: Sequence[Tree]) -> None:
        self.engine = VirtualEngine(seed=1)
        topology = Topology.of(lab)
        links = [link for number in sorted(topology.trunks) for link in topology.cables[number]]
        places = [*topology.homes.values(), *(end for link in links for end in (link.a, link.b))]
        ports: dict[tuple[str, str], int] = {}
        switches: dict[str, int] = {}
        for number, name in enumerate(topology.switches):
            own = [end.port for end in places if end.device == name]
            made = self.engine.add_switch(
                name, phys=["1000BASE-T"] * len(own), port_names=own, base_mac=_mac(0xF000 + 64 * number),
                latency_us=_LATENCY_US,
            )  # fmt: skip
            switches[name] = made["switch"]
            ports |= {(name, port): place for port, place in zip(own, made["ports"], strict=True)}
        self.nics = [self.engine.add_host(name, mac=_mac(n), ring_frames=4096) for n, name in enumerate(topology.hosts)]
        home = {name: ports[end.device, end.port] for name, end in topology.homes.items()}
        for name, nic in zip(topology.hosts, self.nics, strict=True):
            self.engine.connect(nic, home[name])
        for link in links:
            self.engine.connect(*(ports[end.device, end.port] for end in (link.a, link.b)))
        for port in (*ports.values(), *self.nics):
            self.engine.set_port(port, eee=False)
        for place, tree in enumerate(trees):
            self._add(topology, tree, _VID + place, switches, ports, home)
        self.now = round(_UP_US * PS_US)
        self.engine.run_until(self.now)

    def _add(
        self, topology: Topology, tree: Tree, vid: int, switches: Mapping[str, int],
        ports: Mapping[tuple[str, str], int], home: Mapping[str, int],
    ) -> None:  # fmt: skip
        """All hosts are untagged members of every tree; its own hosts send into it."""

        def port_of(number: int, switch: str) -> int:
            link = topology.trunks[number]
            end = link.a if link.a.device == switch else link.b
            return ports[end.device, end.port]

        onward: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for there, (here, number) in tree.ways.items():
            onward[here][there] = port_of(number, here)
        for name, switch in switches.items():
            hosts = {host: home[host] for host in topology.residents[name]}
            trunks = [*onward[name].values(), *([port_of(tree.ways[name][1], name)] if name in tree.ways else [])]
            self.engine.set_vlan(switch, vid, members=[*hosts.values(), *trunks], untagged=list(hosts.values()))
        for number, host in enumerate(topology.hosts):
            at = topology.homes[host].device
            self.engine.set_static(switches[at], vid, _mac(number), home[host])
            while at != tree.root:
                here, trunk = tree.ways[at]
                self.engine.set_static(switches[here], vid, _mac(number), port_of(trunk, here))
                at = here
        for host in tree.hosts:
            self.engine.set_port_vlan(home[host], pvid=vid)


def _mac(number: int) -> bytes:
    return bytes([2, 0, 0, 0, number >> 8, number & 0xFF])


@dataclass(frozen=True, slots=True)
class Program:
    """What all ranks do: `pause_us` is what passes, not what is asked for."""

    block_byte: int
    pause_us: float
    iterations: int
    wait_us: float = 0.0


class _Run:
    """One run: each rank is in a round of an iteration, and messages that came early wait for it."""

    def __init__(self, fabric: Fabric, program: Program, seed: int) -> None:
        self.fabric, self.program = fabric, program
        self.random = np.random.default_rng(seed)
        self.rounds = rounds(len(fabric.nics))
        self.rank_of = {nic: rank for rank, nic in enumerate(fabric.nics)}
        self.sends: list[tuple[int, int, int, bytes]] = []
        self.sent_at: dict[int, int] = {}
        self.at = [0] * len(fabric.nics)
        """Rounds that each rank has ended, over all iterations."""

        self.came: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.count = self.in_flight = self.ended = 0

    def run_s(self) -> float:
        began = now = self.fabric.now
        for rank in self.rank_of.values():
            self._send(rank, began + self._waited())
        step = round(_STEP_US * PS_US)
        while self.sends or self.in_flight:
            now = now + step if self.in_flight else max(self.sends[0][0], now)
            while self.sends and self.sends[0][0] <= now + step:
                at, _, nic, frame = heapq.heappop(self.sends)
                self.fabric.engine.send(nic, max(at, now), frame)
                self.in_flight += 1
            for nic, when, frame in self.fabric.engine.run_until(now + step):
                self._deliver(self.rank_of[nic], when, frame)
        if set(self.at) != {self.program.iterations * len(self.rounds)}:
            raise AssertionError(f"frames were lost: ranks ended after {sorted(set(self.at))} rounds.")
        return (self.ended - began) / PS_US / 1e6

    def _waited(self) -> int:
        return round(self.random.exponential(self.program.wait_us) * PS_US) if self.program.wait_us else 0

    def _send(self, rank: int, at: int) -> None:
        """The message of the round that a rank is in."""
        step, blocks = self.rounds[self.at[rank] % len(self.rounds)]
        at += round(SEND_US * PS_US)
        target = (rank + step) % len(self.rank_of)
        number = self.at[rank].to_bytes(4, "big")
        for size_byte in pieces(blocks * self.program.block_byte):
            self.count += 1
            frame = (_mac(target) + _mac(rank) + b"\x88\xb5" + number).ljust(size_byte, b"\0")
            heapq.heappush(self.sends, (at, self.count, self.fabric.nics[rank], frame))
        self.sent_at[rank] = at
        self._end_if_whole(rank, at)

    def _deliver(self, rank: int, when: int, frame: bytes) -> None:
        self.in_flight -= 1
        self.came[rank, int.from_bytes(frame[14:18], "big")] += 1
        self._end_if_whole(rank, when)

    def _end_if_whole(self, rank: int, at: int) -> None:
        """The round, if its message is there; at the end of an iteration the pause follows."""
        number = self.at[rank]
        blocks = self.rounds[number % len(self.rounds)][1]
        if self.came[rank, number] < len(pieces(blocks * self.program.block_byte)):
            return
        del self.came[rank, number]
        end = max(at, self.sent_at[rank]) + round(RECEIVE_US * PS_US) + self._waited()
        self.at[rank] += 1
        if self.at[rank] % len(self.rounds) == 0:
            end += round(self.program.pause_us * PS_US) + self._waited()
            self.ended = max(self.ended, end)
        if self.at[rank] < self.program.iterations * len(self.rounds):
            self._send(rank, end + self._waited())


def run_time_s(lab: Lab, trees: Sequence[Tree], program: Program, seed: int = 1) -> float:
    """From the first call to the end of the last rank's last pause."""
    return _Run(Fabric(lab, trees), program, seed).run_s()
