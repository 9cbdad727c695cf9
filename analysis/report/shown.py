"""Every figure of runs' programs for which `eeectl check` knows a limit: changes, values in each setting, counts.

The names are those of `KINDS`; a program's own figures have the program's names.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from eee_testbed.analysis.compare import Comparison, compare
from eee_testbed.analysis.configurations import Configuration, State, state_text
from eee_testbed.analysis.expect import Figure
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.power.trial_energy import run_time_name, run_time_s
from eee_testbed.analysis.report.changes import Change, changes_of
from eee_testbed.analysis.report.energies import Meter, energy_of_trial, meters_of
from eee_testbed.analysis.report.report_data import ReportData, RunData, short_names
from eee_testbed.record.trials import Trial

KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "time.slowdown": ("%", "how much longer a program takes, by the median of the blocks' own ratios"),
    "energy.saving": ("%", "joules that the network's metered devices save over the run time"),
    "FIGURE.change": ("%", "how much larger any other figure is"),
    "time": ("s", "run time, in each setting"),
    "energy": ("J", "joules of the network's metered devices over the run time, in each setting"),
    "power": ("W", "their mean power, in each setting"),
    "FIGURE": ("as measured", "any other figure, in each setting"),
    "trials.valid": ("1", "trials that count"),
    "trials.invalid": ("1", "trials that do not count, as a guard says"),
    "trials.failed": ("1", "trials that failed or were cut short"),
}
"""Names of figures: unit, and meaning. The first three are of EEE on against off, all else the same, or of another
setting, as in `time.slowdown[link=off]`, against the one that saves nothing."""

_STATES: Final = ("valid", "invalid", "failed")
_NAN: Final = float("nan")

_Key = tuple[Configuration, State]
_Table = dict[tuple[str, str], dict[int, list[float]]]
"""By a figure's name and unit: its values by block."""


def figures_of(data: ReportData) -> list[Figure]:
    """All of them, changes first."""
    changes = changes_of(data)
    tables = {run.name: _tables(run) for run in data.runs}
    configurations = [key[0] for table in tables.values() for key in table]
    names = short_names(list(dict.fromkeys(configurations)))
    figures = [figure for change in changes for figure in _of_change(data, change, tables, names)]
    for run in data.runs:
        figures += [
            figure for key, table in tables[run.name].items() for figure in _values(data, run, key, table, names)
        ]
    return [*figures, *(figure for run in data.runs for figure in _counts(data, run))]


def _tables(run: RunData) -> dict[_Key, _Table]:
    """Values of each configuration in each state."""
    meters = meters_of(run)
    tables: dict[_Key, _Table] = {}
    for trial in run.programs():
        table = tables.setdefault((run.factors.configuration_of(trial), run.factors.state_of(trial)), {})
        for name, (value, unit) in _of_trial(run, trial, meters).items():
            table.setdefault((name, unit), {}).setdefault(trial.block, []).append(value)
    return tables


def _of_trial(run: RunData, trial: Trial, meters: Sequence[Meter]) -> dict[str, tuple[float, str]]:
    energy = energy_of_trial(run, trial, meters) if meters else None
    program_figures = {
        name: (figure.value, figure.unit) for name, figure in trial.figures.items() if name != run_time_name(trial)
    }
    figures = {"time": (run_time_s(trial), "s")}
    if energy is not None and energy.network_joule is not None and energy.network_watt is not None:
        figures |= {"energy": (energy.network_joule.value, "J"), "power": (energy.network_watt.value, "W")}
    return program_figures | figures


def _of_change(
    data: ReportData,
    state_change: Change,
    tables: Mapping[str, Mapping[_Key, _Table]],
    names: Mapping[Configuration, str],
) -> Iterator[Figure]:
    run, configuration = state_change.series.run, state_change.series.configuration
    lab = {name: str(level) for name, level in state_change.point.state}
    settings = f"{state_text(state_change.point.state)} against {state_text(state_change.base.state)}"
    where = f"{_where(data, run, configuration, names)}: {settings}"
    changed = {name: lab[name] for name in state_change.factors}
    figure = Figure(
        "time.slowdown",
        "%",
        where,
        state_change.slower_percent,
        lab,
        _levels(configuration),
        changed,
        state_change.of_eee,
    )
    yield figure
    if state_change.saved_percent is not None:
        yield replace(figure, name="energy.saving", interval=state_change.saved_percent)
    base, point = (
        tables[run.name].get((configuration, side.state), {}) for side in (state_change.base, state_change.point)
    )
    for name, unit in base:
        if name not in ("time", "energy") and (name, unit) in point:
            change = _change_percent(base[name, unit], point[name, unit], name)
            if change is not None:
                yield replace(figure, name=f"{name}.change", interval=change)


def _change_percent(base: Mapping[int, list[float]], point: Mapping[int, list[float]], name: str) -> Interval | None:
    """None without a block in common, and where the base is 0."""
    try:
        comparison = compare(base, point, name, "1")
    except ValueError:
        return None
    if math.isnan(comparison.ratio.value):
        return None
    return _ends(comparison.ratio.above_percent, comparison)


def _values(
    data: ReportData, run: RunData, key: _Key, table: _Table, names: Mapping[Configuration, str]
) -> Iterator[Figure]:
    configuration, state = key
    where = f"{_where(data, run, configuration, names)}: {state_text(state)}"
    for (name, unit), by_block in table.items():
        comparison = compare({block: [0.0] for block in by_block}, by_block, name, unit)  # its interval over blocks
        lab = {factor: str(level) for factor, level in state}
        yield Figure(name, unit, where, _ends(comparison.difference, comparison), lab, _levels(configuration))


def _ends(interval: Interval, comparison: Comparison) -> Interval:
    return interval if comparison.has_interval else Interval(interval.value, _NAN, _NAN)


def _counts(data: ReportData, run: RunData) -> Iterator[Figure]:
    states = Counter(trial.state for trial in run.trials)
    for state in _STATES:
        count = float(states[state])
        yield Figure(f"trials.{state}", "1", run.name if data.several else "", Interval(count, count, count))


def _levels(configuration: Configuration) -> dict[str, str]:
    return {
        "program": configuration.program,
        "host_count": str(len(configuration.hosts)),
        "ranks_per_host": str(configuration.ranks_per_host),
        **{name: str(value) for name, value in configuration.parameters},
    }


def _where(data: ReportData, run: RunData, configuration: Configuration, names: Mapping[Configuration, str]) -> str:
    name = names[configuration]
    if configuration.placement not in name:
        name = f"{configuration.placement} {name}"
    return f"{run.name} {name}" if data.several else name
