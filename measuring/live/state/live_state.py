"""The live state of one lab or run, and the view of it at a moment."""

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from eee_testbed.lab.model import Lab, Link
from eee_testbed.measuring.live.state.loop_history import LoopHistory
from eee_testbed.measuring.live.state.port_history import PortHistory
from eee_testbed.measuring.live.state.power_history import PowerHistory
from eee_testbed.measuring.live.state.source_state import SourceStates
from eee_testbed.measuring.live.state.trial_history import TrialHistory
from eee_testbed.measuring.live.state.view import (
    Alarm,
    Clocks,
    EeeState,
    EventView,
    LabView,
    LinkView,
    PortView,
    RunView,
)
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import Event, sentence_of
from eee_testbed.record.run_tail import Update
from eee_testbed.record.sample_tables import Batch

_EVENTS: Final = 200
_ACTUATION_NS: Final = 20_000_000_000
"""A link that goes down this close to an actuation of it raises no alarm."""

_MOST_ALARMS: Final = 50
_HIDDEN: Final = frozenset({EventKind.TRIAL_BEGUN, EventKind.PORTS_SET, EventKind.LOOP_EPOCH})
_NO_PORT = PortView(None, 0, None, None, None, None)


class LiveState:
    """Takes batches, events and echoes; not for several threads at once."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._ports = PortHistory()
        self._power = PowerHistory(strip.name for strip in lab.strips)
        self._trials = TrialHistory()
        self._loop = LoopHistory()
        self._events: deque[EventView] = deque(maxlen=_EVENTS)
        self._eee: dict[str, bool] = {}
        self._actuations_ns: dict[str, list[int]] = {}
        self.sources = SourceStates()
        self.last_ns = 0

    def take(self, batch: Batch) -> None:
        """Rows of any table."""
        self._ports.take(batch)
        self._power.take(batch)
        self.sources.take(batch)
        received_ns = batch.columns.get("received_ns")
        if isinstance(received_ns, int):
            self.last_ns = max(self.last_ns, received_ns)

    def take_event(self, event: Event) -> None:
        """An event."""
        self._trials.take_event(event)
        self._loop.take_event(event)
        self.last_ns = max(self.last_ns, event["time_ns"])
        if event["kind"] == EventKind.ACTUATION:
            self._take_actuation(event)
        elif event["kind"] == EventKind.PORTS_SET:
            self._take_settings(event)
        if event["kind"] not in _HIDDEN:
            self._events.append(EventView(event["time_ns"], sentence_of(event)))

    def take_update(self, update: Update) -> None:
        """What is new."""
        for batch in update.batches:
            self.take(batch)
        for event in update.events:
            self.take_event(event)
        for echo in update.echoes:
            self._trials.take_echo(echo)

    def set_eee(self, enabled: Mapping[str, bool]) -> None:
        """Whether EEE is enabled at ends ("sw1:gi1/0/1"), as their switches show."""
        self._eee.update(enabled)

    def view(
        self,
        now_ns: int,
        facts: Mapping[str, Any] | None = None,
        more: Sequence[Alarm] = (),
        clocks: Clocks | None = None,
    ) -> LabView:
        """Everything as it is at `now_ns`. `facts` are those of a run; `more` alarms come first."""
        switches = frozenset(switch.name for switch in self.lab.switches)
        links = tuple(self._link(link, switches, now_ns) for link in self.lab.links)
        states = self.sources.states()
        ended = facts is not None and facts["state"] != "running"
        alarms = [*more, *([] if ended else self.sources.alarms(now_ns)), *self._alarms(links, now_ns)]
        return LabView(
            lab=self.lab.name,
            now_ns=now_ns,
            switches=tuple(switch.name for switch in self.lab.switches),
            hosts=tuple(host.name for host in self.lab.hosts),
            links=links,
            power=self._power.view(now_ns),
            run=self._run(facts, now_ns, clocks),
            alarms=tuple(alarms[:_MOST_ALARMS]),
            events=tuple(reversed(self._events)),
            answering=(sum(state.outcome == "ok" for state in states), len(states)),
            loop=self._loop.view(),
            clocks=clocks,
        )

    def _run(self, facts: Mapping[str, Any] | None, now_ns: int, clocks: Clocks | None) -> RunView | None:
        if facts is None:
            return None
        begun = datetime.fromisoformat(f"{facts['begun']}+00:00")
        wall_s = None if clocks is None else clocks.wall_s
        return self._trials.view(facts, now_ns, round(begun.timestamp() * 1e9), wall_s)

    def _link(self, link: Link, switches: frozenset[str], now_ns: int) -> LinkView:
        a, b = (self._ports.view(str(end), now_ns) or _NO_PORT for end in (link.a, link.b))
        states = [port.up for port in (a, b) if port.up is not None]
        longest = max((self._ports.recent_share(str(end)) for end in (link.a, link.b)), key=len)
        return LinkView(
            name=link.name,
            a=str(link.a),
            b=str(link.b),
            trunk={link.a.device, link.b.device} <= switches,
            up=all(states) if states else None,
            rate_mbps=a.rate_mbps or b.rate_mbps,
            ab_bps=_first(a.out_bps, b.in_bps),
            ba_bps=_first(b.out_bps, a.in_bps),
            ab_lpi_share=_first(a.transmit_lpi_share, b.receive_lpi_share),
            ba_lpi_share=_first(b.transmit_lpi_share, a.receive_lpi_share),
            eee=self._eee_state(link),
            recent_share=longest,
        )

    def _eee_state(self, link: Link) -> EeeState:
        states = [self._eee[end] for end in (str(link.a), str(link.b)) if end in self._eee]
        if not states:
            return ""
        if len(set(states)) > 1:
            return "one-sided"
        return "on" if states[0] else "off"

    def _take_actuation(self, event: Event) -> None:
        link = self._find_link(str(event.get("link", "")))
        if link is None:
            return
        self._actuations_ns.setdefault(link.name, []).append(event["time_ns"])
        if event.get("what") == "eee" and event.get("after") in {"on", "off"}:
            self.set_eee({str(end): event["after"] == "on" for end in (link.a, link.b) if self._is_port(end.device)})

    def _take_settings(self, event: Event) -> None:
        """Settings of all ports with a cable, as an experiment has read or applied them."""
        for switch, ports in event["ports"].items():
            self.set_eee({f"{switch}:{port}": one["eee"] for port, one in ports.items() if one["eee"] is not None})

    def _is_port(self, device: str) -> bool:
        return any(switch.name == device for switch in self.lab.switches)

    def _find_link(self, name: str) -> Link | None:
        """A link by its name, or by an end that the name begins with."""
        for text in (name, name.partition(" - ")[0], name.partition("--")[0]):
            try:
                return self.lab.find_link(text)
            except KeyError:
                continue
        return None

    def _alarms(self, links: Sequence[LinkView], now_ns: int) -> list[Alarm]:
        alarms = [Alarm("bad", f"{outlet}: the meter has stopped") for outlet in self._power.stale]
        for link in links:
            ends = [self._ports.view(end, now_ns) or _NO_PORT for end in (link.a, link.b)]
            states = {port.up for port in ends if port.up is not None}
            if len(states) > 1:
                alarms.append(Alarm("bad", f"{link.name}: up at one end only"))
            actuations_ns = self._actuations_ns.get(link.name, ())
            downs = [
                len([ns for ns in port.down_ns if not any(abs(ns - at_ns) < _ACTUATION_NS for at_ns in actuations_ns)])
                for port in ends
            ]
            if count := max(downs):
                alarms.append(Alarm("bad", f"{link.name}: went down {_times(count)} in the last 5 minutes"))
            if link.eee == "one-sided" and link.up:
                alarms.append(Alarm("odd", f"{link.name}: EEE at one end only: no LPI"))
            if lost := sum(port.lost_frame for port in ends):
                alarms.append(Alarm("odd", f"{link.name}: {lost} frames discarded or in error in the last 5 minutes"))
        return alarms


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
