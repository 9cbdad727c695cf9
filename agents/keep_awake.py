"""A one-way stream that keeps the last links to some hosts awake: a small frame to each of them, every so often.

    keep_awake ADDRESS ADDRESS --every-us 250      until Ctrl-C or SIGTERM

A switch's port to such a host is never idle for longer than that, so it does not enter LPI where its hold is longer,
while the host's own card, which sends nothing, may. Frames are UDP to the discard port; a host on which nothing listens
there says so about once a second (ICMP port unreachable, Linux: `icmp_ratelimit`), which wakes its card. Rounds that
are missed are not made up for: a burst would keep no link awake. Prints JSON lines (agents/stream.py): a header, a row
a second, a summary.
"""

from __future__ import annotations

import argparse
import select
import time
from collections.abc import Sequence

from eee_testbed.agents.discard import Discard
from eee_testbed.agents.stream import AgentError, Arguments, Column, Stop, Stream, start

_PAYLOAD = bytes(18)  # a frame of 60 bytes, the shortest
_LEAST_US, _MOST_US = 20.0, 1e6
_ROW_NS = 1_000_000_000

COLUMNS = (
    Column("start_ns", "ns", "start of the interval, CLOCK_REALTIME"),
    Column("end_ns", "ns", "its end"),
    Column("rounds", "", "rounds of frames, one to each host"),
    Column("late", "", "rounds that came more than twice as long after the one before as they should have"),
    Column("longest_ns", "ns", "longest time between two rounds"),
    Column("refused", "", "frames that the kernel did not take: no room, or no route"),
)


def _arguments() -> argparse.ArgumentParser:
    parser = Arguments(prog="keep_awake", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("addresses", nargs="+", help="where the frames go")
    parser.add_argument("--every-us", type=float, required=True, help="time between two frames to a host")
    return parser


class _Rounds:
    """Rounds of one interval."""

    def __init__(self) -> None:
        self.start_ns = time.time_ns()
        self.count = self.late = self.longest_ns = self.refused = 0

    def add(self, since_ns: int, every_ns: int, refused: int) -> None:
        """One round, so long after the one before."""
        self.count += 1
        self.late += since_ns > 2 * every_ns
        self.longest_ns = max(self.longest_ns, since_ns)
        self.refused += refused

    def row(self) -> tuple[int, ...]:
        """As in COLUMNS."""
        return (self.start_ns, time.time_ns(), self.count, self.late, self.longest_ns, self.refused)


def main(words: Sequence[str]) -> int:
    """Send as the command line says."""
    given = _arguments().parse_args(words)
    if not _LEAST_US <= given.every_us <= _MOST_US:
        raise AgentError(f"--every-us is {_LEAST_US:g} to {_MOST_US:g}.", 2)
    link = Discard()
    targets = [link.target(name) for name in given.addresses]
    every_ns = round(given.every_us * 1000)
    stop, stream = Stop(), Stream()
    stream.header("keep_awake", COLUMNS, addresses=given.addresses, every_us=given.every_us)
    rounds, late, total = _Rounds(), 0, 0
    last_ns = due_ns = row_ns = time.monotonic_ns()
    while not stop.asked_by:
        refused = sum(not link.send(_PAYLOAD, where) for where in targets)
        now_ns = time.monotonic_ns()
        rounds.add(now_ns - last_ns, every_ns, refused)
        last_ns = now_ns
        if now_ns - row_ns >= _ROW_NS:
            stream.row(rounds.row())
            stream.flush()
            total, late, row_ns, rounds = total + rounds.count, late + rounds.late, now_ns, _Rounds()
        due_ns = max(due_ns + every_ns, now_ns)
        select.select([stop.wakeup], [], [], max(due_ns - time.monotonic_ns(), 0) / 1e9)
    stream.row(rounds.row())
    stream.summary(stop.asked_by, rounds=total + rounds.count, late=late + rounds.late)
    return 0


if __name__ == "__main__":
    start("keep_awake", main)
