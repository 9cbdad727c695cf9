"""Echoes through the engine on the virtual clock: two hosts on one switch with LPI by the policy given."""

from collections.abc import Mapping

import numpy as np
from eee_engine import VirtualEngine

from analysis.links.probes import ECHO_WIRE_BYTE, FRAME_OVERHEAD_BYTE

PS_US = 1_000_000
S = 1_000_000 * PS_US
STEP = 20 * PS_US


def _mac(number: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, number])


def _frame(to: int, source: int, size_byte: int) -> bytes:
    return _mac(to) + _mac(source) + b"\x88\xb5" + bytes(size_byte - 14)


class Bench:
    """A switch at 1 Gb/s; both of its ports have one policy, both hosts' cards that of `card`, or never sleep."""

    def __init__(self, mode: str, timing: Mapping[str, float], card: Mapping[str, float] | None = None) -> None:
        self._engine = VirtualEngine(seed=1)
        switch = self._engine.add_switch(
            "sw", phys=["1000BASE-T"] * 2, port_names=["p0", "p1"], base_mac=_mac(200), latency_us=2.0
        )
        self._nics = [self._engine.add_host(f"h{number}", mac=_mac(number), ring_frames=64) for number in range(2)]
        for nic, port in zip(self._nics, switch["ports"], strict=True):
            self._engine.connect(nic, port)
            self._engine.set_port(port, eee=True)
            self._engine.set_port(nic, eee=True)
            self._engine.set_lpi(nic, mode="off" if card is None else "deep", timing=dict(card or {}))
            self._engine.set_lpi(port, mode=mode, timing=dict(timing))
        self._now = 20 * S
        self._engine.run_until(self._now)
        for source in (0, 1):
            self._engine.send(self._nics[source], self._now, _frame(1 - source, source, 60))
        self._now += S
        self._engine.run_until(self._now)

    def echoes(self, gaps_us: np.ndarray, burst_byte: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(sent_us, rtt_us) of one echo each, less the far host's time.

        A gap goes by after each answer, and a burst is answered with a burst.
        """
        bursts = np.full(len(gaps_us), ECHO_WIRE_BYTE) if burst_byte is None else burst_byte
        found = [self._echo(round(gap * PS_US), burst) for gap, burst in zip(gaps_us, bursts, strict=True)]
        sent, rtt = np.asarray(found).T / PS_US
        return sent, rtt

    def _echo(self, gap: int, burst: float) -> tuple[int, int]:
        at = self._now + gap
        self._burst(0, at, burst)
        until = at
        arrived = False
        while True:
            until += STEP
            for nic, when, _data in self._engine.run_until(until):
                if when < at:
                    continue  # the rest of the last burst
                if nic == self._nics[1] and not arrived:
                    arrived = True
                    self._burst(1, when + STEP, burst)  # the far host takes one step to answer
                elif nic == self._nics[0] and arrived:
                    self._now = until
                    return at, when - at - STEP

    def _burst(self, source: int, at: int, wire_byte: float) -> None:
        """An echo, and behind it full frames up to so many bytes on the wire."""
        left, size = int(wire_byte), int(ECHO_WIRE_BYTE)
        while left > 0:
            # The engine counts preamble, FCS and gap itself.
            self._engine.send(self._nics[source], at, _frame(1 - source, source, size - FRAME_OVERHEAD_BYTE))
            left -= size
            size = min(max(left, 84), 1_538)
