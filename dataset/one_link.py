"""One link under equally spaced frames, as the twin's engine moves them: how long it spends in each state."""

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

from eee_engine import VirtualEngine

from eee_testbed.lab.errors import LabError

if TYPE_CHECKING:
    from eee_engine import LpiTiming, Mode, TimeInState

_SETTLED_PS: Final = 10 * 10**12
"""The link is up, and EEE is negotiated, long before."""

_WARM_UP: Final = 64
"""Frames before the measured ones: the first finds a link that has slept for long."""

_LEAST: Final = 32
"""Frames that are measured, at least."""

_CYCLES: Final = 100
"""Of falling asleep and waking, while several frames come: a part of a cycle at the end is 1 % of the time at most."""

_PER_FRAME_BYTE: Final = 20
"""Preamble and inter-frame gap."""

FCS_BYTE: Final = 4
_NAMES: Final = (b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02")
_LOCAL_TYPE: Final = b"\x88\xb5"
"""EtherType for local experiments (IEEE 802)."""


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """Frames of `size_byte` (with FCS) every `interval_us` on a link of a PHY profile that follows an LPI policy."""

    phy: str
    speed_mbps: int
    mode: "Mode"
    timing: "LpiTiming"
    size_byte: int
    interval_us: float
    cycle_us: float = 0.0
    """How long falling asleep and waking take together; 0 if the link stays awake."""

    @property
    def frames(self) -> int:
        """That are measured."""
        return max(_LEAST, ceil(_CYCLES * self.cycle_us / self.interval_us))

    @property
    def wire_us(self) -> float:
        """How long a frame takes, with preamble and gap."""
        return (self.size_byte + _PER_FRAME_BYTE) * 8 / self.speed_mbps


@dataclass(frozen=True, slots=True)
class LinkTimes:
    """Of the transmitter, between the same moments of two frames: counts before and after, and the frames' delay.

    `delay_us` is the mean from a frame's sending to its delivery at the other end, the frame itself included.
    """

    before: "TimeInState"
    after: "TimeInState"
    delay_us: float
    frames: int

    def fraction(self, *states: str) -> float:
        """Share of the time in some states, such as "quiet" and "refresh"."""
        spent = sum(self.after[f"{one}_ps"] - self.before[f"{one}_ps"] for one in states)  # type: ignore[literal-required]
        return float(spent / (self.after["total_ps"] - self.before["total_ps"]))

    @property
    def woken_fraction(self) -> float:
        """Share of frames that woke the link."""
        return (self.after["wakes"] - self.before["wakes"]) / self.frames


def link_times(load: LinkLoad) -> LinkTimes:
    """Send the frames; LabError if the link cannot carry so many."""
    if load.interval_us <= load.wire_us:
        raise LabError(
            f"a frame of {load.size_byte} byte takes {load.wire_us:g} us at {load.speed_mbps} Mb/s: "
            f"use an interval above that, not {load.interval_us:g} us."
        )
    engine = VirtualEngine(seed=0)
    sender, receiver = (engine.add_host(f"h{number}", mac=mac, phy=load.phy) for number, mac in enumerate(_NAMES))
    for port in (sender, receiver):
        engine.set_interruption(port, seconds=0.0)
        engine.set_port(port, eee=load.mode != "off")
    engine.set_lpi(sender, mode=load.mode, timing=load.timing)
    engine.connect(sender, receiver, length_m=1.0)
    interval_ps = round(load.interval_us * 1e6)
    frame = _NAMES[1] + _NAMES[0] + _LOCAL_TYPE
    frame += bytes(load.size_byte - FCS_BYTE - len(frame))
    sent = [_SETTLED_PS + number * interval_ps for number in range(_WARM_UP + load.frames)]
    for at_ps in sent:
        engine.send(sender, at_ps, frame)
    begin_ps, end_ps = sent[_WARM_UP] - 1, sent[-1] + interval_ps - 1
    delivered = engine.run_until(begin_ps)
    before = engine.time_in_state(sender)
    delivered += engine.run_until(end_ps)
    after = engine.time_in_state(sender)
    delivered += engine.run_until(end_ps + _SETTLED_PS)
    delays = [at_ps - begun_ps for (_, at_ps, _), begun_ps in zip(delivered, sent, strict=True)][_WARM_UP:]
    return LinkTimes(before, after, sum(delays) / len(delays) / 1e6, len(delays))
