"""Traffic at a given rate: UDP frames to the discard port, evenly paced, until it is stopped.

    udp_load ADDRESS --mbps 100                      until Ctrl-C or SIGTERM
    udp_load ADDRESS --mbps 100 --payload-byte 1428  frames of 1,470 bytes, as in Koibuchi 2011, section V.B

Frames leave about every millisecond; after a pause of the processor they catch up with what 20 ms hold, and say by how
much more they were late. The rate is that on the wire: headers, preamble, FCS and the gap between frames count too.
Prints JSON lines (agents/stream.py): a header, a row a second, a summary.
"""

from __future__ import annotations

import argparse
import select
import time
from collections.abc import Sequence

from eee_testbed.agents.discard import Discard
from eee_testbed.agents.stream import AgentError, Arguments, Column, Stop, Stream, start

_WIRE_BYTE = 8 + 20 + 14 + 24  # UDP, IPv4, Ethernet; preamble, FCS, gap between frames
_TICK_S = 0.001
_BURST_S = 0.02
_ROW_S = 1.0

COLUMNS = (
    Column("start_ns", "ns", "start of the interval, CLOCK_REALTIME"),
    Column("end_ns", "ns", "its end"),
    Column("frames", "", "frames given to the kernel"),
    Column("wire_byte", "byte", "their length on the wire"),
    Column("refused", "", "frames that the kernel did not take: no room, or no route"),
    Column("late_s", "s", "time by which the sender gave up to be late"),
)


def _arguments() -> argparse.ArgumentParser:
    parser = Arguments(prog="udp_load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="where the frames go")
    parser.add_argument("--mbps", type=float, required=True, help="rate on the wire, in Mb/s")
    parser.add_argument("--payload-byte", type=int, default=1428, help="UDP payload (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.0, help="end after so many seconds (default: never)")
    return parser


def main(words: Sequence[str]) -> int:
    """Send as the command line says."""
    given = _arguments().parse_args(words)
    if not 0 < given.mbps <= 100_000 or not 1 <= given.payload_byte <= 8_972 or given.seconds < 0:
        raise AgentError("--mbps is above 0, --payload-byte 1 to 8972, --seconds not negative.", 2)
    frame_byte = given.payload_byte + _WIRE_BYTE
    payload, rate_hz = bytes(given.payload_byte), given.mbps * 1e6 / (8 * frame_byte)
    link = Discard()
    where = link.target(given.address)
    stop, stream = Stop(), Stream()
    stream.header("udp_load", COLUMNS, address=given.address, mbps=given.mbps, payload_byte=given.payload_byte)
    begun_s = due_s = row_s = time.monotonic()
    row_ns = time.time_ns()
    frames = refused = total = 0
    late_s = 0.0
    while not stop.asked_by and not (given.seconds and time.monotonic() - begun_s >= given.seconds):
        now_s = time.monotonic()
        owed = int((now_s - due_s) * rate_hz)
        most = max(int(_BURST_S * rate_hz), 1)
        if owed > most:
            late_s += (owed - most) / rate_hz
            due_s += (owed - most) / rate_hz
            owed = most
        sent = sum(link.send(payload, where) for _ in range(owed))
        frames, refused = frames + sent, refused + owed - sent
        due_s += owed / rate_hz
        if now_s - row_s >= _ROW_S:
            end_ns = time.time_ns()
            stream.row((row_ns, end_ns, frames, frames * frame_byte, refused, round(late_s, 6)))
            stream.flush()
            total += frames
            row_s, row_ns, frames, refused, late_s = now_s, end_ns, 0, 0, 0.0
        select.select([stop.wakeup], [], [], max(min(due_s + 1 / rate_hz - time.monotonic(), _ROW_S), _TICK_S))
    end_ns = time.time_ns()
    stream.row((row_ns, end_ns, frames, frames * frame_byte, refused, round(late_s, 6)))
    stream.summary(stop.asked_by or "done", frames=total + frames, wire_byte=(total + frames) * frame_byte)
    return 0


if __name__ == "__main__":
    start("udp_load", main)
