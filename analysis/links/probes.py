"""What a ping-interval probe measured on one path."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.interval import Floats, NotEnoughData

Mask = NDArray[np.bool_]

FRAME_OVERHEAD_BYTE = 24
"""Preamble, FCS and the gap between frames (IEEE 802.3, clauses 3 and 4)."""

ECHO_WIRE_BYTE = 14.0 + 20.0 + 8.0 + 64.0 + FRAME_OVERHEAD_BYTE
"""An ICMP echo with 64 bytes of payload over IPv4."""

LATE_NS = 50_000
"""An echo that leaves later than wanted by this is of a processor that is busy with other things."""


@dataclass(frozen=True, slots=True)
class Probes:
    """Echoes in the order in which they left; all arrays have shape (n,).

    `sent_us`: when each request left, by the kernel's transmit time stamp. `rtt_us`: round-trip times, NaN for an echo
    that was lost. `burst_byte`: bytes on the wire sent back to back with the request, itself included, with
    preamble, FCS and the gap between frames (24 bytes a frame); the reply comes in such a burst too. `punctual`: if
    it left when it was to leave; one that did not met a busy processor, which may have delayed its answer as well. Its
    gap is true all the same, and that of the next.
    """

    sent_us: Floats
    rtt_us: Floats
    burst_byte: Floats
    punctual: Mask

    @classmethod
    def of(
        cls,
        sent_us: ArrayLike,
        rtt_us: ArrayLike,
        burst_byte: ArrayLike = ECHO_WIRE_BYTE,
        punctual: ArrayLike = True,  # noqa: FBT002 - one value for all, or an array
    ) -> "Probes":
        """Check and convert; NotEnoughData if times do not rise or lengths differ."""
        sent, rtt = np.asarray(sent_us, dtype=float), np.asarray(rtt_us, dtype=float)
        if sent.shape != rtt.shape or sent.ndim != 1:
            raise NotEnoughData("each echo needs a transmit time and a round-trip time: read the probe's file again.")
        if not np.all(np.diff(sent) > 0):
            raise NotEnoughData(
                "the transmit times do not rise: sort the echoes, or leave out where the clock was set back."
            )
        size, told = np.asarray(burst_byte, dtype=float), np.asarray(punctual, dtype=bool)
        return cls(sent, rtt, np.broadcast_to(size, sent.shape), np.broadcast_to(told, sent.shape))

    @property
    def gap_us(self) -> Floats:
        """Time since the last request left, shape (n,); NaN for the first."""
        return np.diff(self.sent_us, prepend=np.nan)

    @property
    def usable(self) -> Mask:
        """Punctual echoes that were answered, and their predecessors: else nobody knows how long the way back idled."""
        answered = ~np.isnan(self.rtt_us)
        before = np.concatenate(([False], answered[:-1]))
        return np.asarray(answered & before & self.punctual)
