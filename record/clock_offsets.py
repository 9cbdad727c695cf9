"""Offsets of other clocks from the run's clock, with strict bounds. Pure.

An offset is the other clock minus the run's. The other clock was read between sending and receiving, however asymmetric
the path; so each exchange gives an interval that holds for certain, and several exchanges give their intersection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from eee_testbed.record.columns import midpoint

_NS: Final = 1e9
_MS: Final = 1_000_000

Method = Literal["ssh round trips", "sysUpTime", "chrony"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One reading of another clock, taken between two moments of the run's clock."""

    sent_ns: int
    there_ns: int
    received_ns: int


@dataclass(frozen=True, slots=True)
class Offset:
    """The other clock minus the run's: `offset_ns` with an error of `bound_ns` at most, at `time_ns` of the run.

    `consistent` False: no single offset agrees with all exchanges, as the clock was stepped or its readings are old;
    the bound then covers all of them.
    """

    source: str
    method: Method
    time_ns: int
    offset_ns: int
    bound_ns: int
    consistent: bool = True

    def plain(self) -> dict[str, str | int | bool]:
        """For run.yaml."""
        return {
            "source": self.source,
            "method": self.method,
            "time_ns": self.time_ns,
            "offset_ns": self.offset_ns,
            "bound_ns": self.bound_ns,
            "consistent": self.consistent,
        }


def offset_of(source: str, method: Method, exchanges: Sequence[Exchange], resolution_ns: int = 1) -> Offset:
    """The offset that agrees with all exchanges; `resolution_ns` is the resolution of the other clock.

    ValueError without exchanges. If no offset agrees with all of them, the bound covers every single one.
    """
    if not exchanges:
        raise ValueError(f"{source}: an offset needs at least one exchange")
    lows = [exchange.there_ns - exchange.received_ns for exchange in exchanges]
    highs = [exchange.there_ns + resolution_ns - exchange.sent_ns for exchange in exchanges]
    low, high = max(lows), min(highs)
    consistent = low <= high
    if not consistent:
        low, high = min(lows), max(highs)
    time_ns = midpoint(exchanges[0].sent_ns, exchanges[-1].received_ns)
    return Offset(source, method, time_ns, midpoint(low, high), (high - low + 1) // 2, consistent)


def chrony_bound_ns(tracking: str) -> int | None:
    """The largest error of a clock against UTC, from the output of ``chronyc -c tracking``; None if not synchronised.

    |system time| + root dispersion + root delay / 2, as chronyc(1) has it. Of the 14 fields of the line these are the
    5th, 12th and 11th, in seconds, and the last is the leap status.
    """
    fields = tracking.strip().split(",")
    if len(fields) != 14 or fields[13] == "Not synchronised":
        return None
    try:
        away_s, delay_s, dispersion_s = float(fields[4]), float(fields[10]), float(fields[11])
    except ValueError:
        return None
    return round((abs(away_s) + dispersion_s + abs(delay_s) / 2) * _NS)


def by_chrony(source: str, here: str, there: str, time_ns: int, system_ahead_ns: int) -> Offset | None:
    """A host's offset where chrony disciplines both clocks, from the tracking lines of both; None if it does not.

    `system_ahead_ns` is how far this machine's system clock is ahead of the run's clock.
    """
    ours_ns, theirs_ns = chrony_bound_ns(here), chrony_bound_ns(there)
    if ours_ns is None or theirs_ns is None:
        return None
    return Offset(source, "chrony", time_ns, system_ahead_ns, ours_ns + theirs_ns)


def uptime_exchange(sent_ns: int, uptime_ms: int, received_ns: int) -> Exchange:
    """A reading of sysUpTime, which counts whole hundredths of a second."""
    return Exchange(sent_ns, uptime_ms * _MS, received_ns)


UPTIME_STEP_NS: Final = 10 * _MS
