"""Windows of switches with their power and the state of their ports, and the meters behind them, from a run's folder.

A window is a valid trial that measured `power` or `idle`; `analysis.power.port_states` says what the ports did in it.
Watts are those of the meter whose outlet feeds the device. Ports are told apart by the kind of their cable in the
inventory.

Simplifications. Windows in which the share of time in LPI is unknown are left out and reported. The factor
`cabled_count` gives the number of plugged-in cables, which switches do not report; without it, the number is constant.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from eee_testbed.analysis.power.energy import energy_of
from eee_testbed.analysis.power.port_states import PortReader, PortState, PortStates, counted_pps
from eee_testbed.analysis.power.stage_window import PortCounts, StageWindow
from eee_testbed.record.samples import PowerSeries, RunSamples
from eee_testbed.record.trials import Trial

_LEAST_READINGS: Final = 3
QUIET: Final = ("power", "idle")
"""What trials without a program measure."""


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


def mean_power(series: PowerSeries, from_ns: int, to_ns: int) -> MeanPower:
    """The mean of a window; ValueError if it has fewer than three readings."""
    inside = (series.received_ns >= from_ns) & (series.received_ns <= to_ns)
    shown = series.power_watt[inside]
    if shown.size < _LEAST_READINGS:
        raise ValueError(f"the window has {shown.size} readings of the meter; at least three are needed")
    energy = energy_of(series, from_ns, to_ns)
    noise_watt = energy.parts_joule["noise"] / energy.window_s
    scatter_watt = float(np.std(shown, ddof=1))
    return MeanPower(energy.mean_watt.value, noise_watt, scatter_watt, (float(shown.min()), float(shown.max())))


def stage_window(
    trial: Trial, power: MeanPower, ports: Mapping[str, PortCounts], carrying: Sequence[PortState] = ()
) -> StageWindow:
    """A trial's window; `carrying` are the ports that carried traffic."""
    pps = [counted_pps(port.sent_bps, port.sent_pps) for port in carrying]
    return StageWindow(
        at_s=(trial.begun_ns + trial.ended_ns) / 2e9,
        power_watt=power.power_watt,
        noise_watt=power.noise_watt,
        scatter_watt=power.scatter_watt,
        shown_watt=power.shown_watt,
        ports=ports,
        rate_bps=sum(port.sent_bps for port in carrying),
        rate_pps=None if None in pps else sum(rate_pps for rate_pps in pps if rate_pps is not None),
    )


def meters_of(samples: RunSamples) -> Mapping[str, Meter]:
    """By device, its meter; a device fed by several outlets is omitted, as no single meter has its power."""
    rows = samples.table("watts").filter(pl.col("power_watt").is_not_null() & (pl.col("feeds") != ""))
    meters: dict[str, list[tuple[str, int]]] = {}
    for strip, outlet, device in rows.select("strip", "outlet", "feeds").unique(maintain_order=True).iter_rows():
        meters.setdefault(device, []).append((strip, outlet))
    return {
        device: Meter(device, samples.power(*places[0]).fresh())
        for device, places in sorted(meters.items())
        if len(places) == 1
    }


@dataclass(frozen=True, slots=True)
class SwitchWindows:
    """A switch's windows, and sentences about those that were left out."""

    windows: tuple[StageWindow, ...]
    warnings: tuple[str, ...]


def switch_windows(
    trials: Sequence[Trial], ports: PortReader, meter: Meter, kinds: Mapping[str, str] | None = None
) -> SwitchWindows:
    """Every window of a switch that its meter saw; `kinds` are those of its ports' cables."""
    reader = _Windows(ports, meter, kinds or {})
    windows = tuple(reader.of([trial for trial in trials if trial.valid and trial.what in QUIET]))
    unsure = (
        f"{reader.unsure} windows with traffic and EEE on were left out, as no LPI counters say how long ports slept: "
        "measure load with EEE off, or near the line rate."
    )
    return SwitchWindows(windows, (unsure,) if reader.unsure else ())


class _Windows:
    """Makes the windows of one switch; `unsure` counts those whose ports' time in LPI is unknown."""

    def __init__(self, ports: PortReader, meter: Meter, kinds: Mapping[str, str]) -> None:
        self.ports, self.meter, self.kinds = ports, meter, kinds
        self.unsure = 0

    def of(self, trials: Sequence[Trial]) -> Iterator[StageWindow]:
        for trial in sorted(trials, key=lambda trial: trial.begun_ns):
            seen = self.ports.during(trial)
            try:
                power = mean_power(self.meter.series, trial.begun_ns, trial.ended_ns)
            except ValueError:
                continue
            if seen is None:
                continue
            if seen.asleep is None:
                self.unsure += 1
                continue
            carrying = [state for state in seen.states.values() if state.carries]
            yield stage_window(trial, power, self._counts(trial, seen, seen.asleep), carrying)

    def _counts(self, trial: Trial, seen: PortStates, asleep: Mapping[str, float]) -> Mapping[str, PortCounts]:
        """By kind of cable; a factor `cabled_count` is of all cables, which are then of one kind."""
        cabled = trial.levels.get("cabled_count")
        ever_up = self.ports.up_before(trial.ended_ns)
        by_kind: dict[str, list[str]] = {}
        for port in seen.settings:
            by_kind.setdefault("" if cabled is not None else self.kinds.get(port, ""), []).append(port)
        counts = {}
        for kind, ports in by_kind.items():
            up = {port: seen.states[port] for port in ports if port in seen.states}
            shut = {port for port in ports if not seen.settings[port]["admin_up"]}
            sleep = {port: min(asleep.get(port, 0.0), state.up_share) for port, state in up.items()}
            counts[kind] = PortCounts(
                cabled=float(len(ports) if cabled is None else cabled),
                enabled_by_mbps=Counter(seen.settings[port]["speed_mbps"] or 0 for port in ports if port not in shut),
                up_by_mbps=_by_mbps(up, {port: state.up_share for port, state in up.items()}),
                lpi_by_mbps=_by_mbps(up, sleep),
                carrying_by_mbps=_by_mbps(up, {port: float(state.carries) for port, state in up.items()}),
                left=float(len(shut & ever_up)),
            )
        return counts


def _by_mbps(states: Mapping[str, PortState], shares: Mapping[str, float]) -> Mapping[int, float]:
    """Sums by speed."""
    count_by_mbps: dict[int, float] = {}
    for port, share in shares.items():
        count_by_mbps[states[port].mbps] = count_by_mbps.get(states[port].mbps, 0.0) + share
    return count_by_mbps
