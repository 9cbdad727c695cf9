"""What a switch's ports did in a window: how they were set, whether they were up, what they carried, how they slept.

Events `ports_set` say how ports were set; samples of counters, whether they were up, at which speed, and what they
sent and received; LPI counters, their time in low-power idle.

A port that sends and receives no more than a few frames a second (LLDP, ARP) carries no traffic: such chatter is no
rate to fit the energy of bits to. Frames that cannot have carried the bits of the same port were not counted (an agent
whose frame counters stay 0); the bits then decide, counted as the smallest frames.

Simplification. Without LPI counters, a port with EEE on counts as in LPI all the time if it carries no traffic; its
refresh of 1 % is then part of the LPI fraction. From half its line rate on it counts as never in LPI: gaps between
frames are then shorter than falling asleep and waking take. In between, its share is unknown. Where one end never
asks for LPI, that is of one direction: what an idle link saves. Echoes show which ends sleep, LPI counters which
direction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import Trial

_QUIET_PPS: Final = 20.0
"""Frames a second that a port sends, or receives, without carrying traffic (LLDP, ARP); they hardly disturb sleep."""

_BUSY_SHARE: Final = 0.5
"""Share of the line rate from which on a port does not sleep: 12 us between frames at 1 Gb/s, where Ts alone is 182."""

_SMALLEST_FRAME_BIT: Final = 64 * 8
_LARGEST_FRAME_BIT: Final = 65_535 * 8
"""More is in no frame, even one that a host's card has merged (the length field of IP)."""

_FRAMES: Final = tuple(f"{cast}_frame" for cast in ("unicast", "multicast", "broadcast"))


@dataclass(frozen=True, slots=True)
class PortState:
    """A port that was up: its speed, the share of the readings in which it was up, and what it sent and received.

    Frames a second are None where they were not counted.
    """

    mbps: int
    up_share: float
    sent_bps: float
    sent_pps: float | None
    received_bps: float
    received_pps: float | None

    @property
    def carries(self) -> bool:
        """More than chatter, in either direction."""
        return any(
            (bps / _SMALLEST_FRAME_BIT if counted is None else counted) > _QUIET_PPS
            for bps, counted in (
                (self.sent_bps, counted_pps(self.sent_bps, self.sent_pps)),
                (self.received_bps, counted_pps(self.received_bps, self.received_pps)),
            )
        )

    @property
    def busy(self) -> bool:
        """Too busy to sleep."""
        return max(self.sent_bps, self.received_bps) >= _BUSY_SHARE * 1e6 * self.mbps


def counted_pps(bps: float, pps: float | None) -> float | None:
    """Frames a second; None if so few frames cannot have carried the bits, so that they were not counted."""
    return None if pps is None or bps > _LARGEST_FRAME_BIT * pps else pps


@dataclass(frozen=True, slots=True)
class PortStates:
    """A switch's ports in a window.

    `settings` of all cabled ports. `states` of those that were up. `asleep`: each one's share of time in LPI, mean of
    both directions; None if it is unknown.
    """

    settings: Mapping[str, Mapping[str, Any]]
    states: Mapping[str, PortState]
    asleep: Mapping[str, float] | None


class PortReader:
    """Reads the states of one switch's ports from a run's folder."""

    def __init__(self, samples: RunSamples, switch: str) -> None:
        def of_switch(rows: pl.DataFrame) -> pl.DataFrame:
            return rows.filter(pl.col("switch") == switch)

        self._switch = switch
        self._set_ports = [event for event in samples.events if event["kind"] == EventKind.PORTS_SET]
        self._ports, self._lpi = of_switch(samples.table("ports")), of_switch(samples.table("lpi"))
        names = [f"{way}_{name}" for way in ("in", "out") for name in ("byte", *_FRAMES)]
        self._counted = {name: of_switch(samples.increments("ports", name)) for name in names}
        self._slept = {name: of_switch(samples.increments("lpi", name)) for name in ("tx_lpi_us", "rx_lpi_us")}
        self._read: dict[int, PortStates | None] = {}

    def up_before(self, at_ns: int) -> set[str]:
        """Ports that were ever up until then."""
        return set(self._ports.filter((pl.col("received_ns") <= at_ns) & pl.col("up"))["port"].to_list())

    def during(self, trial: Trial) -> PortStates | None:
        """None if the trial has no sample of the switch's counters, or nothing says how its ports were set.

        Each trial is read once: all hosts at a switch ask for it.
        """
        if trial.begun_ns not in self._read:
            self._read[trial.begun_ns] = self._during(trial)
        return self._read[trial.begun_ns]

    def _during(self, trial: Trial) -> PortStates | None:
        settings = _settings(self._set_ports, self._switch, trial.begun_ns)
        seen = _within(self._ports, trial)
        if seen.is_empty() or not settings:
            return None
        states = self._states(seen, settings, trial)
        return PortStates(settings, states, self._asleep(trial, states, settings))

    def _states(self, seen: pl.DataFrame, settings: Mapping[str, Any], trial: Trial) -> Mapping[str, PortState]:
        """The cabled ports that were up."""
        byte_s = {way: _rates(self._counted[f"{way}_byte"], f"{way}_byte", trial) for way in ("in", "out")}
        frame_s = {
            way: [_rates(self._counted[f"{way}_{name}"], f"{way}_{name}", trial) for name in _FRAMES]
            for way in ("in", "out")
        }
        states = {}
        for (name,), rows in seen.filter(pl.col("port").is_in(list(settings))).group_by("port", maintain_order=True):
            up = rows.filter(pl.col("up") & (pl.col("rate_mbps") > 0))
            if up.is_empty():
                continue
            port = str(name)
            sent, received = (
                _carried(8 * byte_s[way].get(port, 0.0), [rates.get(port) for rates in frame_s[way]])
                for way in ("out", "in")
            )
            states[port] = PortState(int(up["rate_mbps"][-1]), len(up) / len(rows), *sent, *received)
        return states

    def _asleep(
        self, trial: Trial, states: Mapping[str, PortState], settings: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, float] | None:
        if not self._lpi.is_empty():
            shares: dict[str, float] = {}
            for column, rows in self._slept.items():
                for port, us_each_s in _rates(rows, column, trial).items():
                    shares[port] = shares.get(port, 0.0) + us_each_s / 1e6 / 2
            return shares
        saving = {port: state for port, state in states.items() if settings[port]["eee"]}
        if any(state.carries and not state.busy for state in saving.values()):
            return None
        return {port: 1.0 for port, state in saving.items() if not state.carries}


def _settings(events: Sequence[Mapping[str, Any]], switch: str, at_ns: int) -> Mapping[str, Mapping[str, Any]]:
    """How the switch's cabled ports were set at a time."""
    before = [event for event in events if event["time_ns"] <= at_ns and switch in event["ports"]]
    return before[-1]["ports"][switch] if before else {}


def _carried(bps: float, by_cast: Sequence[float | None]) -> tuple[float, float | None]:
    """Bits and frames a second; without unicast frames nothing is known of frames."""
    unicast, *others = by_cast
    return bps, None if unicast is None else counted_pps(bps, unicast + sum(pps or 0.0 for pps in others))


def _within(rows: pl.DataFrame, trial: Trial) -> pl.DataFrame:
    return rows.filter((pl.col("sent_ns") >= trial.begun_ns) & (pl.col("received_ns") <= trial.ended_ns))


def _rates(increments: pl.DataFrame, column: str, trial: Trial) -> Mapping[str, float]:
    """Counts a second of each port, over the differences that lie within a trial."""
    inside = increments.filter((pl.col("from_ns") >= trial.begun_ns) & (pl.col("to_ns") <= trial.ended_ns))
    spans = inside.with_columns(((pl.col("to_ns") - pl.col("from_ns")) / 1e9).alias("span_s"))
    by_port = spans.group_by("port").agg(pl.col(column).sum(), pl.col("span_s").sum())
    return {port: count / span_s for port, count, span_s in by_port.iter_rows() if span_s > 0}
