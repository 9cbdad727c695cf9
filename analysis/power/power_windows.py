"""Windows of switches and nodes with their power and the state of their ports, from a run's folder.

A window is a valid trial that measured `power` or `idle` (of a node: or a program). Events `ports_set` say how ports
were set; samples of counters, whether they were up, at which speed, and what they sent; LPI counters, their time
in low-power idle. Watts are those of the meter whose outlet feeds the device. Ports are told apart by the kind of their
cable in the inventory.

A port that sends and receives no more than a few frames a second (LLDP, ARP) carries no traffic: such chatter is no
rate to fit the energy of bits to.

Simplifications. Without LPI counters, a port with EEE on counts as in LPI all the time if it carries no traffic (its
refresh of 1 % is then part of the LPI fraction), and as never in LPI from half its line rate on, where gaps between
frames are shorter than falling asleep and waking take; windows with a rate in between are left out and reported. The
factor `cabled_count` gives the number of plugged-in cables, which switches do not report; without it, the number is
constant.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from analysis.interval import NotEnoughData
from analysis.power.energy import MeterTraits, energy_of
from analysis.power.stage_window import PortCounts, StageWindow
from record.event_kinds import EventKind
from record.samples import PowerSeries, RunSamples
from record.trials import Trial, read_trials

_QUIET_PPS: Final = 20.0
"""Frames a second that a port sends, or receives, without carrying traffic (LLDP, ARP); they hardly disturb sleep."""

_BUSY_SHARE: Final = 0.5
"""Share of the line rate from which on a port does not sleep: 12 us between frames at 1 Gb/s, where Ts alone is 182."""

_LEAST_READINGS: Final = 3


@dataclass(frozen=True, slots=True)
class Meter:
    """A device, and the readings of the outlet that feeds it."""

    device: str
    series: PowerSeries


@dataclass(frozen=True, slots=True)
class MeanPower:
    """Mean over a window, standard deviations of its error by noise and of a reading, lowest and highest; watts."""

    power_watt: float
    noise_watt: float
    scatter_watt: float
    shown_watt: tuple[float, float]


def mean_power(series: PowerSeries, from_ns: int, to_ns: int, traits: MeterTraits | None = None) -> MeanPower:
    """The mean of a window; ValueError if it has fewer than three readings."""
    inside = (series.received_ns >= from_ns) & (series.received_ns <= to_ns)
    shown = series.power_watt[inside]
    if shown.size < _LEAST_READINGS:
        raise ValueError(f"the window has {shown.size} readings of the meter; at least three are needed")
    energy = energy_of(series, from_ns, to_ns, traits)
    noise_watt = energy.parts_joule["noise"] / energy.window_s
    scatter_watt = float(np.std(shown, ddof=1))
    return MeanPower(energy.mean_watt.value, noise_watt, scatter_watt, (float(shown.min()), float(shown.max())))


def meters_of(samples: RunSamples) -> Mapping[str, Meter]:
    """By device, its meter; a device fed by several outlets is omitted, as no single meter has its power."""
    rows = samples.table("watts").filter(pl.col("power_watt").is_not_null() & (pl.col("feeds") != ""))
    found: dict[str, list[tuple[str, int]]] = {}
    for strip, outlet, device in rows.select("strip", "outlet", "feeds").unique(maintain_order=True).iter_rows():
        found.setdefault(device, []).append((strip, outlet))
    return {
        device: Meter(device, samples.power(*places[0]).fresh())
        for device, places in sorted(found.items())
        if len(places) == 1
    }


@dataclass(frozen=True, slots=True)
class SwitchWindows:
    """A switch's windows, and sentences about those that were left out."""

    windows: tuple[StageWindow, ...]
    warnings: tuple[str, ...]


def switch_windows(
    samples: RunSamples, switch: str, meter: Meter, kinds: Mapping[str, str] | None = None
) -> SwitchWindows:
    """Every window of a switch that its meter saw; `kinds` are those of its ports' cables.

    NotEnoughData if the run has no such trials.
    """
    trials = [trial for trial in read_trials(samples.folder) if trial.valid and trial.what in ("power", "idle")]
    if not trials:
        raise NotEnoughData(f"{samples.folder.name} has no valid trials of power: measure some with `measure: power`.")
    reader = _Reader(samples, switch, meter, kinds or {})
    windows = tuple(reader.windows(trials))
    unsure = (
        f"{reader.unsure} windows with traffic and EEE on were left out, as no LPI counters say how long ports slept: "
        "measure load with EEE off, or near the line rate."
    )
    return SwitchWindows(windows, (unsure,) if reader.unsure else ())


@dataclass(frozen=True, slots=True)
class _PortState:
    """A port that was up: its speed, the share of the readings in which it was up, and what it sent and received."""

    mbps: int
    up_share: float
    sent_bps: float
    sent_pps: float
    received_bps: float
    received_pps: float

    @property
    def carries(self) -> bool:
        """More than chatter."""
        return max(self.sent_pps, self.received_pps) > _QUIET_PPS

    @property
    def busy(self) -> bool:
        """Too busy to sleep."""
        return max(self.sent_bps, self.received_bps) >= _BUSY_SHARE * 1e6 * self.mbps


_FRAMES: Final = tuple(f"{cast}_frame" for cast in ("unicast", "multicast", "broadcast"))


class _Reader:
    """Reads the windows of one switch; `unsure` counts those whose ports' time in LPI is unknown."""

    def __init__(self, samples: RunSamples, switch: str, meter: Meter, kinds: Mapping[str, str]) -> None:
        def of_switch(rows: pl.DataFrame) -> pl.DataFrame:
            return rows.filter(pl.col("switch") == switch)

        self.switch, self.meter, self.kinds = switch, meter, kinds
        self.set_ports = [event for event in samples.events if event["kind"] == EventKind.PORTS_SET]
        self.ports, self.lpi = of_switch(samples.table("ports")), of_switch(samples.table("lpi"))
        names = [f"{way}_{name}" for way in ("in", "out") for name in ("byte", *_FRAMES)]
        self.counted = {name: of_switch(samples.increments("ports", name)) for name in names}
        self.slept = {name: of_switch(samples.increments("lpi", name)) for name in ("tx_lpi_us", "rx_lpi_us")}
        self.unsure = 0

    def windows(self, trials: Sequence[Trial]) -> Iterator[StageWindow]:
        ever_up: set[str] = set()
        for trial in sorted(trials, key=lambda one: one.begun_ns):
            before = self.ports.filter(pl.col("received_ns") <= trial.ended_ns)
            ever_up |= set(before.filter(pl.col("up"))["port"].to_list())
            settings = _settings(self.set_ports, self.switch, trial.begun_ns)
            seen = _within(self.ports, trial)
            try:
                power = mean_power(self.meter.series, trial.begun_ns, trial.ended_ns)
            except ValueError:
                continue
            if seen.is_empty() or not settings:
                continue
            states = self._states(seen, settings, trial)
            asleep = self._asleep(trial, states, settings)
            if asleep is None:
                self.unsure += 1
                continue
            carrying = [one for one in states.values() if one.carries]
            yield StageWindow(
                at_s=(trial.begun_ns + trial.ended_ns) / 2e9,
                power_watt=power.power_watt,
                noise_watt=power.noise_watt,
                scatter_watt=power.scatter_watt,
                shown_watt=power.shown_watt,
                ports=self._counts(trial, settings, states, asleep, ever_up),
                rate_bps=sum(one.sent_bps for one in carrying),
                rate_pps=sum(one.sent_pps for one in carrying),
            )

    def _states(self, seen: pl.DataFrame, settings: Mapping[str, Any], trial: Trial) -> Mapping[str, _PortState]:
        """The cabled ports that were up."""
        byte_s = {way: _rates(self.counted[f"{way}_byte"], f"{way}_byte", trial) for way in ("in", "out")}
        frame_s = {
            way: [_rates(self.counted[f"{way}_{name}"], f"{way}_{name}", trial) for name in _FRAMES]
            for way in ("in", "out")
        }
        found = {}
        for (name,), rows in seen.filter(pl.col("port").is_in(list(settings))).group_by("port", maintain_order=True):
            up = rows.filter(pl.col("up") & (pl.col("rate_mbps") > 0))
            if up.is_empty():
                continue
            port = str(name)
            sent, received = (
                (8 * byte_s[way].get(port, 0.0), sum(rates.get(port, 0.0) for rates in frame_s[way]))
                for way in ("out", "in")
            )
            found[port] = _PortState(int(up["rate_mbps"][-1]), len(up) / len(rows), *sent, *received)
        return found

    def _asleep(
        self, trial: Trial, states: Mapping[str, _PortState], settings: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, float] | None:
        """Each port's share of time in LPI, mean of both directions; None if it is unknown."""
        if not self.lpi.is_empty():
            shares: dict[str, float] = {}
            for column, rows in self.slept.items():
                for port, us_each_s in _rates(rows, column, trial).items():
                    shares[port] = shares.get(port, 0.0) + us_each_s / 1e6 / 2
            return shares
        saving = {port: state for port, state in states.items() if settings[port]["eee"]}
        if any(state.carries and not state.busy for state in saving.values()):
            return None
        return {port: 1.0 for port, state in saving.items() if not state.carries}

    def _counts(
        self,
        trial: Trial,
        settings: Mapping[str, Mapping[str, Any]],
        states: Mapping[str, _PortState],
        asleep: Mapping[str, float],
        ever_up: set[str],
    ) -> Mapping[str, PortCounts]:
        """By kind of cable; a factor `cabled_count` is of all cables, which are then of one kind."""
        cabled = trial.levels.get("cabled_count")
        by_kind: dict[str, list[str]] = {}
        for port in settings:
            by_kind.setdefault("" if cabled is not None else self.kinds.get(port, ""), []).append(port)
        found = {}
        for kind, ports in by_kind.items():
            up = {port: states[port] for port in ports if port in states}
            shut = {port for port in ports if not settings[port]["admin_up"]}
            sleep = {port: min(asleep.get(port, 0.0), state.up_share) for port, state in up.items()}
            found[kind] = PortCounts(
                cabled=float(len(ports) if cabled is None else cabled),
                enabled_by_mbps=Counter(settings[port]["speed_mbps"] or 0 for port in ports if port not in shut),
                up_by_mbps=_by_mbps(up, {port: state.up_share for port, state in up.items()}),
                lpi_by_mbps=_by_mbps(up, sleep),
                carrying_by_mbps=_by_mbps(up, {port: float(state.carries) for port, state in up.items()}),
                left=float(len(shut & ever_up)),
            )
        return found


def _by_mbps(states: Mapping[str, _PortState], shares: Mapping[str, float]) -> Mapping[int, float]:
    """Sums by speed."""
    found: dict[int, float] = {}
    for port, share in shares.items():
        found[states[port].mbps] = found.get(states[port].mbps, 0.0) + share
    return found


def _settings(events: Sequence[Mapping[str, Any]], switch: str, at_ns: int) -> Mapping[str, Mapping[str, Any]]:
    """How the switch's cabled ports were set at a time."""
    before = [event for event in events if event["time_ns"] <= at_ns and switch in event["ports"]]
    return before[-1]["ports"][switch] if before else {}


def _within(rows: pl.DataFrame, trial: Trial) -> pl.DataFrame:
    return rows.filter((pl.col("sent_ns") >= trial.begun_ns) & (pl.col("received_ns") <= trial.ended_ns))


def _rates(increments: pl.DataFrame, column: str, trial: Trial) -> Mapping[str, float]:
    """Counts a second of each port, over the differences that lie within a trial."""
    inside = increments.filter((pl.col("from_ns") >= trial.begun_ns) & (pl.col("to_ns") <= trial.ended_ns))
    spans = inside.with_columns(((pl.col("to_ns") - pl.col("from_ns")) / 1e9).alias("span_s"))
    by_port = spans.group_by("port").agg(pl.col(column).sum(), pl.col("span_s").sum())
    return {port: count / span_s for port, count, span_s in by_port.iter_rows() if span_s > 0}
