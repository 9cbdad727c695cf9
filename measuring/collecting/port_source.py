"""Counters, speeds and states of a switch's ports, by SNMP columns."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Protocol

from eee_testbed.controller.drivers.driver import Answers, SnmpValue
from eee_testbed.controller.drivers.places import FINDERS, IF_NAME, places
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch
from eee_testbed.measuring.collecting.frame_check import FrameCheck, counts_nothing
from eee_testbed.measuring.collecting.port_counters import (
    COUNTERS,
    DISCONTINUITY,
    HIGH_SPEED,
    LAST_CHANGE,
    OPER_STATUS,
    SYS_UPTIME,
    Continuity,
    CounterColumn,
    PortMemory,
    PortReading,
    column_of,
    in_ms,
    states_of,
    uptime_continuity,
)
from eee_testbed.measuring.collecting.source import Reading, SourceEvent, SourceKind
from eee_testbed.record.clock_offsets import UPTIME_STEP_NS, Exchange, Offset, offset_of, uptime_exchange
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch, Column

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
        self._uncounted: dict[str, set[int]] = {}  # positions of ports whose counter does not count
        self._memory = PortMemory()
        self._frames = FrameCheck()
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
        counters = {name: self._counter(name) for name in self._oids}
        speeds, states = self._column(HIGH_SPEED), self._column(OPER_STATUS)
        changed_ms, discontinuity_ms = in_ms(self._column(LAST_CHANGE)), in_ms(self._column(DISCONTINUITY))
        received_ns = clock.now_ns()
        narrow = {name: is_narrow for name, (_, is_narrow) in self._oids.items()}
        reading = PortReading(counters, narrow, speeds, discontinuity_ms, received_ns)
        stored, marks = self._memory.compare(reading, restarted=self._restarted)
        if wrong := self._frames.wrong(stored, marks):
            stored, marks = self._without(wrong, stored, marks)
            events += self._missing_now()
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
        self._indexes, self._uncounted = indexes, {}
        chosen = {counter.name: self._chosen(counter) for counter in COUNTERS}
        self._oids = {name: column for name, column in chosen.items() if column is not None}
        if "in_byte" not in self._oids:
            self._indexes = []
            raise Unreadable(self.name, "ifHCInOctets and ifInOctets", "no port has one")
        return self._missing_now()

    def _chosen(self, counter: CounterColumn) -> tuple[str, bool] | None:
        """The column to read for a counter, and whether it has 32 bits; None if no port has one that counts."""
        values = self._column(counter.oid)
        narrow = self._column(counter.narrow) if counter.narrow else [None] * len(values)
        if any(value is not None for value in values):
            if counts_nothing(values, narrow, frames=counter.name.endswith("_frame")):
                return counter.narrow, True
            return counter.oid, counter.counter_bit == 32
        return (counter.narrow, True) if any(value is not None for value in narrow) else None

    def _missing_now(self) -> list[SourceEvent]:
        """An event if the counters that are missing changed."""
        missing = [counter.name for counter in COUNTERS if counter.name not in self._oids]
        for name, uncounted in self._uncounted.items():
            ports = ", ".join(self._ports[place] for place in sorted(uncounted))
            missing.append(name if len(uncounted) == len(self._ports) else f"{name} of {ports}")
        if tuple(missing) == self._missing:
            return []
        self._missing = tuple(missing)
        return [SourceEvent(EventKind.COUNTERS_MISSING, {"columns": ", ".join(missing)})]

    def _without(
        self, wrong: Mapping[str, Collection[int]], stored: dict[str, list[int | None]], marks: list[str]
    ) -> tuple[dict[str, list[int | None]], list[str]]:
        """A reading without counters that cannot be true: those of 32 bits instead if they have counted, else none."""
        changed = dict(stored)
        for counter in COUNTERS:
            places = wrong.get(counter.name, ())
            if not places:
                continue
            narrow = self._column(counter.narrow) if counter.narrow else []
            if self._oids[counter.name][0] == counter.oid and any(narrow[place] for place in places if narrow):
                self._oids[counter.name] = (counter.narrow, True)
                self._memory.forget(counter.name)
                changed[counter.name] = narrow
                marks = ["reset"] * len(marks)  # no difference between two columns is valid
            else:
                self._uncounted.setdefault(counter.name, set()).update(places)
                changed[counter.name] = self._only_counted(counter.name, stored[counter.name])
        return changed, marks

    def _counter(self, name: str) -> list[int | None]:
        return self._only_counted(name, self._column(self._oids[name][0]))

    def _only_counted(self, name: str, values: list[int | None]) -> list[int | None]:
        uncounted = self._uncounted.get(name, ())
        return [None if place in uncounted else value for place, value in enumerate(values)]

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
