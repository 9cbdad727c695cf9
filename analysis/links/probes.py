"""What a ping-interval probe measured on one path."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eee_testbed.analysis.interval import Floats, NotEnoughData

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]

FRAME_OVERHEAD_BYTE = 24
"""Preamble, FCS and the gap between frames (IEEE 802.3, clauses 3 and 4)."""

_LEAST_FRAME_BYTE = 60.0  # without FCS


def echo_wire_byte(payload_byte: int) -> float:
    """Bytes that an ICMP echo with so much data behind its header takes on the wire, over IPv4."""
    return max(14.0 + 20.0 + 8.0 + payload_byte, _LEAST_FRAME_BYTE) + FRAME_OVERHEAD_BYTE


ECHO_WIRE_BYTE = echo_wire_byte(56)
"""Of 64 bytes of data including 8 of ICMP (Miwa 2013, section 5.1.1), which is also what `ping` sends by default."""

LATE_NS = 50_000
"""An echo that leaves later than scheduled by this shows a busy processor."""


@dataclass(frozen=True, slots=True)
class Probes:
    """Echoes in the order in which they left; all arrays have shape (n,).

    `sent_us`: when each request left, by the kernel's transmit time stamp. `rtt_us`: round-trip times, NaN for an echo
    that was lost. `burst_byte`: bytes on the wire sent back to back with the request, itself included, with
    preamble, FCS and the gap between frames (24 bytes a frame); the reply is in such a burst too. `punctual`: whether
    it left on schedule; a late one met a busy processor, which may have delayed its answer too. Its gap and the next
    one are measured correctly all the same. `trial`: the number of the trial that it belongs to.
    """

    sent_us: Floats
    rtt_us: Floats
    burst_byte: Floats
    punctual: Mask
    trial: Ints

    @classmethod
    def of(
        cls,
        sent_us: ArrayLike,
        rtt_us: ArrayLike,
        burst_byte: ArrayLike = ECHO_WIRE_BYTE,
        punctual: ArrayLike = True,  # noqa: FBT002 - one value for all, or an array
        trial: ArrayLike = 0,
    ) -> "Probes":
        """Validate and convert; NotEnoughData if times do not rise or lengths differ."""
        sent, rtt = np.asarray(sent_us, dtype=float), np.asarray(rtt_us, dtype=float)
        if sent.shape != rtt.shape or sent.ndim != 1:
            raise NotEnoughData("each echo needs a transmit time and a round-trip time: read the probe's file again.")
        if not np.all(np.diff(sent) > 0):
            raise NotEnoughData(
                "the transmit times do not rise: sort the echoes, or remove those before the clock was set back."
            )
        size, on_time = np.asarray(burst_byte, dtype=float), np.asarray(punctual, dtype=bool)
        number = np.asarray(trial, dtype=np.int64)
        return cls(sent, rtt, *(np.broadcast_to(one, sent.shape) for one in (size, on_time, number)))

    @property
    def gap_us(self) -> Floats:
        """Time since the last request left, shape (n,); NaN for the first."""
        return np.diff(self.sent_us, prepend=np.nan)

    @property
    def usable(self) -> Mask:
        """Punctual, answered echoes after an answered one; else the idle time of the return path is unknown."""
        answered = ~np.isnan(self.rtt_us)
        before = np.concatenate(([False], answered[:-1]))
        return np.asarray(answered & before & self.punctual)
