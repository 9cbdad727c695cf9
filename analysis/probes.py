"""What a ping-interval probe measured on one path."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.interval import Floats
from controller.errors import LabError

FRAME_OVERHEAD_BYTE = 24
"""Preamble, FCS and the gap between frames (IEEE 802.3, clauses 3 and 4)."""

ECHO_WIRE_BYTE = 14.0 + 20.0 + 8.0 + 64.0 + FRAME_OVERHEAD_BYTE
"""An ICMP echo with 64 bytes of payload over IPv4."""


class TooLittle(LabError):
    """The data cannot answer the question; the sentence says what to measure instead."""


@dataclass(frozen=True, slots=True)
class Probes:
    """Echoes in the order in which they left; all arrays have shape (n,).

    `sent_us`: when each request left, by the kernel's transmit time stamp. `rtt_us`: round-trip times, NaN for an echo
    that was lost. `burst_byte`: bytes on the wire sent back to back with the request, itself included, with
    preamble, FCS and the gap between frames (24 bytes a frame); the reply comes in such a burst too.
    """

    sent_us: Floats
    rtt_us: Floats
    burst_byte: Floats

    @classmethod
    def of(cls, sent_us: ArrayLike, rtt_us: ArrayLike, burst_byte: ArrayLike = ECHO_WIRE_BYTE) -> "Probes":
        """Check and convert; TooLittle if times do not rise or lengths differ."""
        sent, rtt = np.asarray(sent_us, dtype=float), np.asarray(rtt_us, dtype=float)
        if sent.shape != rtt.shape or sent.ndim != 1:
            raise TooLittle("each echo needs one transmit time and one round-trip time: read the probe's file again.")
        if not np.all(np.diff(sent) > 0):
            raise TooLittle(
                "the transmit times do not rise: sort the echoes, or leave out where the clock was set back."
            )
        return cls(sent, rtt, np.broadcast_to(np.asarray(burst_byte, dtype=float), sent.shape))

    @property
    def gap_us(self) -> Floats:
        """Time since the last request left, shape (n,); NaN for the first."""
        return np.diff(self.sent_us, prepend=np.nan)

    @property
    def usable(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Echoes that were answered, and their predecessors too: else nobody knows how long the way back was idle."""
        answered = ~np.isnan(self.rtt_us)
        before = np.concatenate(([False], answered[:-1]))
        usable: np.ndarray[tuple[int], np.dtype[np.bool_]] = answered & before
        return usable
