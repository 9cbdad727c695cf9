"""Two runs, or two levels of one run, figure by figure: which trials belong to either side, and what is compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from eee_testbed.analysis.compare import Comparison, Energies, compare, matched
from eee_testbed.lab.errors import LabError
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import Trial

FIRST: Final = ("time", "time_steady", "mpi_time", "elapsed", "energy", "power")
"""Figures that come first, and alone unless more are asked for: run times, then what meters show."""

_INSTEAD: Final = ("mpi_time", "elapsed")
"""Run times of programs that report none of their own: the first that there is stands for it."""

_Values = dict[int, list[float]]
"""By block."""


@dataclass(frozen=True, slots=True)
class Side:
    """A or B: trials of one run with some levels."""

    run: RunSamples
    levels: Mapping[str, str]

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.run.folder

    def __str__(self) -> str:
        levels = ", ".join(f"{name} {level}" for name, level in self.levels.items())
        return levels or self.folder.name


@dataclass(frozen=True, slots=True)
class _Figures:
    """Valid trials of a side with their figures, energy and power included, and each figure's unit."""

    trials: tuple[tuple[Trial, Mapping[str, float]], ...]
    units: Mapping[str, str]

    @classmethod
    def of(cls, side: Side, devices: Sequence[str]) -> "_Figures":
        trials = [trial for trial in side.run.trials if trial.valid and matched(trial.levels, side.levels)]
        if not trials:
            side.run.facts  # noqa: B018 - raises if the folder is not a run's
            raise LabError(f"{side.folder} has no valid trial of {side}: check its events, or name other levels.")
        energies = Energies(side.run, devices)
        if devices and not energies.meters:
            raise LabError(f"no meter of {side.folder} feeds {', '.join(devices)}: name other devices.")
        units: dict[str, str] = {}
        measured = []
        for trial in trials:
            values = {name: figure.value for name, figure in trial.figures.items()}
            units |= {name: figure.unit for name, figure in trial.figures.items()}
            metered = energies.of(trial)
            if metered is not None:
                values |= {"energy": metered.energy_joule, "power": metered.mean_watt}
                units |= {"energy": "J", "power": "W"}
            measured.append((trial, values))
        return cls(tuple(measured), units)

    def cells(self, name: str, compared: set[str]) -> dict[str, _Values]:
        """Values of a figure by the levels of all factors but the compared ones."""
        cells: dict[str, _Values] = {}
        for trial, values in self.trials:
            if name in values:
                cell = ", ".join(f"{key} {level}" for key, level in trial.levels.items() if key not in compared)
                cells.setdefault(cell, {}).setdefault(trial.block, []).append(values[name])
        return cells


def compare_sides(
    a: Side, b: Side, figures: Sequence[str] = (), devices: Sequence[str] = (), *, every: bool = False
) -> list[tuple[str, Comparison]]:
    """Each figure of A and B where all other factors are equal, and over all such cells together.

    Of all figures those of `FIRST`, unless `figures` names some or `every` asks for the rest too.
    LabError if a side has no valid trial, if a trial is on both sides, or if no meter feeds `devices`.
    """
    one_run = a.folder.resolve() == b.folder.resolve()
    sides = [_Figures.of(side, devices) for side in (a, b)]
    if one_run and {trial.number for trial, _ in sides[0].trials} & {trial.number for trial, _ in sides[1].trials}:
        raise LabError(
            f"A ({a}) and B ({b}) have trials of one run in common: name two runs, or two levels such as "
            f"{a.folder}:eee=off eee=on."
        )
    compared = set(a.levels) | set(b.levels)
    shared = [name for name in sides[0].units if name in sides[1].units]
    first = _first(shared)
    chosen = figures or (first if first and not every else shared)
    names = [name for name in (*first, *(name for name in shared if name not in first)) if name in chosen]
    rows: list[tuple[str, Comparison]] = []
    for name in names:
        unit = sides[0].units[name]
        cells = [side.cells(name, compared) for side in sides]
        compared_cells: list[tuple[str, Comparison]] = []
        for cell in (cell for cell in cells[0] if cell in cells[1]):
            try:
                comparison = compare(
                    cells[0][cell], cells[1][cell], name, unit, pairing="blocks" if one_run else "none"
                )
            except ValueError:
                continue
            compared_cells.append((cell, comparison))
        rows += compared_cells
        if len(compared_cells) > 1:
            rows.append(("all together", _together(cells, [cell for cell, _ in compared_cells], name, one_run=one_run)))
    return rows


def _first(shared: Sequence[str]) -> list[str]:
    """Run time, energy and power; of run times that stand for the program's own, one if it has none."""
    has_time = any(name in shared for name in ("time", "time_steady"))
    instead = next((name for name in _INSTEAD if name in shared), "") if not has_time else ""
    return [name for name in FIRST if name in shared and (name not in _INSTEAD or name == instead)]


def _together(cells: list[dict[str, _Values]], names: Sequence[str], figure: str, *, one_run: bool) -> Comparison:
    """All cells at once, each value divided by the median of A in its cell."""
    merged: list[_Values] = [{}, {}]
    for cell in names:
        scale = float(np.median([x for values in cells[0][cell].values() for x in values])) or 1.0
        for side in (0, 1):
            for block, values in cells[side][cell].items():
                merged[side].setdefault(block, []).extend(x / scale for x in values)
    return compare(merged[0], merged[1], figure, "of A", pairing="blocks" if one_run else "none")
