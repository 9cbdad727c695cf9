"""Miwa's Alltoall and sleep on the engine's virtual clock: ranks that send real frames through one switch.

The MPI library is a model: a rank sends to all others one after the other (`SEND_US` each), ends its call when all of
their messages have arrived (`RECEIVE_US` each), then sleeps for longer than requested, as usleep does, by a random
time; now and then the kernel preempts it. Ranks of a node call in parallel.

Simplifications: no TCP, so no acknowledgements in the other direction, and only the linear algorithm of Open MPI; a
live lab has both.
"""

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from eee_engine import VirtualEngine

from eee_testbed.agents.gap_histogram import GapHistogram, lower_edges_ns
from eee_testbed.agents.link_tap import OUTGOING
from eee_testbed.analysis.calibration import Estimate
from eee_testbed.analysis.programs.profile import Gaps, NodeGaps, Profile

if TYPE_CHECKING:
    from eee_engine import LpiTiming

PS_US: Final = 1_000_000
LINK_MBPS: Final = 1000
SEND_US, RECEIVE_US = 8.0, 4.0
_STEP_US: Final = 4.0
_HEADER_BYTE: Final = 14 + 20 + 32  # Ethernet, IPv4, TCP with time stamps
_FRAME_BYTE: Final = 1514
_OVERSLEPT_US, _SCATTER_US = 55.0, 6.0
_TAKEN_SHARE, _TAKEN_US = 0.01, 150.0
_INCOMING: Final = 0

MIWA: Final["LpiTiming"] = {
    "hold_us": 1000.0,
    "sleep_us": 182.0,
    "wake_us": 60.0,
    "wake_during_sleep_us": 60.0,
}
"""PowerConnect 5548: hold and Tw as measured by Miwa (2013, section 5.1), Ts of its Table 1."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """One point of Miwa's experiment; the array is all data that a rank sends."""

    array_byte: int
    sleep_us: float
    node_count: int = 4
    ranks_per_node: int = 1
    iterations: int = 300

    @property
    def rank_count(self) -> int:
        """Total number of ranks."""
        return self.node_count * self.ranks_per_node

    @property
    def message_byte(self) -> int:
        """Size of the message from a rank to each other rank."""
        return self.array_byte // self.rank_count


@dataclass(frozen=True, slots=True)
class Played:
    """Run time, and the recorded gaps of each node."""

    time_s: float
    gaps: tuple[NodeGaps, ...]


class _Fabric:
    """Nodes on one switch; its ports sleep, the nodes' cards do not."""

    def __init__(self, node_count: int, timing: "LpiTiming | None") -> None:
        self.engine = VirtualEngine(seed=1)
        names = [f"p{number}" for number in range(node_count)]
        switch = self.engine.add_switch(
            "sw", phys=["1000BASE-T"] * node_count, port_names=names, base_mac=_mac(200), latency_us=2.7
        )
        self.nics = [self.engine.add_host(f"n{n}", mac=_mac(n), ring_frames=4096) for n in range(node_count)]
        for nic, port in zip(self.nics, switch["ports"], strict=True):
            self.engine.connect(nic, port)
            self.engine.set_port(port, eee=timing is not None)
            self.engine.set_port(nic, eee=timing is not None)
            self.engine.set_lpi(nic, mode="off", timing={})
            self.engine.set_lpi(port, mode="off" if timing is None else "deep", timing=timing or {})
        self.now = 20 * 1_000_000 * PS_US
        self.engine.run_until(self.now)
        for node, nic in enumerate(self.nics):  # so that the switch learns all addresses
            self.engine.send(nic, self.now, _frame((node + 1) % node_count, node, 60, 0, 0))
        self.now += 2_000_000 * PS_US
        self.engine.run_until(self.now)


def _mac(number: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, number])


def _frame(to: int, source: int, size_byte: int, rank: int, iteration: int) -> bytes:
    payload = rank.to_bytes(2, "big") + iteration.to_bytes(4, "big", signed=True)
    return (_mac(to) + _mac(source) + b"\x88\xb5" + payload).ljust(size_byte, b"\0")


def pieces(message_byte: int) -> list[int]:
    """Sizes of the frames of a message."""
    room = _FRAME_BYTE - _HEADER_BYTE
    whole, rest = divmod(message_byte, room)
    return [_FRAME_BYTE] * whole + ([max(60, rest + _HEADER_BYTE)] if rest or not whole else [])


class _Simulation:
    """One simulated run."""

    def __init__(self, shape: Configuration, timing: "LpiTiming | None", seed: int) -> None:
        self.shape = shape
        self.fabric = _Fabric(shape.node_count, timing)
        self.random = np.random.default_rng(seed)
        self.pieces = pieces(shape.message_byte)
        far = shape.rank_count - shape.ranks_per_node
        self.frames_a_call = far * len(self.pieces)
        self.sends: list[tuple[int, int, int, bytes, int]] = []
        self.got: dict[tuple[int, int], int] = {}
        self.sent_by = [0] * shape.rank_count
        self.iteration = [0] * shape.rank_count
        self.ended = 0
        self.in_flight = 0
        self.count = 0
        self.taps = [GapHistogram(LINK_MBPS) for _ in range(shape.node_count)]
        self.began = self.fabric.now

    def run(self) -> Played:
        for rank in range(self.shape.rank_count):
            self._call(rank, self.began + round(self.random.exponential(_SCATTER_US) * PS_US))
        step = round(_STEP_US * PS_US)
        now = self.fabric.now
        while self.sends or self.in_flight:
            now = now + step if self.in_flight else max(self.sends[0][0], now)
            while self.sends and self.sends[0][0] <= now + step:
                at, _, node, data, size_byte = heapq.heappop(self.sends)
                self.fabric.engine.send(self.fabric.nics[node], max(at, now), data)
                self._tap(node, max(at, now), size_byte, OUTGOING)
                self.in_flight += 1
            for nic, when, data in self.fabric.engine.run_until(now + step):
                self._deliver(self.fabric.nics.index(nic), when, data)
        window_us = (self.ended - self.began) / PS_US
        gaps = tuple(
            NodeGaps(transmit=_gaps(tap.transmit.take(), window_us), receive=_gaps(tap.receive.take(), window_us))
            for tap in self.taps
        )
        return Played(window_us / 1e6, gaps)

    def _tap(self, node: int, at: int, size_byte: int, kind: int) -> None:
        seconds, rest = divmod(at // 1000, 1_000_000_000)
        self.taps[node].add([(seconds, rest, size_byte - 14, kind)])

    def _call(self, rank: int, at: int) -> None:
        node = rank // self.shape.ranks_per_node
        iteration = self.iteration[rank]
        for step in range(1, self.shape.rank_count):
            to = (rank + step) % self.shape.rank_count
            target = to // self.shape.ranks_per_node
            at += round(SEND_US * PS_US)
            if target == node:
                continue
            for size_byte in self.pieces:
                self.count += 1
                data = _frame(target, node, size_byte, to, iteration)
                heapq.heappush(self.sends, (at, self.count, node, data, size_byte))
        self.sent_by[rank] = at
        if self.got.get((rank, iteration), 0) >= self.frames_a_call:
            self._done(rank, at)

    def _deliver(self, node: int, when: int, data: bytes) -> None:
        self.in_flight -= 1
        self._tap(node, when, len(data), _INCOMING)
        rank, iteration = int.from_bytes(data[14:16], "big"), int.from_bytes(data[16:20], "big", signed=True)
        got = self.got.get((rank, iteration), 0) + 1
        self.got[rank, iteration] = got
        if got == self.frames_a_call and self.iteration[rank] == iteration:
            self._done(rank, max(when + round(RECEIVE_US * PS_US), self.sent_by[rank]))

    def _done(self, rank: int, at: int) -> None:
        del self.got[rank, self.iteration[rank]]
        slept_us = self.shape.sleep_us + _OVERSLEPT_US + self.random.exponential(_SCATTER_US)
        if self.random.random() < _TAKEN_SHARE:
            slept_us += self.random.exponential(_TAKEN_US)
        self.iteration[rank] += 1
        end = at + round(slept_us * PS_US)
        self.ended = max(self.ended, end)
        if self.iteration[rank] < self.shape.iterations:
            self._call(rank, end)


def _gaps(row: list[object], window_us: float) -> Gaps:
    frames, size_byte, busy_ns, _, bins = row
    edges_us = np.array(lower_edges_ns()) / 1e3
    numbers = [number for number, _ in bins]  # type: ignore[attr-defined]
    return Gaps(
        low_us=tuple(float(edges_us[number]) for number in numbers),
        high_us=tuple(float(edges_us[number + 1]) for number in numbers),
        count=tuple(float(count) for _, count in bins),  # type: ignore[attr-defined]
        frame_count=float(str(frames)),
        size_byte=float(str(size_byte)),
        busy_us=float(str(busy_ns)) / 1e3,
        window_us=window_us,
    )


def play(shape: Configuration, timing: "LpiTiming | None", seed: int) -> Played:
    """Run a configuration; `timing` None: EEE off."""
    return _Simulation(shape, timing, seed).run()


def profile_of(shape: Configuration, played: Played) -> Profile:
    """The profile that a run without EEE yields."""
    exact = Estimate(value=played.time_s, low=played.time_s, high=played.time_s)
    return Profile(
        name=f"alltoall {shape.node_count}x{shape.ranks_per_node} {shape.array_byte} byte {shape.sleep_us:g} us",
        program="alltoall",
        parameters={"array_byte": shape.array_byte, "sleep_us": shape.sleep_us},
        hosts=tuple(f"n{node}" for node in range(shape.node_count)),
        ranks_per_host=shape.ranks_per_node,
        trial_count=1,
        base_s=exact,
        call_count=shape.iterations * shape.ranks_per_node,
        message_byte=shape.message_byte * (shape.rank_count - shape.ranks_per_node),
        link_mbps=LINK_MBPS,
        gaps={f"n{node}": gaps for node, gaps in enumerate(played.gaps)},
    )
