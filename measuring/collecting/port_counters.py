"""Counters of a switch's ports: which columns of IF-MIB are read, and resets and wraps between two readings. Pure.

RFC 2863. A 64-bit counter that went back was reset. A 32-bit counter that went back has wrapped if at the port's speed
it can have wrapped only once since the reading before; it is then continued with more bits. Otherwise it was reset.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from eee_testbed.record.counters import went_back

_IF = "1.3.6.1.2.1.2.2.1"
_IFX = "1.3.6.1.2.1.31.1.1.1"

SYS_UPTIME: Final = "1.3.6.1.2.1.1.3.0"
_TICK_MS: Final = 10
_UPTIME_WRAP_MS: Final = 2**32 * _TICK_MS
_WRAP: Final = 2**32
_UPTIME_SLACK_MS: Final = 2_000
_UPTIME_SLACK_SHARE: Final = 0.01
_SMALLEST_FRAME_BIT: Final = 84 * 8  # with preamble and gap


@dataclass(frozen=True, slots=True)
class CounterColumn:
    """A counter; `narrow` is the 32-bit object to read where the 64-bit one is missing, empty without one."""

    name: str
    oid: str
    counter_bit: Literal[32, 64]
    narrow: str = ""


COUNTERS: Final = (
    CounterColumn("in_byte", f"{_IFX}.6", 64, f"{_IF}.10"),  # ifHCInOctets, ifInOctets
    CounterColumn("out_byte", f"{_IFX}.10", 64, f"{_IF}.16"),  # ifHCOutOctets, ifOutOctets
    CounterColumn("in_unicast_frame", f"{_IFX}.7", 64, f"{_IF}.11"),  # ifHCInUcastPkts, ifInUcastPkts
    CounterColumn("in_multicast_frame", f"{_IFX}.8", 64, f"{_IFX}.2"),  # ifHCInMulticastPkts, ifInMulticastPkts
    CounterColumn("in_broadcast_frame", f"{_IFX}.9", 64, f"{_IFX}.3"),  # ifHCInBroadcastPkts, ifInBroadcastPkts
    CounterColumn("out_unicast_frame", f"{_IFX}.11", 64, f"{_IF}.17"),  # ifHCOutUcastPkts, ifOutUcastPkts
    CounterColumn("out_multicast_frame", f"{_IFX}.12", 64, f"{_IFX}.4"),  # ifHCOutMulticastPkts, ifOutMulticastPkts
    CounterColumn("out_broadcast_frame", f"{_IFX}.13", 64, f"{_IFX}.5"),  # ifHCOutBroadcastPkts, ifOutBroadcastPkts
    CounterColumn("in_discard_frame", f"{_IF}.13", 32),  # ifInDiscards
    CounterColumn("in_error_frame", f"{_IF}.14", 32),  # ifInErrors
    CounterColumn("out_discard_frame", f"{_IF}.19", 32),  # ifOutDiscards
    CounterColumn("out_error_frame", f"{_IF}.20", 32),  # ifOutErrors
)

OPER_STATUS: Final = f"{_IF}.8"
LAST_CHANGE: Final = f"{_IF}.9"  # ifLastChange, sysUpTime when the port took its present state
HIGH_SPEED: Final = f"{_IFX}.15"
DISCONTINUITY: Final = f"{_IFX}.19"  # ifCounterDiscontinuityTime, sysUpTime at the last one
_UP: Final = 1

Numbers = Sequence[int | None]
Continuity = Literal["first", "continuous", "restarted", "stopped"]
"""What sysUpTime shows: the first reading; no restart since the last one; a restart; an agent that stands still."""


def uptime_continuity(before_ms: int | None, after_ms: int, least_ms: float, most_ms: float) -> Continuity:
    """Whether an agent kept running between two readings of sysUpTime, `least_ms` to `most_ms` apart by our clock.

    An agent reads it at some time between a request and its response, which may be seconds apart where datagrams are
    lost. The wrap of sysUpTime after 497 days is not a restart. Tolerance for slow agents: 2 s and 1 % of the time.
    """
    if before_ms is None:
        return "first"
    if after_ms == before_ms and least_ms > _UPTIME_SLACK_MS:
        return "stopped"
    middle_ms, half_ms = (least_ms + most_ms) / 2, (most_ms - least_ms) / 2
    error_ms = (after_ms - before_ms - round(middle_ms) + _UPTIME_WRAP_MS // 2) % _UPTIME_WRAP_MS
    error_ms -= _UPTIME_WRAP_MS // 2
    slack_ms = half_ms + _UPTIME_SLACK_MS + _UPTIME_SLACK_SHARE * most_ms
    return "continuous" if abs(error_ms) <= slack_ms else "restarted"


@dataclass(frozen=True, slots=True)
class PortReading:
    """Counters of a switch's ports: each column has a number for each port, None where it is missing.

    `narrow` says which columns are of 32 bits.
    """

    counters: Mapping[str, Numbers]
    narrow: Mapping[str, bool]
    rates_mbps: Numbers
    discontinuity_ms: Numbers
    time_ns: int


class PortMemory:
    """The last reading of a switch's ports, to compare the next one with."""

    def __init__(self) -> None:
        self._last: PortReading | None = None
        self._raw: dict[str, list[int | None]] = {}
        self._wraps: dict[str, list[int]] = {}

    def compare(self, now: PortReading, *, restarted: bool) -> tuple[dict[str, list[int | None]], list[str]]:
        """Counters as they are stored, and a mark for each port; the reading is remembered.

        Marks: "" the difference to the reading before is valid; "wrap" it is valid, and a 32-bit counter has wrapped;
        "reset" it is not. All counters of a port that was reset start again.
        """
        reset, wrapped = self._marks(now, restarted=restarted)
        stored: dict[str, list[int | None]] = {}
        for name, values in now.counters.items():
            known = self._raw.get(name, [None] * len(values))
            if now.narrow[name]:
                counts = self._wraps.get(name, [0] * len(values))
                wraps = [
                    0 if is_reset else count + went_back(before, after)
                    for is_reset, count, before, after in zip(reset, counts, known, values, strict=True)
                ]
                self._wraps[name] = wraps
                stored[name] = [None if v is None else v + _WRAP * n for v, n in zip(values, wraps, strict=True)]
            else:
                stored[name] = list(values)
            self._raw[name] = [old if new is None else new for old, new in zip(known, values, strict=True)]
        self._last = now
        return stored, ["reset" if a else "wrap" if b else "" for a, b in zip(reset, wrapped, strict=True)]

    def forget(self, name: str) -> None:
        """Compare a counter with nothing before: it is read from another column from now on."""
        self._raw.pop(name, None)
        self._wraps.pop(name, None)

    def _marks(self, now: PortReading, *, restarted: bool) -> tuple[list[bool], list[bool]]:
        """Which ports were reset, and of which a counter wrapped."""
        count = len(now.discontinuity_ms)
        if self._last is None:
            return [False] * count, [False] * count
        reset = [
            restarted or (before is not None and after is not None and before != after)
            for before, after in zip(self._last.discontinuity_ms, now.discontinuity_ms, strict=True)
        ]
        wrapped = [False] * count
        elapsed_s = (now.time_ns - self._last.time_ns) / 1e9
        for name, values in now.counters.items():
            known = self._raw.get(name)
            if known is None or known == values:
                continue
            for port, (before, after) in enumerate(zip(known, values, strict=True)):
                if went_back(before, after) and not reset[port]:
                    once = now.narrow[name] and _wrapped_once(name, before, after, now.rates_mbps[port], elapsed_s)
                    wrapped[port] |= once
                    reset[port] = not once
        return reset, wrapped


def _wrapped_once(name: str, before: int | None, after: int | None, rate_mbps: int | None, elapsed_s: float) -> bool:
    """Whether a 32-bit counter that went back wrapped exactly once: more is not possible at the port's speed."""
    if before is None or after is None:
        return False
    bit = 8 if name.endswith("_byte") else _SMALLEST_FRAME_BIT
    most = (rate_mbps or 0) * 1e6 / bit * elapsed_s
    return after + _WRAP - before <= most < _WRAP


def column_of(column: Mapping[str, object], indexes: Sequence[str]) -> list[int | None]:
    """A number for each port from a walked column; None where it is missing."""
    return [value if isinstance(value := column.get(index), int) else None for index in indexes]


def states_of(statuses: Numbers) -> list[bool | None]:
    """IfOperStatus as up or not."""
    return [None if status is None else status == _UP for status in statuses]


def in_ms(ticks: Numbers) -> list[int | None]:
    """TimeTicks, hundredths of a second, in milliseconds."""
    return [None if tick is None else tick * _TICK_MS for tick in ticks]
