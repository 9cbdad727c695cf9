"""A switch's power, stage by stage: base, cabled but shut, enabled, link up, low-power idle, traffic. Pure.

The staged method of ETH's NetPowerBench, as one joint fit over all windows instead of differences of pairs of stages:

    P = base + sum over kinds of ports (cable * cabled + left * shut that had been up
               + sum over speeds (enabled * set to it + link * up at it - saved * share of time in LPI
                                  + carrying * ports that carry traffic))
        + bit * (bit/s) + packet * (packet/s) + drift

with a random drift; intervals include the meter's step, noise and gain (`analysis.power.drift_fit`). Windows that no
other of their stage confirms are left out first (`analysis.power.screening`). A power that the windows do not determine
is omitted, as is one whose interval is wider than what is plausible (`analysis.power.plausible`); `unknown` says why.

bit/s and packet/s are those that the switch forwards: a bit counts once, when it is sent. NetPowerBench counts it at
every interface that it passes, when it is received and when it is sent: its E_bit and E_pkt are half of these
(`analysis.calibration.SwitchPower.per_interface`).

Simplifications. Watts are those at the outlet; the supply's efficiency is assumed to be constant over the range, while
windows with many and with few ports up might show a curve. Ports of one kind and speed are alike, and a
bit takes the same energy at every one of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import chdtri

from eee_testbed.analysis.interval import Floats, Interval, NotEnoughData, of_samples
from eee_testbed.analysis.power.drift_fit import DriftFit
from eee_testbed.analysis.power.plausible import CabledPorts, Plausible, lost, lost_sentence
from eee_testbed.analysis.power.screening import measured_once
from eee_testbed.analysis.power.stage_columns import Columns, Name, columns_of, of_kind, set_speeds_of, speeds_of
from eee_testbed.analysis.power.stage_fit import fit_stages
from eee_testbed.analysis.power.stage_window import StageWindow

_OF_PORTS: Final = ("cabled", "enabled", "link")
_SHOWN_SIGMA: Final = 6.0
_SURELY: Final = 0.999
"""Confidence with which a switch's stages must differ; else the meter does not see the switch."""


@dataclass(frozen=True, slots=True)
class PortWatts:
    """One port at one speed, watts; None: not determined. See `analysis.calibration.PortPower`."""

    cable: Interval | None
    enabled: Interval | None
    link: Interval | None
    lpi_fraction: Interval | None
    lpi_saved: Interval | None
    residual: Interval | None
    carrying: Interval | None


@dataclass(frozen=True, slots=True)
class SwitchPowerFit:
    """Fitted powers, at the outlet; `ports` by kind of cable or transceiver and speed in Mb/s.

    `unknown` are sentences about what the windows do not determine, `warnings` about what to doubt.
    """

    base_watt: Interval
    ports: Mapping[str, Mapping[int, PortWatts]]
    bit_picojoule: Interval | None
    packet_nanojoule: Interval | None
    drift_watt: float
    noise_watt: float
    explained: float
    windows: int
    unknown: tuple[str, ...]
    warnings: tuple[str, ...]


def fit_switch_power(
    windows: Sequence[StageWindow],
    step_watt: float = 0.0,
    accuracy_share: float = 0.0,
    seed: int = 0,
    cabled: CabledPorts | None = None,
) -> SwitchPowerFit:
    """Fit all stages together; `accuracy_share` is the meter's class (0.01 for 1 %).

    `cabled` are the switch's connected ports by the inventory; without, as many as were ever cabled or up.

    NotEnoughData if there are too few windows, if the meter does not follow what the ports do, or is at its limit, if
    no state without links was measured, or if the fit explains nothing.
    """
    if not windows:
        raise NotEnoughData("no window has the switch's power: measure stages with `measure: power`.")
    _refuse_blind_meter(windows, columns_of(windows), step_watt)
    stages = fit_stages(windows, columns_of, step_watt, seed)
    columns, fit = stages.columns, stages.fit
    _refuse_unexplained(columns, fit)
    gain = 1.0 + accuracy_share * np.random.default_rng(seed + 1).uniform(-1.0, 1.0, size=(len(fit.draws), 1))
    draws = dict(zip(columns.values, (fit.draws * gain).T, strict=True))
    most_watt = float(max(window.power_watt for window in columns.windows))
    plausible = Plausible.of(most_watt, cabled or _cabled(columns.windows))
    return _Reading(columns, draws, plausible, [*stages.warnings, *measured_once(columns)]).result(fit)


def _cabled(windows: Sequence[StageWindow]) -> CabledPorts:
    counts = [max(sum(kind.cabled for kind in window.ports.values()), _up(window)) for window in windows]
    rates = [
        sum(mbps * count for kind in window.ports.values() for mbps, count in kind.up_by_mbps.items())
        for window in windows
    ]
    return CabledPorts(round(max(counts)), 1e6 * max(rates))


def _up(window: StageWindow) -> float:
    return sum(sum(kind.up_by_mbps.values()) for kind in window.ports.values())


def _refuse_blind_meter(windows: Sequence[StageWindow], columns: Columns, step_watt: float) -> None:
    """NotEnoughData if the meter shows one value whatever the ports do, or is at its limit in some states."""
    value = np.array([window.power_watt for window in windows])
    if float(np.ptp(value)) == 0.0:
        raise NotEnoughData(
            f"the meter shows {value[0]:g} W in every window: it has stopped, or its step of {step_watt:g} W is too "
            "coarse for this switch."
        )
    top = max(window.shown_watt[1] for window in windows)
    stuck = np.array([window.shown_watt == (top, top) for window in windows])
    states = columns.states
    if len(set(states[stuck])) < 2 or stuck.all():
        return
    moves = float(np.median([window.shown_watt[1] - window.shown_watt[0] for window in np.array(windows)[~stuck]]))
    free, held = columns.scaled[~stuck], columns.scaled[stuck]
    coefficients = np.linalg.lstsq(free, value[~stuck], rcond=None)[0]
    error = max(float(np.std(value[~stuck] - free @ coefficients)), step_watt)
    above = bool(np.any(held @ coefficients - top > _SHOWN_SIGMA * error))
    if moves > 0 or above:
        raise NotEnoughData(
            f"the meter shows exactly {top:g} W in different states, so it is at its limit: use one with a wider range."
        )


def _refuse_unexplained(columns: Columns, fit: DriftFit) -> None:
    """NotEnoughData if what the ports did explains nothing of the readings, or nothing that noise could not."""
    if len(columns.values) == 1:
        return
    if fit.explained < 0:
        raise NotEnoughData(
            f"the fit explains nothing (R2 {fit.explained:.2f}): what the ports did does not account for the readings, "
            "so something else changed. Measure all stages alternately, in blocks, on a switch that nobody else uses."
        )
    stages = fit.draws[:, 1:]
    spread = np.cov(stages, rowvar=False).reshape(stages.shape[1], stages.shape[1])
    size = np.sqrt(np.diag(spread))
    middle = np.mean(stages, axis=0) / size
    distance = float(middle @ np.linalg.pinv(spread / np.outer(size, size)) @ middle)
    if distance < chdtri(stages.shape[1], 1 - _SURELY):
        value = [window.power_watt for window in columns.windows]
        ports = [draws for name, draws in zip(columns.values, fit.draws.T, strict=True) if name.what in _OF_PORTS]
        most_watt = max((float(np.percentile(draws, 97.5)) for draws in ports), default=0.0)
        raise NotEnoughData(
            f"the meter shows {np.mean(value):.4g} W, {np.ptp(value):.2g} W up and down, whatever the ports do. It has "
            "stopped, feeds another device or is too noisy, or a port draws less than "
            f"{max(most_watt, 0.0):.2g} W: compare outlets.csv with the cables; measure for longer, or with more ports."
        )


@dataclass(slots=True)
class _Reading:
    """Reads powers from draws of the coefficients; what is not plausible is noted in `unknown` instead.

    `doubts`: sentences about what is plausible, and doubtful all the same.
    """

    columns: Columns
    draws: Mapping[Name, Floats]
    plausible: Plausible
    doubts: list[str]

    def result(self, fit: DriftFit) -> SwitchPowerFit:
        draws, unknown = self.draws, self.columns.unknown
        base_watt = of_samples(draws[Name("base")])
        kinds = sorted({kind for window in self.columns.windows for kind in window.ports})
        ports = {kind: watts for kind in kinds if (watts := dict(self._ports(kind, of_kind(kinds, kind))))}
        bit, packet = draws.get(Name("bit")), draws.get(Name("packet"))
        return SwitchPowerFit(
            base_watt,
            ports,
            None if bit is None else self._traffic("a bit", bit * 1e12, self.plausible.bit_joule * 1e12, "pJ"),
            None
            if packet is None
            else self._traffic("a packet", packet * 1e9, self.plausible.packet_joule * 1e9, "nJ"),
            fit.drift_sigma,
            fit.noise_sigma,
            fit.explained,
            len(self.columns.windows),
            tuple(unknown),
            tuple(self.doubts),
        )

    def _ports(self, kind: str, words: str) -> Iterator[tuple[int, PortWatts]]:
        """Ports at every speed at which they were up; if at none, at those that they were set to."""
        windows = self.columns.windows
        cabled, left = self.draws.get(Name("cabled", kind)), self.draws.get(Name("left", kind))
        cable_watt = self._port(f"The power of a cabled port{words}", cabled)
        residual = None if left is None else left + (0.0 if cabled is None else cabled)
        residual_watt = self._port(f"The residual power of a port{words}", residual)
        set_to = set_speeds_of(windows, kind)
        enabled_watt = {}
        for mbps in set_to:
            what = f"The power of an enabled port{words}{f' set to {mbps} Mb/s' if mbps else ''}"
            enabled_watt[mbps] = self._port(what, self.draws.get(Name("enabled", kind, mbps)))
        speeds = speeds_of(windows, kind)
        for mbps in speeds:
            set_mbps = mbps if mbps in set_to else 0
            link, saved = self.draws.get(Name("link", kind, mbps)), self.draws.get(Name("lpi", kind, mbps))
            carrying = self.draws.get(Name("carrying", kind, mbps))
            at = f"{words} at {mbps} Mb/s"
            fraction = saved_watt = None
            if link is not None and saved is not None:
                enabled = self.draws.get(Name("enabled", kind, set_mbps))
                fraction = self._fraction(saved, link + (0.0 if enabled is None else enabled), at)
            elif saved is not None:
                saved_watt = self._port(f"What a port{at} saves in low-power idle", -saved)
            yield (
                mbps,
                PortWatts(
                    cable_watt,
                    enabled_watt.get(set_mbps),
                    self._port(f"The power of a link{at}", link),
                    fraction,
                    saved_watt,
                    residual_watt,
                    self._port(f"The power of a port{at} that carries traffic", carrying),
                ),
            )
        for mbps in () if speeds else set_to:
            if cable_watt or enabled_watt[mbps]:
                yield mbps, PortWatts(cable_watt, enabled_watt[mbps], None, None, None, residual_watt, None)

    def _port(self, what: str, draws: Floats | None) -> Interval | None:
        if draws is None:
            return None
        watt = self._unless_lost(what, of_samples(draws), self.plausible.port_watt, "W")
        if watt is not None and watt.high < 0 and "carries traffic" not in what:
            self.doubts.append(
                f"{what} is negative ({watt.value:.2g} W): something else changed when that stage was measured; "
                "measure the stages alternately, in blocks."
            )
        return watt

    def _traffic(self, what: str, draws: Floats, most: float, unit: str) -> Interval | None:
        energy = of_samples(draws)
        if energy.high < 0:
            self.columns.unknown.append(
                f"The energy of {what} would be negative ({energy.value:.3g} {unit}): something else changed together "
                "with the traffic. Measure several rates and sizes of packets in random order."
            )
            return None
        return self._unless_lost(f"The energy of {what}", energy, most, unit)

    def _unless_lost(self, what: str, interval: Interval, most: float, unit: str) -> Interval | None:
        if not lost(interval, most):
            return interval
        self.columns.unknown.append(lost_sentence(what, interval, most, unit))
        return None

    def _fraction(self, saved: Floats, up_watt: Floats, at: str) -> Interval | None:
        """Fraction of a port's power that remains in LPI; None if the port may draw nothing."""
        if float(np.mean(up_watt > 0)) < 0.975:
            self.columns.unknown.append(f"A port{at} draws too little to determine its fraction in low-power idle.")
            return None
        fraction = of_samples(1.0 + saved / up_watt)
        return self._unless_lost(f"The fraction of a port's power{at} in low-power idle", fraction, 1.0, "times it")
