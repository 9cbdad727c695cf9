"""Windows of switches and nodes with their power and the state of their ports, from a run's folder.

A window is a valid trial that measured `power` or `idle` (of a node: or a program). Events `ports_set` say how ports
were set; samples of counters, whether they were up, at which speed, and what they sent; LPI counters, their time
in low-power idle. Watts are those of the meter whose outlet feeds the device.

Simplifications. Without LPI counters, a port with EEE on in a window without traffic counts as in LPI all the time (its
refresh of 1 % is then part of the LPI fraction), and windows with EEE and traffic are omitted. The factor
`cabled_count` gives the number of plugged-in cables, which switches do not report; without it, the number is constant.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from analysis.interval import NotEnoughData
from analysis.power.energy import MeterTraits, energy_of
from analysis.power.switch_power import StageWindow
from record.event_kinds import EventKind
from record.samples import PowerSeries, RunSamples
from record.trials import Trial, read_trials

_QUIET_PPS: Final = 20.0
"""Frames a second and port (LLDP, ARP) that hardly disturb sleep."""

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


def switch_windows(samples: RunSamples, switch: str, meter: Meter) -> tuple[StageWindow, ...]:
    """Every window of a switch that its meter saw; NotEnoughData if the run has no such trials."""
    trials = [trial for trial in read_trials(samples.folder) if trial.valid and trial.what in ("power", "idle")]
    if not trials:
        raise NotEnoughData(f"{samples.folder.name} has no valid trials of power: measure some with `measure: power`.")
    return tuple(_windows(samples, switch, meter, trials))


def _windows(samples: RunSamples, switch: str, meter: Meter, trials: Sequence[Trial]) -> Iterator[StageWindow]:
    set_ports = [event for event in samples.events if event["kind"] == EventKind.PORTS_SET]
    ports = samples.table("ports").filter(pl.col("switch") == switch)
    lpi = samples.table("lpi").filter(pl.col("switch") == switch)
    sent = {
        name: samples.increments("ports", name).filter(pl.col("switch") == switch)
        for name in ("out_byte", "out_unicast_frame", "out_multicast_frame", "out_broadcast_frame")
    }
    slept = {
        name: samples.increments("lpi", name).filter(pl.col("switch") == switch) for name in ("tx_lpi_us", "rx_lpi_us")
    }
    ever_up: set[str] = set()
    for trial in sorted(trials, key=lambda one: one.begun_ns):
        before = ports.filter(pl.col("received_ns") <= trial.ended_ns)
        ever_up |= set(before.filter(pl.col("up"))["port"].to_list())
        settings = _settings(set_ports, switch, trial.begun_ns)
        seen = _within(ports, trial)
        try:
            power = mean_power(meter.series, trial.begun_ns, trial.ended_ns)
        except ValueError:
            continue
        if seen.is_empty() or not settings:
            continue
        up = _up_share(seen, settings)
        rates = {name: _rate(rows, name, trial) for name, rows in sent.items()}
        frames = sum(rate for name, rate in rates.items() if name != "out_byte")
        asleep = _asleep(slept, lpi, trial, up, settings, quiet=frames <= _QUIET_PPS * max(len(up), 1))
        if asleep is None:
            continue
        by_mbps: dict[int, float] = {}
        lpi_by_mbps: dict[int, float] = {}
        for port, (mbps, share) in up.items():
            by_mbps[mbps] = by_mbps.get(mbps, 0.0) + share
            lpi_by_mbps[mbps] = lpi_by_mbps.get(mbps, 0.0) + min(asleep.get(port, 0.0), share)
        shut = {port for port, one in settings.items() if not one["admin_up"]}
        yield StageWindow(
            at_s=(trial.begun_ns + trial.ended_ns) / 2e9,
            power_watt=power.power_watt,
            noise_watt=power.noise_watt,
            scatter_watt=power.scatter_watt,
            shown_watt=power.shown_watt,
            enabled=float(len(settings) - len(shut)),
            up_by_mbps=by_mbps,
            lpi_by_mbps=lpi_by_mbps,
            cabled=float(trial.levels.get("cabled_count", len(settings))),
            left=float(len(shut & ever_up)),
            rate_bps=8 * rates["out_byte"],
            rate_pps=frames,
        )


def _settings(events: Sequence[Mapping[str, Any]], switch: str, at_ns: int) -> Mapping[str, Mapping[str, Any]]:
    """How the switch's cabled ports were set at a time."""
    before = [event for event in events if event["time_ns"] <= at_ns and switch in event["ports"]]
    return before[-1]["ports"][switch] if before else {}


def _within(rows: pl.DataFrame, trial: Trial) -> pl.DataFrame:
    return rows.filter((pl.col("sent_ns") >= trial.begun_ns) & (pl.col("received_ns") <= trial.ended_ns))


def _up_share(seen: pl.DataFrame, settings: Mapping[str, Any]) -> Mapping[str, tuple[int, float]]:
    """Of the cabled ports that were up: their speed, and the share of the readings in which they were up."""
    found = {}
    for (port,), rows in seen.filter(pl.col("port").is_in(list(settings))).group_by("port", maintain_order=True):
        up = rows.filter(pl.col("up") & (pl.col("rate_mbps") > 0))
        if not up.is_empty():
            found[str(port)] = (int(up["rate_mbps"][-1]), len(up) / len(rows))
    return found


def _rate(increments: pl.DataFrame, column: str, trial: Trial) -> float:
    """Counts a second, over the differences that lie within a trial."""
    inside = increments.filter((pl.col("from_ns") >= trial.begun_ns) & (pl.col("to_ns") <= trial.ended_ns))
    if inside.is_empty():
        return 0.0
    spans = inside.with_columns(((pl.col("to_ns") - pl.col("from_ns")) / 1e9).alias("span_s"))
    by_port = spans.group_by("port").agg(pl.col(column).sum(), pl.col("span_s").sum())
    return float((by_port[column] / by_port["span_s"]).sum())


def _asleep(
    slept: Mapping[str, pl.DataFrame],
    counters: pl.DataFrame,
    trial: Trial,
    up: Mapping[str, tuple[int, float]],
    settings: Mapping[str, Mapping[str, Any]],
    *,
    quiet: bool,
) -> Mapping[str, float] | None:
    """Each port's share of time in LPI, mean of both directions; None if it is unknown."""
    if not counters.is_empty():
        shares: dict[str, float] = {}
        for column, rows in slept.items():
            inside = rows.filter((pl.col("from_ns") >= trial.begun_ns) & (pl.col("to_ns") <= trial.ended_ns))
            for (port,), one in inside.group_by("port"):
                span_us = float((one["to_ns"] - one["from_ns"]).sum()) / 1e3
                shares[str(port)] = shares.get(str(port), 0.0) + float(one[column].sum()) / max(span_us, 1.0) / 2
        return shares
    saving = [port for port in up if settings[port]["eee"]]
    if saving and not quiet:
        return None
    return dict.fromkeys(saving, 1.0)
