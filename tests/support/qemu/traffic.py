"""Frames between the hosts of the small lab, and the copies received at every host and on every cable."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

from eee_testbed.controller.model.vlans import VlanPlan
from eee_testbed.lab.model import Host, Lab
from eee_testbed.lab.topology import Topology
from tests.support.qemu.frame_agent import ETHERTYPE
from tests.support.qemu.machine import Machine

BROADCAST = bytes([0xFF] * 6)
Pair = tuple[str, str]
"""Sender and receiver; the receiver of a broadcast is empty."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Copies of each pair's frame, by who or what heard it."""

    at_hosts: Mapping[tuple[Pair, str], int]
    on_cables: Mapping[tuple[Pair, int, int], int]
    """Pair, number of the cable, VID (0 without a tag)."""


class Traffic:
    """The agent in the machine, and the lab that it sends in."""

    def __init__(self, machine: Machine, lab: Lab) -> None:
        self.lab = lab
        stdin, stdout, self._complaints = machine.client.exec_command("exec python3 -I -S /frame_agent.py")
        self._ask, self._answers = stdin, stdout
        stdout.channel.settimeout(60)
        self._hosts = {host.name: host for host in lab.hosts}
        self._cable_at = {(end.device, end.port): link.number for link in lab.trunks() for end in (link.a, link.b)}

    def send(self, pairs: Iterable[Pair]) -> Heard:
        """Send a frame for each pair, one after the other, and wait until everything is quiet."""
        sent = list(pairs)
        frames = [
            (one, self._hosts[one].interface, self._frame(pair, n).hex())
            for n, pair in enumerate(sent)
            for one in pair[:1]
        ]
        hear = [(host.name, host.interface) for host in self.lab.hosts] + list(self._cable_at)
        # A loop multiplies without end; a frame passes no more than every port once.
        limit = 2 * len(sent) * len(hear)
        self._ask.write(json.dumps({"hear": hear, "send": frames, "quiet_s": 0.3, "limit": limit}) + "\n")
        self._ask.flush()
        answer = self._answers.readline()
        assert answer, f"the agent ended: {self._complaints.read().decode()}"
        heard = json.loads(answer)["heard"]
        assert len(heard) <= limit, f"a loop: {len(heard)} copies of {len(sent)} frames"
        at_hosts: Counter[tuple[Pair, str]] = Counter()
        on_cables: Counter[tuple[Pair, int, int]] = Counter()
        for place, interface, vid, text in heard:
            frame = bytes.fromhex(text)
            pair = sent[int.from_bytes(frame[14:18], "big")]
            if place in self._hosts:
                at_hosts[pair, place] += 1
                assert vid == 0, f"{place} heard a tag of VLAN {vid}"
            else:
                on_cables[pair, self._cable_at[place, interface], vid] += 1
        return Heard(at_hosts, on_cables)

    def _frame(self, pair: Pair, number: int) -> bytes:
        sender = self._hosts[pair[0]]
        to = self._hosts[pair[1]].mac if pair[1] else BROADCAST
        return (to + sender.mac + ETHERTYPE.to_bytes(2, "big") + number.to_bytes(4, "big")).ljust(60, b"\0")

    def broadcasts(self) -> list[Pair]:
        """One from each host."""
        return [(host.name, "") for host in self.lab.hosts]

    def all_pairs(self) -> list[Pair]:
        """Each host to each other."""
        return [(a.name, b.name) for a in self.lab.hosts for b in self.lab.hosts if a != b]


def missed(heard: Heard, pairs: Iterable[Pair], hosts: Iterable[Host]) -> set[tuple[Pair, str]]:
    """Pairs of host and frame that should have been received and were not."""
    wanted = {
        (pair, host.name) for pair in pairs for host in hosts if pair[1] in {host.name, ""} and host.name != pair[0]
    }
    return {key for key in wanted if not heard.at_hosts.get(key)}


def path(lab: Lab, plan: VlanPlan, pair: Pair) -> tuple[int, frozenset[int]]:
    """VID and cables of the only path of a frame in the tree of its sender's VLAN; all cables for a broadcast."""
    homes = Topology.of(lab).homes
    vid = plan.pvids[pair[0]]
    (tree,) = (vlan.links for vlan in plan.vlans if vlan.vid == vid)
    graph = nx.Graph()
    graph.add_nodes_from(switch.name for switch in lab.switches)
    for link in lab.trunks():
        if link.number in tree:
            graph.add_edge(link.a.device, link.b.device, number=link.number)
    if not pair[1]:
        return vid, tree
    way = nx.shortest_path(graph, homes[pair[0]].device, homes[pair[1]].device)
    return vid, frozenset(graph.edges[edge]["number"] for edge in pairwise(way))
