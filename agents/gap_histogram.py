"""How long each direction of a link was idle between frames, in bins that are narrow where gaps are short.

A link that transmits at B bit/s is busy with a frame for its bits / B. A frame to be sent is stamped before it goes, so
it begins when it is stamped or when the one before it has gone; a frame received is stamped after it came. What the
kernel hands over whole and the card cuts counts as one busy time, with the overhead of each piece. Stamps of received
frames hold the card's interrupt delay: with coalescing interrupts, gaps shorter than that delay are seen too short or
too long, which a card's hardware stamps would correct.
"""

from __future__ import annotations

import itertools

from eee_testbed.agents.link_tap import OUTGOING
from eee_testbed.agents.packet_ring import Frames

_PER_OCTAVE_BITS = 6
"""A link falls asleep at one gap exactly: bins of 1/64 are 15 us wide at 1 ms, of 1/8 as wide as a Tw or two."""

_LINEAR_NS = 2 << _PER_OCTAVE_BITS
_IN_OCTAVE = (1 << _PER_OCTAVE_BITS) - 1
_BINS = 48 << _PER_OCTAVE_BITS
_ETHERNET_BYTE = 14 + 4 + 20
"""Header, check sequence, preamble and the gap that Ethernet itself demands."""

_LEAST_BYTE = 46
_MTU_BYTE = 1500
NEVER_NS = 1 << 63
"""Later than any stamp."""


def lower_edges_ns() -> list[int]:
    """Lower edge of each bin, nanoseconds; bin n holds gaps from edge n up to edge n+1, which is not in it."""
    return [
        n if n < _LINEAR_NS else (_IN_OCTAVE + 1 | n & _IN_OCTAVE) << (n >> _PER_OCTAVE_BITS) - 1 for n in range(_BINS)
    ]


def busy_ns(size_byte: int, rate_mbps: int) -> int:
    """How long a link is busy with a packet of this length (without Ethernet header), by 1,500-byte frames; >= 1."""
    pieces = max(1, -(-size_byte // _MTU_BYTE))
    on_wire_byte = max(size_byte, _LEAST_BYTE) + pieces * _ETHERNET_BYTE
    return max(1, on_wire_byte * 8_000 // rate_mbps)


class Direction:
    """One direction's gaps since the last `take`."""

    def __init__(self) -> None:
        self.free_ns = 0
        """When the link last became free; 0 before the first frame."""

        self._clear()

    def _clear(self) -> None:
        self.frames = self.size_byte = self.busy_ns = self.idle_ns = 0
        self.bins = [0] * _BINS

    def take(self) -> list[object]:
        """Frames, bytes, busy ns, idle ns, and [bin, gaps] of each bin that is not empty; then begin again."""
        filled = [[number, count] for number, count in enumerate(self.bins) if count]
        taken: list[object] = [self.frames, self.size_byte, self.busy_ns, self.idle_ns, filled]
        self._clear()
        return taken


class GapHistogram:
    """Both directions. Without a rate, gaps are counted from stamp to stamp.

    The first frames, stamped before `since_ns`, are not taken in: the ring had them before the recording began, and the
    gap after them is not all of it.
    """

    def __init__(self, rate_mbps: int | None, since_ns: int = 0) -> None:
        self._rate_mbps = rate_mbps
        self._since_ns = since_ns
        self._busy_ns: dict[int, int] = {}
        self.transmit, self.receive = Direction(), Direction()

    def _busy(self, size_byte: int) -> int:
        busy = self._busy_ns.get(size_byte)
        if busy is None:
            busy = 0 if self._rate_mbps is None else busy_ns(size_byte, self._rate_mbps)
            self._busy_ns[size_byte] = busy
        return busy

    def _recorded(self, frames: Frames) -> Frames:
        """Without those from before the recording; once it has begun a clock that is set back drops none."""
        for frame in (coming := iter(frames)):
            if frame[0] * 1_000_000_000 + frame[1] >= self._since_ns:
                self._since_ns = 0
                return itertools.chain([frame], coming)
        return ()

    def add(self, frames: Frames, before_ns: int = NEVER_NS) -> Frames | None:
        """Take frames in, in their order, up to the first stamped at `before_ns` or later; what is left."""
        transmit, receive, known = self.transmit, self.receive, self._busy_ns
        coming = iter(self._recorded(frames) if self._since_ns else frames)
        for seconds, rest_ns, size_byte, kind in coming:
            stamped_ns = seconds * 1_000_000_000 + rest_ns
            if stamped_ns >= before_ns:
                return itertools.chain([(seconds, rest_ns, size_byte, kind)], coming)
            busy_ns = known.get(size_byte)
            if busy_ns is None:
                busy_ns = self._busy(size_byte)
            outgoing = kind == OUTGOING
            direction = transmit if outgoing else receive
            begin_ns = stamped_ns if outgoing else stamped_ns - busy_ns
            free_ns = direction.free_ns
            gap_ns = begin_ns - free_ns
            direction.frames += 1
            direction.size_byte += size_byte
            direction.busy_ns += busy_ns
            if gap_ns <= 0:
                direction.bins[0] += 1
                direction.free_ns = free_ns + busy_ns if outgoing else max(free_ns, stamped_ns)
                continue
            direction.free_ns = begin_ns + busy_ns
            if free_ns:
                direction.idle_ns += gap_ns
                if gap_ns < _LINEAR_NS:
                    direction.bins[gap_ns] += 1
                else:
                    length = gap_ns.bit_length()  # each doubling is cut into 64 equal bins
                    direction.bins[(length - 6 << 6) | (gap_ns >> length - 7) & 63] += 1
        return None
