"""What regulated links cost and save: run time and network power relative to the baseline, from a run. By block."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.compare_runs import Side, compare_sides
from analysis.interval import Interval
from analysis.predict.regulated_watts import NetworkWatts
from eeectl.regulation.choosing import BASELINE, Option, Options
from lab.errors import LabError
from lab.model import Lab

FACTOR: Final = "regulation"
_TIMES: Final = ("time_steady", "time")


@dataclass(frozen=True, slots=True)
class Row:
    """An option relative to the baseline, each with its 95 % interval; None: not measured, or not known.

    `performance` is the figure of the baseline by that of the option if less is better, else the reverse. `metered` and
    `modelled` are the network's power by the baseline's. `apart`: meters and model contradict each other.
    """

    option: Option
    as_level: str
    figure: str
    performance: Interval | None
    metered: Interval | None
    modelled: Interval | None
    weak: bool

    @property
    def apart(self) -> bool:
        """Whether the intervals by meter and by model do not overlap."""
        if self.metered is None or self.modelled is None:
            return False
        return self.metered.low > self.modelled.high or self.modelled.low > self.metered.high


def metered_switches(lab: Lab) -> tuple[str, ...]:
    """The switches that metered outlets feed."""
    fed = {outlet.feeds for outlet in lab.outlets}
    return tuple(switch.name for switch in lab.switches if switch.name in fed)


def rows_of(
    folder: Path | None, lab: Lab, options: Options, watts: NetworkWatts | None, figure: str = ""
) -> tuple[Row, ...]:
    """A row for each option; without a folder, what the model says alone."""
    rows = []
    for option in options.options:
        level = options.same.get(option.name, option.name)
        modelled = None if watts is None else watts.ratio(option.choice.levels, options.baseline)
        performance = metered = None
        name, weak = figure, False
        if folder is not None and level != BASELINE:
            name, performance, metered, weak = _measured(folder, lab, level, figure)
        rows.append(Row(option, level, name, performance, metered, modelled, weak))
    return tuple(rows)


def _measured(folder: Path, lab: Lab, level: str, figure: str) -> tuple[str, Interval | None, Interval | None, bool]:
    sides = (Side(folder, {FACTOR: BASELINE}), Side(folder, {FACTOR: level}))
    devices = metered_switches(lab)
    try:
        found = {one.figure: one for _, one in compare_sides(*sides, (), devices, every=True)}
    except LabError:
        if not devices:
            raise
        found = {one.figure: one for _, one in compare_sides(*sides, every=True)}
    names = (figure,) if figure else _TIMES
    chosen = next((found[name] for name in names if name in found), None)
    if chosen is None:
        raise LabError(f"{folder} has no figure {' or '.join(names)}: name one of {', '.join(found)} with --figure.")
    ratio = chosen.ratio
    if chosen.unit in ("s", "us"):
        ratio = Interval(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
    power = found.get("power")
    metered = power.ratio if devices and power is not None else None
    return chosen.figure, ratio, metered, chosen.weak
