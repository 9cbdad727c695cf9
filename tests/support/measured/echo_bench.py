"""Echoes through the engine on the virtual clock: two hosts on one switch, each transmitter with the policy given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from eee_engine import VirtualEngine

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.probes import ECHO_WIRE_BYTE, FRAME_OVERHEAD_BYTE

PS_US = 1_000_000
S = 1_000_000 * PS_US
STEP = 20 * PS_US
_CHUNK: Final = 256


def _mac(number: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, number])


def _frame(to: int, source: int, size_byte: int) -> bytes:
    return _mac(to) + _mac(source) + b"\x88\xb5" + bytes(size_byte - 14)


@dataclass(frozen=True, slots=True)
class Sleep:
    """How one transmitter sleeps: the engine's mode and timing."""

    mode: str = "off"
    timing: Mapping[str, float] = field(default_factory=dict)


AWAKE: Final = Sleep()


@dataclass(frozen=True, slots=True)
class HostTime:
    """What hosts add: `noise_us` the scale of Student-t errors (one-sided or not), and a rise with the gap before.

    The rise grows to `rise_us` with `rise_tau_us`, and has a step of `step_us` at `step_gap_us`, as of a processor's
    idle state. Half of an error is in the answer of the far host, which moves what comes after it; the other half is in
    the time stamp. `late_share` of the requests leaves after their stamps, and as many answers late, by an exponential
    time with a mean of `late_us`: a busy host. `base_us` is added to each round trip.
    """

    noise_us: float = 0.0
    one_sided: bool = True
    rise_us: float = 0.0
    rise_tau_us: float = 1_000.0
    step_us: float = 0.0
    step_gap_us: float = np.inf
    late_share: float = 0.0
    late_us: float = 12.0
    base_us: float = 0.0

    def error_us(self, random: np.random.Generator, count: int) -> Floats:
        """Errors of shape (count,)."""
        found: Floats = self.noise_us * random.standard_t(3, size=count)
        return np.abs(found) if self.one_sided else found

    def lateness_us(self, random: np.random.Generator, count: int) -> Floats:
        """How late frames come, shape (count,); mostly not at all."""
        found: Floats = random.exponential(self.late_us, size=count) * (random.random(count) < self.late_share)
        return found

    def rise(self, gap_us: float) -> float:
        """The hosts' additional time after a gap."""
        return self.rise_us * (1 - float(np.exp(-gap_us / self.rise_tau_us))) + self.step_us * (
            gap_us > self.step_gap_us
        )


class Bench:
    """A switch at 1 Gb/s. `sleeps`: of the first host's card, the port to the second, its card, the port back.

    `eee`: whether EEE is offered at the first card, the port to it, the second card, the port to that one. `mbps`: the
    speed that each link comes to; a link that was asked for 1,000 and can 100 only is negotiated down.
    """

    def __init__(
        self,
        sleeps: Sequence[Sleep],
        *,
        eee: tuple[bool, bool, bool, bool] = (True, True, True, True),
        mbps: tuple[int, int] = (1_000, 1_000),
        hosts: HostTime = HostTime(),
        random: np.random.Generator | None = None,
    ) -> None:
        self._engine = VirtualEngine(seed=1)
        self._hosts = hosts
        self._random = random if random is not None else np.random.default_rng(0)
        switch = self._engine.add_switch(
            "sw", phys=["1000BASE-T"] * 2, port_names=["p0", "p1"], base_mac=_mac(200), latency_us=2.0
        )
        self._nics = [self._engine.add_host(f"h{number}", mac=_mac(number), ring_frames=64) for number in range(2)]
        self.ports = switch["ports"]
        for number, (nic, port) in enumerate(zip(self._nics, self.ports, strict=True)):
            self._engine.connect(nic, port)
            self._engine.set_port(port, eee=eee[2 * number + 1])
            self._engine.set_port(nic, eee=eee[2 * number])
            if mbps[number] != 1_000:
                self._engine.set_port(nic, advertised_mbps=[mbps[number]])
        for end, sleep in zip((self._nics[0], self.ports[1], self._nics[1], self.ports[0]), sleeps, strict=True):
            self._engine.set_lpi(end, mode=sleep.mode, timing=dict(sleep.timing))
        self._now = 20 * S
        self._engine.run_until(self._now)
        for source in (0, 1):
            self._engine.send(self._nics[source], self._now, _frame(1 - source, source, 60))
        self._now += S
        self._engine.run_until(self._now)

    def eee_active(self) -> tuple[bool, bool]:
        """Whether EEE is in force on either link, as the switch's ports show it."""
        first, second = (bool(self._engine.port(port)["eee_active"]) for port in self.ports)
        return first, second

    def mbps(self) -> tuple[int, int]:
        """The speed of either link."""
        first, second = (int(self._engine.port(port)["speed_mbps"]) for port in self.ports)
        return first, second

    def lpi_counts(self) -> tuple[int, ...]:
        """How often each transmitter has entered low power so far, in the order of `sleeps`."""
        ends = (self._nics[0], self.ports[1], self._nics[1], self.ports[0])
        found = self._engine.ports_time_in_state(ends)
        return tuple(int(one["lpi_events"]) for one in found)

    def with_hosts(self, hosts: HostTime) -> None:
        """Hosts from now on."""
        self._hosts = hosts

    def echoes(self, gaps_us: Floats, burst_byte: Floats | None = None) -> tuple[Floats, Floats]:
        """(sent_us, rtt_us) of one echo each, less the 20 us that the far host takes at least.

        A gap goes by after each answer, and a burst is answered with a burst.
        """
        bursts = np.full(len(gaps_us), ECHO_WIRE_BYTE) if burst_byte is None else burst_byte
        answer_us, stamp_us = (self._hosts.error_us(self._random, len(gaps_us)) / 2 for _ in range(2))
        request_us, reply_us = (self._hosts.lateness_us(self._random, len(gaps_us)) for _ in range(2))
        stamp_us += self._hosts.base_us
        found = []
        for gap, burst, answer, stamp, request in zip(
            gaps_us, bursts, answer_us + reply_us, stamp_us, request_us, strict=True
        ):
            late_us = max(answer + self._hosts.rise(float(gap)), -10.0)
            at, rtt = self._echo(round(gap * PS_US), burst, round(request * PS_US), round(late_us * PS_US))
            found.append((at, rtt + stamp * PS_US))
        sent, rtts = np.asarray(found).T / PS_US
        return sent, rtts

    def _echo(self, gap: int, burst: float, request: int, late: int) -> tuple[int, int]:
        at = self._now + gap
        left = at + request
        self._burst(0, left, burst)
        until = left
        arrived = False
        while True:
            until += STEP // 2
            for nic, when, _data in self._engine.run_until(until):
                if when < left:
                    continue  # the rest of the last burst
                if nic == self._nics[1] and not arrived:
                    arrived = True
                    self._burst(1, when + STEP + late, burst)
                elif nic == self._nics[0] and arrived:
                    self._now = when
                    return at, when - at - STEP

    def _burst(self, source: int, at: int, wire_byte: float) -> None:
        """An echo, and behind it full frames up to so many bytes on the wire."""
        left, size = int(wire_byte), int(ECHO_WIRE_BYTE)
        while left > 0:
            # The engine counts preamble, FCS and gap itself.
            self._engine.send(self._nics[source], at, _frame(1 - source, source, size - FRAME_OVERHEAD_BYTE))
            left -= size
            size = min(max(left, 84), 1_538)
