"""LPI counters of a switch's ports, from its command line."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from eee_testbed.controller.drivers.driver import Answers, Query
from eee_testbed.lab.model import Switch
from eee_testbed.measuring.collecting.lpi_counters import LpiFamily
from eee_testbed.measuring.collecting.source import Reading, SourceKind
from eee_testbed.record.clock_offsets import Offset
from eee_testbed.record.counters import went_back
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch, Column


class CommandSession(Protocol):
    """The part of a session that this source uses."""

    def ask(self, queries: Sequence[Query], /) -> Answers:
        """Send queries; their answers."""

    def close(self) -> None:
        """Close it."""


class LpiSource:
    """LPI counters of a switch's ports, from its command line."""

    kind: SourceKind = "lpi"

    def __init__(self, switch: Switch, family: LpiFamily, open_session: Callable[[], CommandSession]) -> None:
        self.switch = switch
        self._family = family
        self._open_session = open_session
        self._session: CommandSession | None = None
        self._last: Mapping[str, tuple[int, ...]] = {}

    @property
    def name(self) -> str:
        """The switch's name."""
        return self.switch.name

    def read(self, clock: RunClock) -> Reading:
        """Read all ports, one after the other."""
        queries = self._family.queries(self.switch)
        sent_ns = clock.now_ns()
        if self._session is None:
            self._session = self._open_session()
        answers = self._session.ask(queries)
        received_ns = clock.now_ns()
        found = self._family.read(self.switch, answers)
        marks = [
            "reset" if any(map(went_back, self._last.get(port, counts), counts)) else ""
            for port, counts in found.items()
        ]
        self._last = found
        names = ("tx_lpi_event", "tx_lpi_us", "rx_lpi_event", "rx_lpi_us")
        columns: dict[str, Column] = {"switch": self.name, "port": list(found), "mark": marks}
        for place, name in enumerate(names):
            columns[name] = [counts[place] for counts in found.values()]
        return Reading(Batch("lpi", len(found), columns), sent_ns, received_ns)

    def offsets(self) -> tuple[Offset, ...]:
        """Empty: the switch's clock is read with its ports."""
        return ()

    def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            self._session.close()
            self._session = None
