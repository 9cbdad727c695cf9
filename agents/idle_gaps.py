"""Idle-gap recorder: how long a node's link was idle between frames, each direction, as a histogram every second.

    idle_gaps INTERFACE                       until Ctrl-C or SIGTERM
    idle_gaps INTERFACE --seconds 60 --cpu 1  for a minute, on one CPU

With `--every-s 0.02 --share 0.002` rows are short at first and get longer, so that a part of a recording is
resolved to a few thousandths, and a long one stays small. A clock that is set back makes one row longer by as much.

It reads the kernel's packet ring (one byte of each frame) and sees what the kernel sees: packets that the card cuts or
joins are one. Needs CAP_NET_RAW. Prints JSON lines (agents/stream.py): a header with the bins' edges, a row an
interval, and a summary with what the recorder itself cost.
"""

from __future__ import annotations

import argparse
import errno
import os
import select
import time
from collections.abc import Sequence

from eee_testbed.agents.ethtool import Ethtool
from eee_testbed.agents.gap_histogram import NEVER_NS, GapHistogram, lower_edges_ns
from eee_testbed.agents.netlink import Link, Links
from eee_testbed.agents.packet_ring import PacketRing
from eee_testbed.agents.stream import AgentError, Arguments, Column, Stop, Stream, start

_BLOCK_BYTE = 1 << 18
_RETIRE_MS = 100
_HANDED_OVER_NS = 2 * _RETIRE_MS * 1_000_000
"""After so long the kernel has handed over what it had seen."""


def _direction(name: str, what: str) -> tuple[Column, ...]:
    return (
        Column(f"{name}_frames", "", f"packets {what}"),
        Column(f"{name}_byte", "byte", f"their length, without Ethernet headers, {what}"),
        Column(f"{name}_busy_ns", "ns", f"time on the wire of what was {what}; 0 if the rate is unknown"),
        Column(f"{name}_idle_ns", "ns", f"sum of the gaps before what was {what}"),
        Column(f"{name}_gaps", "", f"[bin, number of gaps] before what was {what}; bins that are empty are left out"),
    )


COLUMNS = (
    Column(
        "start_ns", "ns", "start of the interval, CLOCK_REALTIME; a frame is of the interval in which it was stamped"
    ),
    Column("end_ns", "ns", "its end"),
    *_direction("transmit", "sent"),
    *_direction("receive", "received"),
    Column("frames_dropped", "", "packets of the interval that the ring had no room for"),
)


def _arguments() -> argparse.ArgumentParser:
    parser = Arguments(prog="idle_gaps", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("interface", help="whose gaps")
    add("--every-s", type=float, default=1.0, help="a row each so many seconds (default %(default)s)")
    add("--share", type=float, default=0.0, help="nor shorter than this share of the time since the start")
    add("--seconds", type=float, default=0.0, help="end after so many seconds (default: never)")
    add("--rate-mbps", type=int, default=0, help="the link's rate, if the driver does not report it")
    add("--ring-mibyte", type=int, default=4, help="memory for frames that wait (default %(default)s)")
    add("--cpu", type=int, default=None, help="run on this CPU alone")
    add("--output", default="", metavar="FILE", help="write to a new file instead of standard output")
    return parser


def _checked(words: Sequence[str]) -> argparse.Namespace:
    given = _arguments().parse_args(words)
    if not 0.01 <= given.every_s <= 3_600 or given.seconds < 0 or not 0 <= given.share < 1:
        raise AgentError("--every-s is 0.01 to 3600, --share 0 to 1, --seconds is not negative.", 2)
    if not 1 <= given.ring_mibyte <= 1_024 or given.rate_mbps < 0:
        raise AgentError("--ring-mibyte is 1 to 1024, --rate-mbps is not negative.", 2)
    if given.cpu is not None:
        try:
            os.sched_setaffinity(0, {given.cpu})
        except (OSError, ValueError):
            raise AgentError(
                f"CPU {given.cpu} is not available to this program: `taskset -p $$` lists those that are.", 2
            ) from None
    return given


def _link(interface: str) -> tuple[Link, int | None]:
    """The interface, and its rate if the driver reports it."""
    links = Links()
    try:
        link = links.link(interface)
    except OSError:
        raise AgentError(f"interface {interface} does not exist here: `ip link` lists all.", 2) from None
    finally:
        links.close()
    card = Ethtool(interface)
    try:
        return link, card.rate_mbps()
    except OSError:
        return link, None
    finally:
        card.close()


def _ring(interface: str, ring_mibyte: int) -> PacketRing:
    try:
        return PacketRing(interface, _BLOCK_BYTE, ring_mibyte * (1 << 20) // _BLOCK_BYTE, _RETIRE_MS)
    except PermissionError:
        raise AgentError("no packet ring is permitted here: run it as root or give it CAP_NET_RAW.") from None
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise AgentError(f"the kernel has no {ring_mibyte} MiB for the ring: choose a smaller --ring-mibyte.") from None


class Recorder:
    """Moves frames from the ring into the histogram, and a row into the stream at each interval's end."""

    def __init__(self, ring: PacketRing, rate_mbps: int | None, stream: Stream, stop: Stop) -> None:
        self._ring = ring
        self._stream = stream
        self._stop = stop
        self._poll = select.poll()
        self._poll.register(ring.fileno(), select.POLLIN)
        self._poll.register(stop.wakeup, select.POLLIN)
        self._began_ns = self._start_ns = time.time_ns()
        self._histogram = GapHistogram(rate_mbps, self._began_ns)
        self._every_ns = 0
        self._share = 0.0
        self._end_ns = 0
        self._dropped = 0

    def run(self, every_s: float, share: float, seconds: float) -> None:
        """Until asked to stop, or for so many seconds."""
        self._every_ns, self._share = round(every_s * 1e9), share
        self._end_ns = self._began_ns + self._every_ns
        last_ns = self._began_ns + round(seconds * 1e9) if seconds else NEVER_NS
        while not self._stop.asked_by and (now_ns := time.time_ns()) < last_ns:
            wait_ns = min(self._end_ns + _HANDED_OVER_NS, last_ns) - now_ns
            self._poll.poll(max(wait_ns, 0) / 1e6 + 1)
            self._drain()
            while time.time_ns() > self._end_ns + _HANDED_OVER_NS:
                self._close_interval()
        self._await_last_block()
        now_ns = time.time_ns()
        while self._end_ns < now_ns:
            self._close_interval()
        self._end_ns = now_ns
        self._close_interval()

    def _await_last_block(self) -> None:
        """Frames that the kernel has already seen lie in a block that it hands over when it is old enough."""
        ring = select.poll()
        ring.register(self._ring.fileno(), select.POLLIN)
        due_s = time.monotonic() + _HANDED_OVER_NS / 1e9
        while (left_s := due_s - time.monotonic()) > 0:
            ring.poll(left_s * 1_000 + 1)
            self._drain()

    def _drain(self) -> None:
        """A frame is of the interval in which it was stamped, whenever it is read."""
        for frames in self._ring.blocks():
            left = self._histogram.add(frames, self._end_ns)
            while left is not None:
                self._close_interval()
                left = self._histogram.add(left, self._end_ns)

    def _close_interval(self) -> None:
        start_ns, end_ns = self._start_ns, self._end_ns
        dropped = self._ring.count_dropped()
        transmit, receive = self._histogram.transmit.take(), self._histogram.receive.take()
        self._stream.row((start_ns, end_ns, *transmit, *receive, dropped - self._dropped))
        self._stream.flush()
        self._start_ns, self._dropped = end_ns, dropped
        self._end_ns += max(self._every_ns, round((end_ns - self._began_ns) * self._share))


def main(words: Sequence[str]) -> int:
    """Record as the command line says."""
    given = _checked(words)
    link, driver_mbps = _link(given.interface)
    rate_mbps = given.rate_mbps or driver_mbps
    ring = _ring(given.interface, given.ring_mibyte)
    stop = Stop()
    stream = Stream(given.output)
    stream.header(
        "idle_gaps",
        COLUMNS,
        interface={"name": link.name, "mac": link.mac, "mtu_byte": link.mtu_byte, "rate_mbps": rate_mbps},
        every_s=given.every_s,
        method="TPACKET_V3",
        block_ms=_RETIRE_MS,
        lower_edges_ns=lower_edges_ns(),
        weaker=[] if rate_mbps else ["the rate is unknown: gaps are from stamp to stamp; give --rate-mbps"],
    )
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    Recorder(ring, rate_mbps, stream, stop).run(given.every_s, given.share, given.seconds)
    stream.summary(
        stop.asked_by or "done",
        frames_dropped=ring.count_dropped(),
        took_s=round(time.monotonic() - began_s, 3),
        cpu_s=round(time.process_time() - began_cpu_s, 3),
    )
    ring.close()
    return 0


if __name__ == "__main__":
    start("idle_gaps", main)
