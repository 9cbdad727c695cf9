"""Counters, speeds and states of a switch's ports, by SNMP columns."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from controller.collecting.port_counters import (
    COUNTERS,
    DISCONTINUITY,
    HIGH_SPEED,
    LAST_CHANGE,
    OPER_STATUS,
    SYS_UPTIME,
    Continuity,
    PortMemory,
    PortReading,
    column_of,
    in_ms,
    states_of,
    uptime_continuity,
)
from controller.collecting.source import Reading, SourceEvent, SourceKind
from controller.drivers.driver import Answers, SnmpValue
from controller.drivers.places import FINDERS, IF_NAME, places
from lab.errors import Unreadable
from lab.model import Switch
from record.clock_offsets import UPTIME_STEP_NS, Exchange, Offset, offset_of, uptime_exchange
from record.event_kinds import EventKind
from record.run_clock import RunClock
from record.sample_tables import Batch, Column

_TICK_MS: Final = 10
_KEPT_EXCHANGES: Final = 20


class CountingAgent(Protocol):
    """The part of an SNMP agent that this source uses."""

    def walk(self, oid: str, rows: int = ..., /) -> dict[str, SnmpValue]:
        """A column; `rows` are requested at a time."""

    def get(self, oids: Sequence[str], /) -> dict[str, SnmpValue]:
        """Objects by OID."""

    def close(self) -> None:
        """Close it."""


class PortSource:
    """Counters, speeds and states of all ports of a switch in the inventory, by SNMP columns."""

    kind: SourceKind = "switch"

    def __init__(self, switch: Switch, make_agent: Callable[[], CountingAgent]) -> None:
        self.switch = switch
        self._make_agent = make_agent
        self._opened: CountingAgent | None = None
        self._ports = [port.name for port in switch.ports]
        self._indexes: list[str] = []
        self._rows = 0
        self._oids: dict[str, tuple[str, bool]] = {}
        self._missing: tuple[str, ...] = ()
        self._memory = PortMemory()
        self._restarted = False  # and not read since
        self._uptime: tuple[int, int, int] | None = None  # (milliseconds, asked and answered in the run's ns)
        self._first: list[Exchange] = []
        self._last: list[Exchange] = []

    @property
    def name(self) -> str:
        """The switch's name."""
        return self.switch.name

    def read(self, clock: RunClock) -> Reading:
        """Read all columns."""
        events: list[SourceEvent] = []
        sent_ns = clock.now_ns()
        uptime_ms = self._uptime_ms()
        continuity = self._continuity(uptime_ms, sent_ns, clock.now_ns())
        self._restarted |= continuity == "restarted"
        if self._restarted or not self._indexes:  # interfaces may have other numbers now
            events += self._find_ports()
        counters = {name: self._column(oid) for name, (oid, _) in self._oids.items()}
        speeds, states = self._column(HIGH_SPEED), self._column(OPER_STATUS)
        changed_ms, discontinuity_ms = in_ms(self._column(LAST_CHANGE)), in_ms(self._column(DISCONTINUITY))
        received_ns = clock.now_ns()
        narrow = {name: is_narrow for name, (_, is_narrow) in self._oids.items()}
        reading = PortReading(counters, narrow, speeds, discontinuity_ms, received_ns)
        stored, marks = self._memory.compare(reading, restarted=self._restarted)
        mark = "restarted" if self._restarted else "stale" if continuity == "stopped" else ""
        if self._restarted:
            events.append(SourceEvent(EventKind.SWITCH_RESTARTED, {"uptime_ms": uptime_ms}))
            self._restarted = False
        if continuity == "stopped":
            marks = [mark or "stale" for mark in marks]
        columns: dict[str, Column] = {
            "switch": self.name,
            "port": self._ports,
            "up": states_of(states),
            "changed_ms": changed_ms,
            "rate_mbps": speeds,
            **stored,
        }
        batch = Batch("ports", len(self._ports), {**columns, "discontinuity_ms": discontinuity_ms, "mark": marks})
        return Reading(batch, sent_ns, received_ns, mark, uptime_ms, tuple(events))

    def offsets(self) -> tuple[Offset, ...]:
        """Of sysUpTime, in nanoseconds since the switch started, from its first and last readings."""
        groups = [group for group in (self._first, self._last) if group]
        return tuple(offset_of(self.name, "sysUpTime", group, UPTIME_STEP_NS) for group in groups)

    def close(self) -> None:
        """Close the agent; the next reading makes a new one, with its first timeouts again."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def _agent(self) -> CountingAgent:
        if self._opened is None:
            self._opened = self._make_agent()
        return self._opened

    def _find_ports(self) -> list[SourceEvent]:
        """Find the ports' rows in the MIBs and the counters that exist; an event if the missing ones changed."""
        answers: Answers = {walk: self._agent.walk(walk.oid) for walk in FINDERS}
        index_of = {place.name: str(place.if_index) for place in places(self.switch, answers)}
        indexes = [index_of[port] for port in self._ports]
        self._rows = len(answers[IF_NAME]) + 1
        oids, missing = {}, []
        for counter in COUNTERS:
            for oid, is_narrow in ((counter.oid, counter.counter_bit == 32), (counter.narrow, True)):
                if oid and any(value is not None for value in column_of(self._agent.walk(oid, self._rows), indexes)):
                    oids[counter.name] = (oid, is_narrow)
                    break
            else:
                missing.append(counter.name)
        if "in_byte" not in oids:
            raise Unreadable(self.name, "ifHCInOctets and ifInOctets", "no port has one")
        self._indexes, self._oids = indexes, oids
        if tuple(missing) == self._missing:
            return []
        self._missing = tuple(missing)
        return [SourceEvent(EventKind.COUNTERS_MISSING, {"columns": ", ".join(missing)})]

    def _column(self, oid: str) -> list[int | None]:
        return column_of(self._agent.walk(oid, self._rows), self._indexes)

    def _uptime_ms(self) -> int:
        ticks = self._agent.get([SYS_UPTIME]).get(SYS_UPTIME)
        if not isinstance(ticks, int):
            raise Unreadable(self.name, "sysUpTime", repr(ticks))
        return ticks * _TICK_MS

    def _continuity(self, uptime_ms: int, sent_ns: int, answered_ns: int) -> Continuity:
        before_ms, before_sent_ns, before_answered_ns = self._uptime or (None, sent_ns, answered_ns)
        least_ms, most_ms = (sent_ns - before_answered_ns) / 1e6, (answered_ns - before_sent_ns) / 1e6
        continuity = uptime_continuity(before_ms, uptime_ms, least_ms, most_ms)
        exchange = uptime_exchange(sent_ns, uptime_ms, answered_ns)
        if continuity == "restarted":
            self._first, self._last = [], []
        if continuity != "stopped":
            self._uptime = (uptime_ms, sent_ns, answered_ns)
            if len(self._first) < _KEPT_EXCHANGES:
                self._first.append(exchange)
            else:
                self._last = [*self._last[1 - _KEPT_EXCHANGES :], exchange]
        return continuity
