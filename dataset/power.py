"""Power of a port against packet interval: the twin's switches by their truths, the papers' by their models."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from eee_engine import phy_profiles

from eee_testbed.analysis.predict.other_networks import PAPER_POWER
from eee_testbed.dataset.one_link import LinkLoad, LinkTimes, link_times
from eee_testbed.dataset.schema import STATES
from eee_testbed.lab.folder import find_lab
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.power_models import Carried, andujar, georgakoudis
from eee_testbed.twin.power.watts import PortLedger, port_joule
from eee_testbed.twin.truth.truth import PortPowerTruth, SwitchTruth, Truth
from eee_testbed.twin.truth.truth_file import load_truth

if TYPE_CHECKING:
    from eee_engine import LpiTiming, Mode

LABS: Final = ("koibuchi", "miwa", "virtual")
"""Virtual labs that come along; each has a truth."""

_PHYS: Final = {100: "100BASE-TX", 1000: "1000BASE-T", 10_000: "10GBASE-T"}
"""Of a twin's port, by speed in Mb/s."""

_MODES: Final[tuple["Mode", ...]] = ("off", "deep", "fast", "hybrid")
_PS_PER_S: Final = 1e12


@dataclass(frozen=True, slots=True)
class Grid:
    """Which points are simulated: frame sizes with FCS, intervals, holds."""

    sizes_byte: tuple[int, ...]
    intervals_us: tuple[float, ...]
    holds_us: tuple[float, ...]


def _decades(low: int, high: int, steps: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(float(step * 10.0**decade) for decade in range(low, high) for step in steps)


WHOLE: Final = Grid((64, 512, 1518), (*_decades(-1, 5, (1, 2, 3, 5, 7)), 1e5), (0.0, 1.0, 10.0, 100.0, 1000.0))
REDUCED: Final = Grid((64, 1518), (*_decades(1, 5, (1, 3)), 1e5), (0.0, 10.0, 1000.0))


@dataclass(frozen=True, slots=True)
class Port:
    """A port with its PHY profiles by speed in Mb/s, its times, holds of its own, and how its power follows.

    `power` gives the power relative to a port that never sleeps, and watts if the model has any.
    """

    source: str
    switch: str
    phys: Mapping[int, str]
    timing: "LpiTiming"
    holds_us: tuple[float, ...]
    power: Callable[[LinkTimes, LinkLoad], tuple[float, float | None]]


def twin_port(lab: str, family: str, truth: SwitchTruth) -> Port:
    """A port of a family of a virtual lab, with the truth's times at every speed, as the twin has them."""
    watts = truth.power.port
    phys = {speed: phy for speed, phy in _PHYS.items() if speed in watts.up_watt}
    return Port("twin", f"{lab}/{family}", phys, truth.lpi.timing(), (truth.lpi.hold_us,), partial(_twin_power, watts))


def _twin_power(truth: PortPowerTruth, times: LinkTimes, load: LinkLoad) -> tuple[float, float]:
    """On the supply's output side; both directions have the same load."""
    before = PortLedger(times.before, None, admin_up=True)
    after = PortLedger(
        times.after, None, admin_up=True, sent_byte=times.frames * load.size_byte, sent_count=times.frames
    )
    seconds = (times.after["total_ps"] - times.before["total_ps"]) / _PS_PER_S
    sent_joule = times.frames * (8 * load.size_byte * truth.bit_joule + truth.frame_joule)
    awake_watt = truth.up_at_watt(load.speed_mbps) + sent_joule / seconds
    watt = port_joule(before, after, truth) / seconds
    return watt / awake_watt, watt


def _andujar_power(times: LinkTimes, _: LinkLoad) -> tuple[float, float]:
    """Of a port with its part of the logic behind it: two switches that one link joins (Eq. 1 to 3)."""
    ratio = andujar(Carried(2, 0, 1, _shares(times), 0.0, 0.0)).ratio.value
    return ratio, ratio * PAPER_POWER.port_watt.value


def _georgakoudis_power(times: LinkTimes, _: LinkLoad) -> tuple[float, None]:
    return georgakoudis(_shares(times)).ratio.value, None


def _shares(times: LinkTimes) -> StateShares:
    names = ("sleep", "wake", "quiet", "refresh", "fast")
    return StateShares(idle=times.fraction("active"), **{name: times.fraction(name) for name in names})


_MODELS: Final = (
    Port("model", "andujar-2023", {10_000: "andujar"}, {}, (), _andujar_power),
    Port(
        "model",
        "georgakoudis-2019",
        {mbps * 1000: f"georgakoudis-{mbps}GBASE-R" for mbps in (25, 40, 100)},
        {},
        (1.1,),
        _georgakoudis_power,
    ),
)
"""Ports of the papers."""


def ports() -> Iterator[Port]:
    """The twin's by their labs' truths, then the models'."""
    for lab in LABS:
        truth = truth_of(lab)
        for family in sorted(truth.switches.families):
            yield twin_port(lab, family, truth.switches.families[family])
    yield from _MODELS


def truth_of(lab: str) -> Truth:
    """Of a lab that comes along; InventoryError if its file is damaged."""
    return load_truth(find_lab(lab) / "twin" / "truth.yaml")


def power_rows(grid: Grid) -> Iterator[dict[str, Any]]:
    """Rows of the table `power`."""
    for port in ports():
        for load, hold_us in _loads(port, grid):
            yield _row(port, load, hold_us)


def _loads(port: Port, grid: Grid) -> Iterator[tuple[LinkLoad, float]]:
    """Those that a link can carry, in the order of the columns; intervals up to twice a frame's time are left out."""
    profiles = phy_profiles()
    for mbps, phy in port.phys.items():
        sleep_us = port.timing.get("sleep_us", profiles[phy]["sleep_us"])
        fast_wake_us = port.timing.get("fast_wake_us", profiles[phy]["fast_wake_us"])
        wake_us = port.timing.get("wake_us", profiles[phy]["wake_us"]) + fast_wake_us
        for mode in _MODES:
            if (mode in ("deep", "hybrid") and not sleep_us) or (mode in ("fast", "hybrid") and not fast_wake_us):
                continue
            holds = sorted({*grid.holds_us, *port.holds_us}) if mode != "off" else [0.0]
            for hold_us, size, interval_us in product(holds, grid.sizes_byte, grid.intervals_us):
                timing: LpiTiming = {**port.timing, "hold_us": hold_us}
                if mode == "hybrid":
                    timing["deep_after_us"] = hold_us
                cycle_us = sleep_us + wake_us if interval_us > hold_us else 0.0
                load = LinkLoad(phy, mbps, mode, timing, size, interval_us, cycle_us)
                if interval_us > 2 * load.wire_us:
                    yield load, hold_us


def _row(port: Port, load: LinkLoad, hold_us: float) -> dict[str, Any]:
    times = link_times(load)
    ratio, watt = port.power(times, load)
    return {
        "source": port.source,
        "switch": port.switch,
        "speed_mbps": load.speed_mbps,
        "mode": load.mode,
        "hold_us": hold_us,
        "deep_after_us": hold_us if load.mode == "hybrid" else 0.0,
        "size_byte": load.size_byte,
        "interval_us": load.interval_us,
        **{f"{state}_fraction": times.fraction(state) for state in STATES},
        "woken_fraction": times.woken_fraction,
        "delay_us": times.delay_us,
        "power_fraction": ratio,
        "port_watt": watt,
    }
