"""A switch with known powers behind a meter of a known family, stage by stage, without a lab."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eee_testbed.analysis.power.power_windows import mean_power
from eee_testbed.analysis.power.stage_window import PortCounts, StageWindow
from eee_testbed.record.samples import PowerSeries

NS = 1_000_000_000
KIND = "copper"


@dataclass(frozen=True)
class Truth:
    """Watts at the outlet; traffic in pJ and nJ."""

    base: float = 40.0
    enabled: float = 0.1
    link: float = 0.6
    lpi_fraction: float = 0.3
    left: float = 0.0
    bit: float = 40.0
    packet: float = 80.0
    carrying: float = 0.0


@dataclass(frozen=True)
class MeterFamily:
    """How a meter errs. The noise of readings that follow each other is independent; the drift is the switch's."""

    step: float = 0.1
    noise: float = 0.12
    gain: float = 1.0
    limit: float = 1e9
    refresh_s: float = 1.0


FAMILIES = {
    "gude": MeterFamily(step=0.1, noise=0.12),
    "apc_rpdu2": MeterFamily(step=1.0, noise=0.5, refresh_s=2.0),
    "servertech_sentry4": MeterFamily(step=1.0, noise=0.4),
    "fine": MeterFamily(step=0.01, noise=0.02),
}
CLASS_SHARE = 0.01


@dataclass(frozen=True)
class Drift:
    """Ornstein-Uhlenbeck, or a straight line."""

    sigma: float = 0.25
    tau_s: float = 900.0
    slope_watt_s: float = 0.0


@dataclass(frozen=True)
class Stage:
    """A state of the switch."""

    name: str
    enabled: int = 0
    up: int = 0
    asleep: float = 0.0
    left: int = 0
    rate_bps: float = 0.0
    rate_pps: float = 0.0
    carrying: int = 0


PORTS = 12
STAGES = (
    Stage("base"),
    Stage("enabled", enabled=PORTS),
    Stage("half enabled", enabled=PORTS // 2),
    Stage("up", enabled=PORTS, up=PORTS),
    Stage("half up", enabled=PORTS, up=PORTS // 2),
    Stage("asleep", enabled=PORTS, up=PORTS, asleep=float(PORTS)),
    Stage("large frames", enabled=PORTS, up=PORTS, rate_bps=10e9, rate_pps=10e9 / 12_000),
    Stage("small frames", enabled=PORTS, up=PORTS, rate_bps=5e9, rate_pps=5e9 / 512),
    Stage("shut again", left=PORTS),
)


def measure(
    truth: Truth,
    meter: MeterFamily,
    random: np.random.Generator,
    *,
    stages: Sequence[Stage] = STAGES,
    blocks: int = 5,
    window_s: float = 30.0,
    between_s: float = 10.0,
    drift: Drift | None = None,
) -> list[StageWindow]:
    """Windows of all stages in blocks; the first block begins with `base`, each block is in a random order."""
    drift = Drift() if drift is None else drift
    at_s, wander = 0.0, random.normal(scale=drift.sigma)
    windows: list[StageWindow] = []
    for block in range(blocks):
        order = list(stages) if block == 0 else [stages[n] for n in random.permutation(len(stages))]
        for stage in order:
            at_s += between_s
            stamps = at_s + np.arange(-2 * meter.refresh_s, window_s + 2 * meter.refresh_s, meter.refresh_s)
            watts = np.empty_like(stamps)
            for number in range(len(stamps)):
                keep = np.exp(-meter.refresh_s / drift.tau_s)
                wander = wander * keep + random.normal(scale=drift.sigma * np.sqrt(1 - keep**2))
                watts[number] = wander + drift.slope_watt_s * stamps[number]
            watts += _watt(truth, stage)
            shown = meter.gain * watts + random.normal(scale=meter.noise, size=len(stamps))
            shown = np.minimum(np.round(shown / meter.step) * meter.step if meter.step else shown, meter.limit)
            windows.append(_window(stage, at_s, window_s, stamps, shown, meter.step))
            at_s += window_s
    return windows


def without(stages: Sequence[Stage], *names: str) -> tuple[Stage, ...]:
    """Stages less some."""
    return tuple(stage for stage in stages if stage.name not in names)


def _watt(truth: Truth, stage: Stage) -> float:
    up_watt = truth.enabled + truth.link
    watt = truth.base + truth.enabled * stage.enabled + truth.link * stage.up + truth.left * stage.left
    watt -= stage.asleep * up_watt * (1 - truth.lpi_fraction)
    watt += truth.carrying * stage.carrying
    return watt + truth.bit * 1e-12 * stage.rate_bps + truth.packet * 1e-9 * stage.rate_pps


def _window(
    stage: Stage, at_s: float, window_s: float, stamps: np.ndarray, shown: np.ndarray, step: float
) -> StageWindow:
    times = np.round(stamps * NS).astype(np.int64) + 10**18
    series = PowerSeries(times, times + 2_000_000, shown, step, np.zeros(len(shown), dtype=bool))
    begin = round(at_s * NS) + 10**18
    power = mean_power(series, begin, begin + round(window_s * NS))
    return StageWindow(
        at_s + window_s / 2,
        power.power_watt,
        power.noise_watt,
        power.scatter_watt,
        power.shown_watt,
        {KIND: counts_of(stage)},
        rate_bps=stage.rate_bps,
        rate_pps=stage.rate_pps,
    )


def counts_of(stage: Stage) -> PortCounts:
    """A stage's ports, all cabled."""
    return PortCounts(
        cabled=PORTS,
        enabled_by_mbps={0: stage.enabled},
        up_by_mbps={1000: stage.up},
        lpi_by_mbps={1000: stage.asleep},
        carrying_by_mbps={1000: stage.carrying},
        left=stage.left,
    )
