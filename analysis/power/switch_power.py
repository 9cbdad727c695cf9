"""A switch's power, stage by stage: base, cabled but shut, enabled, link up, low-power idle, traffic. Pure.

The staged method of ETH's NetPowerBench, as one joint fit over all windows instead of differences of pairs of stages:

    P = base + cable * (cabled ports) + enabled * (ports enabled) + link[speed] * (ports up)
        - saved[speed] * (ports' share of time in LPI) + left * (ports shut that had been up) + bit * (bit/s)
        + packet * (packet/s) + drift

with a random drift; intervals include the meter's step, noise and gain (`analysis.power.drift_fit`). A stage that the
windows do not determine is omitted, and `unknown` says why.

Simplifications. Watts are those at the outlet; the supply's efficiency is assumed to be constant over the range, while
windows with many and with few ports up might show a curve. Ports of one speed are alike.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from analysis.interval import Floats, Interval, NotEnoughData, of_samples
from analysis.power.drift_fit import DriftFit, Readings, fit_drifting
from analysis.power.energy import rounding_sigma

_MOST_LEFT_OVER: Final = 1e-6
_SPARE_WINDOWS: Final = 3
_SHOWN_SIGMA: Final = 6.0


@dataclass(frozen=True, slots=True)
class StageWindow:
    """A period in which a switch was in one state, with its meter's readings.

    `power_watt` is the mean, `noise_watt` the standard deviation of its error by the readings' noise, `scatter_watt`
    that of a reading. `shown_watt` are the lowest and the highest reading. Ports: `cabled`, `enabled` (admin up),
    `up_by_mbps`, all counts; `lpi_by_mbps` the sum over those ports of their share of time in LPI (mean of both
    directions); `left` those that are shut and were up before. Traffic is what all ports of the switch send.
    """

    at_s: float
    power_watt: float
    noise_watt: float
    scatter_watt: float
    shown_watt: tuple[float, float]
    enabled: float
    up_by_mbps: Mapping[int, float]
    lpi_by_mbps: Mapping[int, float] = field(default_factory=dict)
    cabled: float = 0.0
    left: float = 0.0
    rate_bps: float = 0.0
    rate_pps: float = 0.0


@dataclass(frozen=True, slots=True)
class PortWatts:
    """One port at one speed, watts; None: not determined. See `analysis.calibration.PortPower`."""

    cable: Interval | None
    enabled: Interval | None
    link: Interval | None
    lpi_fraction: Interval | None
    residual: Interval | None


@dataclass(frozen=True, slots=True)
class SwitchPowerFit:
    """Fitted powers, at the outlet. `unknown` are sentences about what the windows do not determine."""

    base_watt: Interval
    ports: Mapping[int, PortWatts]
    bit_picojoule: Interval | None
    packet_nanojoule: Interval | None
    drift_watt: float
    noise_watt: float
    explained: float
    windows: int
    unknown: tuple[str, ...]


class _Columns:
    """The design matrix, column by column with names, and which of them the windows determine."""

    def __init__(self, windows: Sequence[StageWindow]) -> None:
        self.windows = windows
        self.values: dict[str, Floats] = {"base": np.ones(len(windows))}
        self.unknown: list[str] = []

    def add(self, name: str, values: Sequence[float], missing: str) -> None:
        """Add a column unless it is a linear combination of the others; else note what is missing."""
        column = np.array(values, dtype=float)
        others = np.column_stack(list(self.values.values()))
        away = column - others @ np.linalg.lstsq(others, column, rcond=None)[0]
        if float(np.abs(away).max()) > _MOST_LEFT_OVER * max(float(np.abs(column).max()), 1e-300):
            self.values[name] = column
        elif missing:
            self.unknown.append(missing)

    @property
    def matrix(self) -> Floats:
        """Shape (windows, columns)."""
        return np.column_stack(list(self.values.values()))

    @property
    def states(self) -> np.typing.NDArray[np.int64]:
        """A number for each window, the same for windows with equal ports; traffic counts by its order of size."""
        rows = np.round(self.matrix / np.maximum(np.abs(self.matrix).max(axis=0), 1e-300), 2)
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def fit_switch_power(
    windows: Sequence[StageWindow], step_watt: float = 0.0, accuracy_share: float = 0.0, seed: int = 0
) -> SwitchPowerFit:
    """Fit all stages together; `accuracy_share` is the meter's class (0.01 for 1 %).

    NotEnoughData if there are too few windows, if the meter shows no difference or is at its limit, or if no state
    without links was measured.
    """
    if not windows:
        raise NotEnoughData("no window has the switch's power: measure stages with `measure: power`.")
    columns = _columns(windows)
    if len(windows) < len(columns.values) + _SPARE_WINDOWS:
        raise NotEnoughData(
            f"{len(windows)} windows are too few for {len(columns.values)} unknown powers and a drift: measure each "
            "stage several times, in blocks."
        )
    _refuse_blind_meter(windows, columns, step_watt)
    readings = Readings(
        np.array([window.at_s for window in windows]),
        np.array([window.power_watt for window in windows]),
        np.array([window.noise_watt for window in windows]),
        _rounding_sigma(windows, step_watt),
        columns.states,
        columns.matrix,
    )
    return _result(columns, fit_drifting(readings, seed), accuracy_share, seed)


def _columns(windows: Sequence[StageWindow]) -> _Columns:
    columns = _Columns(windows)
    speeds = sorted({mbps for window in windows for mbps, ports in window.up_by_mbps.items() if ports > 0})
    if not speeds:
        columns.unknown.append("No port was ever up: bring links up to learn what they draw.")
    for mbps in speeds:
        before = len(columns.values)
        columns.add(f"link {mbps}", [window.up_by_mbps.get(mbps, 0.0) for window in windows], "")
        if len(columns.values) == before:
            raise NotEnoughData(
                f"as many ports at {mbps} Mb/s were up in all windows, so base and port are one: shut some."
            )
    columns.add(
        "enabled",
        [window.enabled for window in windows],
        "No window had enabled ports without link: the power of a link includes the enabled port."
        if speeds
        else "All windows had equally many enabled ports: their power is in the base.",
    )
    columns.add(
        "cabled",
        [window.cabled for window in windows],
        "All windows had the same cables: the power of a port that is cabled and shut is in the base.",
    )
    if any(window.left for window in windows):
        columns.add("left", [window.left for window in windows], "")
    if "left" not in columns.values:
        columns.unknown.append(
            "No port was measured shut both before and after it was up: its residual power is unknown."
        )
    for mbps in speeds:
        columns.add(
            f"lpi {mbps}",
            [window.lpi_by_mbps.get(mbps, 0.0) for window in windows],
            f"No windows differ in low-power idle of ports at {mbps} Mb/s: measure with EEE on and off.",
        )
    columns.add("bit", [window.rate_bps for window in windows], "No window had traffic: bits and packets are unknown.")
    if "bit" in columns.values:
        columns.add(
            "packet",
            [window.rate_pps for window in windows],
            "All traffic had one packet size: the energy of a bit includes its share of a packet.",
        )
    return columns


def _rounding_sigma(windows: Sequence[StageWindow], step_watt: float) -> float:
    """Of the mean of rounded readings: negligible if noise moves them over several steps."""
    if step_watt <= 0:
        return 0.0
    seen = float(np.mean([window.scatter_watt**2 for window in windows]))
    return rounding_sigma(step_watt, math.sqrt(max(0.0, seen - step_watt**2 / 12.0)))


def _refuse_blind_meter(windows: Sequence[StageWindow], columns: _Columns, step_watt: float) -> None:
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
    free, held = columns.matrix[~stuck], columns.matrix[stuck]
    coefficients = np.linalg.lstsq(free, value[~stuck], rcond=None)[0]
    error = max(float(np.std(value[~stuck] - free @ coefficients)), step_watt)
    above = bool(np.any(held @ coefficients - top > _SHOWN_SIGMA * error))
    if moves > 0 or above:
        raise NotEnoughData(
            f"the meter shows exactly {top:g} W in different states, so it is at its limit: use one with a wider range."
        )


def _result(columns: _Columns, fit: DriftFit, accuracy_share: float, seed: int) -> SwitchPowerFit:
    gain = 1.0 + accuracy_share * np.random.default_rng(seed + 1).uniform(-1.0, 1.0, size=(len(fit.draws), 1))
    draws = dict(zip(columns.values, (fit.draws * gain).T, strict=True))

    def interval(name: str, scale: float = 1.0) -> Interval | None:
        return of_samples(draws[name] * scale) if name in draws else None

    ports = {}
    for name, link in draws.items():
        if name.startswith("link "):
            mbps = int(name.removeprefix("link "))
            saved, left = draws.get(f"lpi {mbps}"), draws.get("left")
            up = link + draws.get("enabled", 0.0)
            fraction = None if saved is None else _fraction(1.0 + saved / up, up, mbps, columns)
            residual = None if left is None else of_samples(left + draws.get("cabled", 0.0))
            ports[mbps] = PortWatts(interval("cabled"), interval("enabled"), of_samples(link), fraction, residual)
    if not ports and ("enabled" in draws or "cabled" in draws):
        ports[0] = PortWatts(interval("cabled"), interval("enabled"), None, None, None)
    base_watt = of_samples(draws["base"])
    return SwitchPowerFit(
        base_watt,
        ports,
        interval("bit", 1e12),
        interval("packet", 1e9),
        fit.drift_sigma,
        fit.noise_sigma,
        fit.explained,
        len(columns.windows),
        tuple(columns.unknown),
    )


def _fraction(fraction: Floats, up_watt: Floats, mbps: int, columns: _Columns) -> Interval | None:
    """Fraction of a port's power that remains in LPI; None if the port may draw nothing."""
    if float(np.mean(up_watt > 0)) < 0.975:
        columns.unknown.append(f"A port at {mbps} Mb/s draws too little to determine its fraction in low-power idle.")
        return None
    return of_samples(fraction)
