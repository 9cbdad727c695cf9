"""`eeectl compare A B`: two runs, or two levels of one run, figure by figure, with 95 % intervals."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from analysis.compare import Comparison, Energies, compare, matched
from analysis.interval import Interval
from lab.errors import LabError
from record.samples import RunSamples
from record.trials import Trial, read_trials

compare_app = App(name="compare")

_Values = dict[int, list[float]]


@dataclass(frozen=True, slots=True)
class Side:
    """A or B: trials of one run with some levels."""

    folder: Path
    levels: Mapping[str, str]

    def __str__(self) -> str:
        told = ", ".join(f"{name} {level}" for name, level in self.levels.items())
        return told or self.folder.name


@compare_app.default
def compare_command(
    a: str,
    b: str,
    /,
    *,
    figure: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    devices: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = (),
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Compare two runs, or two levels of a factor within one run: medians, ratios, energy, with 95 % intervals.

    A and B are RUN or RUN:FACTOR=LEVEL,... such as runs/20260101T000000Z-x:eee=off; B may be FACTOR=LEVEL alone, for
    A's run. Within a run values are paired by block, and compared where all other factors are equal.

    Parameters
    ----------
    a
        What is compared with.
    b
        What is compared.
    figure
        Figures to compare; left out: all, and energy and power where meters were read.
    devices
        Whose meters count for energy and power; left out: all.
    as_json
        Print JSON.

    """
    first = _side(a, None)
    second = _side(b, first)
    rows = compare_sides(first, second, figure, devices)
    if not rows:
        raise LabError(f"A ({first}) and B ({second}) have no figure in common: look at their trials' figures.")
    if as_json:
        told = [{"where": where, **_plain(one)} for where, one in rows]
        print(json.dumps({"a": str(first), "b": str(second), "comparisons": told}, indent=1))
    else:
        _print(first, second, rows)
    return 0


def _side(text: str, other: Side | None) -> Side:
    name, mark, levels = text.rpartition(":")
    if not mark:
        name, levels = ("", text) if "=" in text and not Path(text).exists() else (text, "")
    if not name and other is None:
        raise LabError(f"'{text}' names no run: write RUN or RUN:FACTOR=LEVEL for A.")
    folder = Path(name) if name else (other.folder if other else Path())
    if not (folder / "run.yaml").exists() and (Path("runs") / folder / "run.yaml").exists():
        folder = Path("runs") / folder
    wanted: dict[str, str] = {}
    for part in filter(None, levels.split(",")):
        factor, equals, level = part.partition("=")
        if not equals:
            raise LabError(f"'{part}' is no level: write FACTOR=LEVEL, such as eee=off.")
        wanted[factor] = level
    return Side(folder, wanted)


def compare_sides(
    a: Side, b: Side, figures: Sequence[str] = (), devices: Sequence[str] = ()
) -> list[tuple[str, Comparison]]:
    """Each figure of A and B, where all other factors are equal, and over all of that; LabError if there is nothing."""
    one_run = a.folder.resolve() == b.folder.resolve()
    sides = [_valued(side, devices) for side in (a, b)]
    skipped = set(a.levels) | set(b.levels)
    names = [name for name in sides[0][1] if name in sides[1][1] and (not figures or name in figures)]
    rows: list[tuple[str, Comparison]] = []
    for name in names:
        unit = sides[0][1][name]
        cells = [_cells(side[0], name, skipped) for side in sides]
        shared = [cell for cell in cells[0] if cell in cells[1]]
        found: list[tuple[str, Comparison]] = []
        for cell in shared:
            try:
                one = compare(cells[0][cell], cells[1][cell], name, unit, pairing="blocks" if one_run else "none")
            except ValueError:
                continue
            found.append((cell, one))
        rows += found
        if len(found) > 1:
            rows.append(("all together", _together(cells, [cell for cell, _ in found], name, one_run=one_run)))
    return rows


def _valued(side: Side, devices: Sequence[str]) -> tuple[list[tuple[Trial, dict[str, float]]], dict[str, str]]:
    """Trials that count with all their figures, energy and power too; and the figures' units."""
    trials = [trial for trial in read_trials(side.folder) if trial.valid and matched(trial.levels, side.levels)]
    if not trials:
        RunSamples(side.folder).facts  # noqa: B018 - says so if it is no run at all
        raise LabError(f"{side.folder} has no valid trial of {side}: look at its events, or name other levels.")
    energies = Energies(RunSamples(side.folder), devices)
    if devices and not energies.meters:
        raise LabError(f"no meter of {side.folder} feeds {', '.join(devices)}: name other devices.")
    units: dict[str, str] = {}
    found = []
    for trial in trials:
        values = {name: one.value for name, one in trial.figures.items()}
        units |= {name: one.unit for name, one in trial.figures.items()}
        metered = energies.of(trial)
        if metered is not None:
            values |= {"energy": metered.energy_joule, "power": metered.mean_watt}
            units |= {"energy": "J", "power": "W"}
        found.append((trial, values))
    return found, units


def _cells(trials: Sequence[tuple[Trial, dict[str, float]]], name: str, skipped: set[str]) -> dict[str, _Values]:
    """Values by the levels of all other factors, and by block."""
    cells: dict[str, _Values] = {}
    for trial, values in trials:
        if name in values:
            cell = ", ".join(f"{key} {level}" for key, level in trial.levels.items() if key not in skipped)
            cells.setdefault(cell, {}).setdefault(trial.block, []).append(values[name])
    return cells


def _together(cells: list[dict[str, _Values]], names: Sequence[str], figure: str, *, one_run: bool) -> Comparison:
    """All cells at once, each value by the median of A in its cell."""
    merged: list[_Values] = [{}, {}]
    for cell in names:
        scale = float(np.median([x for own in cells[0][cell].values() for x in own])) or 1.0
        for side in (0, 1):
            for block, own in cells[side][cell].items():
                merged[side].setdefault(block, []).extend(x / scale for x in own)
    return compare(merged[0], merged[1], figure, "of A", pairing="blocks" if one_run else "none")


def _plain(one: Comparison) -> dict[str, Any]:
    def told(interval: Interval) -> dict[str, float]:
        return {"value": interval.value, "low": interval.low, "high": interval.high}

    intervals = {name: told(getattr(one, name)) for name in ("a", "b", "ratio", "difference")}
    counts = {"trials_a": one.counts[0], "trials_b": one.counts[1], "blocks": one.blocks, "pairing": one.pairing}
    return {"figure": one.figure, "unit": one.unit, **intervals, **counts, "weak": one.weak, "differs": one.differs}


def _print(a: Side, b: Side, rows: Sequence[tuple[str, Comparison]]) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=200)
    console.print(f"A: {a} ({a.folder.name})\nB: {b} ({b.folder.name})", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("FIGURE", "WHERE", "UNIT"):
        table.add_column(heading)
    for heading in ("A", "B", "B / A", "95 %", "B - A", "95 %", "TRIALS"):
        table.add_column(heading, justify="right")
    for where, one in rows:
        ratio, difference = one.ratio, one.difference
        mark = " few blocks" if one.weak else ""
        table.add_row(
            *(one.figure, where, one.unit, f"{one.a.value:.5g}", f"{one.b.value:.5g}"),
            *(f"{ratio.value:.4f}", f"{ratio.low:.4f} - {ratio.high:.4f}"),
            *(f"{difference.value:+.4g}", f"{difference.low:+.4g} - {difference.high:+.4g}"),
            f"{one.counts[0]}, {one.counts[1]}{mark}",
        )
    console.print(table)
    pairing = rows[0][1].pairing
    words = "paired by block; intervals by drawing blocks" if pairing == "blocks" else "two runs: nothing is paired"
    console.print(words, markup=False)
