"""Which windows of a switch's power can be believed: screening within stages, and stages measured at one time. Pure.

A window is compared with the others of its stage (equal ports), after a fit by least absolute deviations has taken out
what differs within a stage (traffic). Its distance is that from the stage's median, in units of a robust scale: the
median absolute deviation of its own stage or, if that is larger, the median of all stages' ones. One window far off is
a fault of the measurement (somebody used the outlet, a supply switched over, the switch rebooted) and is left out. Many
windows far off are a second level of the stage, and are reported and kept: which of the two levels is right, no
statistics can say.

Simplification: a stage with one or two windows is not screened, as none of them is a majority.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.power.stage_columns import TRAFFIC, Columns, Name, of_kind
from eee_testbed.analysis.power.stage_window import StageWindow

_FAR_DEVIATIONS: Final = 8.0
"""Robust standard deviations; drift makes distances wider than normal ones, but never that wide."""

_LEAST_SHARE: Final = 1e-3
"""Of the watts: windows of a meter without noise differ by as much."""

_FEW_SHARE: Final = 0.15
_LEAST_IN_STAGE: Final = 3
_SIGMAS_PER_MAD: Final = 1.4826
_REWEIGHTINGS: Final = 50


def far_off(values: Sequence[float]) -> tuple[int, ...]:
    """Numbers of the windows of one stage alone that no other confirms; none if they are too few, or a second level.

    >>> far_off([30.1, 30.2, 30.0, 30.1, 36.0, 30.2, 30.1, 30.0])
    (4,)
    >>> far_off([30.1, 36.0])
    ()
    """
    watts = np.array(values)
    scale = _scale(watts)
    if scale is None:
        return ()
    far = np.flatnonzero(
        np.abs(watts - np.median(watts)) > _FAR_DEVIATIONS * max(scale, _LEAST_SHARE * float(np.median(watts)))
    )
    return tuple(far.tolist()) if far.size <= max(1.0, _FEW_SHARE * watts.size) else ()


@dataclass(frozen=True, slots=True)
class Screened:
    """Numbers of the windows to fit, and sentences about those left out and those that are far off and kept."""

    kept: tuple[int, ...]
    warnings: tuple[str, ...]


def screened(columns: Columns, error_watt: float) -> Screened:
    """Screen the windows of a design; `error_watt` is what a window's mean may be off by anyway."""
    windows, stages = columns.windows, columns.stages
    away = _least_absolute(columns.scaled, np.array([window.power_watt for window in windows]))
    scales = {stage: _scale(away[stages == stage]) for stage in np.unique(stages)}
    usual = float(np.median([scale for scale in scales.values() if scale is not None] or [0.0]))
    left_out: set[int] = set()
    warnings = []
    for stage, own in scales.items():
        if own is None:
            continue
        members = np.flatnonzero(stages == stage)
        middle = float(np.median(away[members]))
        scale = max(own, usual, error_watt)
        far = members[np.abs(away[members] - middle) > _FAR_DEVIATIONS * scale]
        if 0 < far.size <= max(1.0, _FEW_SHARE * members.size):
            left_out |= set(far.tolist())
            warnings += [_left_out(windows, number, members, scale) for number in far]
        elif far.size:
            apart = float(np.median(np.abs(away[far] - middle)))
            warnings.append(
                f"{far.size} of {members.size} windows of one stage lie {apart:.3g} W from the others, which noise "
                "does not explain: something changed meanwhile (firmware, fans, cables); find out what."
            )
    return Screened(tuple(number for number in range(len(windows)) if number not in left_out), tuple(warnings))


def _least_absolute(design: Floats, value: Floats) -> Floats:
    """Residuals of a fit by least absolute deviations, by reweighting; they hardly depend on single values."""
    weight: Floats = np.ones_like(value)
    left = value
    least = max(1e-6 * float(np.abs(value).max(initial=0.0)), 1e-12)
    for _ in range(_REWEIGHTINGS):
        root = np.sqrt(weight)
        left = value - design @ np.linalg.lstsq(design * root[:, None], value * root, rcond=None)[0]
        weight = 1.0 / np.maximum(np.abs(left), least)
    return left


def _scale(values: Floats) -> float | None:
    """Robust standard deviation about the median, which is itself one of the values; None for too few."""
    if values.size < _LEAST_IN_STAGE:
        return None
    away = np.sort(np.abs(values - np.median(values)))[1:]
    return _SIGMAS_PER_MAD * float(np.median(away))


def _left_out(windows: Sequence[StageWindow], number: int, members: NDArray[np.int64], scale: float) -> str:
    others = float(np.median([windows[member].power_watt for member in members if member != number]))
    watt = windows[number].power_watt
    after_s = windows[number].at_s - windows[0].at_s
    return (
        f"The window {after_s:.0f} s after the first one was left out: {watt:.4g} W, where others of its stage have "
        f"{others:.4g} W, usually within {scale:.2g} W."
    )


def measured_once(columns: Columns) -> tuple[str, ...]:
    """Sentences about powers whose stage was measured in one stretch of time, so that a drift may be part of them."""
    order = np.argsort([window.at_s for window in columns.windows], kind="stable")
    kinds = sorted({name.kind for name in columns.values if name.kind})
    return tuple(
        f"{_words(name, kinds)} rests on windows of one stretch of time: a drift between that and other stages would "
        "be part of it; measure the stages alternately, in blocks."
        for name, column in columns.values.items()
        if name.what not in ("base", "packet") and _one_stretch(column[order], loaded=name.what in TRAFFIC)
    )


def _one_stretch(column: Floats, *, loaded: bool) -> bool:
    """Whether each level of a column was measured once, without another one in between."""
    top = float(np.abs(column).max(initial=0.0))
    levels = (column > 0).astype(float) if loaded else np.round(column / top if top else column, 2)
    stretches = 1 + int(np.count_nonzero(np.diff(levels)))
    return stretches == np.unique(levels).size


def _words(name: Name, kinds: Sequence[str]) -> str:
    kind_text = of_kind(kinds, name.kind)
    at = f" at {name.mbps} Mb/s" if name.mbps else ""
    return {
        "cabled": f"The power of a cabled port{kind_text}",
        "enabled": f"The power of an enabled port{kind_text}",
        "link": f"The power of a link{kind_text}{at}",
        "left": f"The residual power of a port{kind_text}",
        "lpi": f"The power in low-power idle{kind_text}{at}",
        "bit": "The energy of traffic",
        "carrying": f"The power of a port{kind_text}{at} that carries traffic",
    }[name.what]
