"""Every trial of runs as one row of a table, with its units in the heads: `eeectl report --trials csv`."""

from collections.abc import Iterator
from datetime import UTC, datetime

from eee_testbed.analysis.configurations import Factors
from eee_testbed.analysis.power.trial_energy import run_time_name
from eee_testbed.analysis.report.energies import TrialEnergy, energy_of_trial, meters_of
from eee_testbed.analysis.report.report_data import ReportData, RunData
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.record.trials import Trial

_Row = dict[Column, Cell]


def trial_table(data: ReportData) -> Table:
    """A row for each trial, whether it counts or not, in the order in which they began; a cell without value is empty.

    Figures of trials that do not count are in it, too: the columns `state` and `why` say which these are. Levels of
    factors come after what was run, figures last.
    """
    rows = [row for run in data.runs for row in _rows(run)]
    columns = tuple(dict.fromkeys(column for parts in zip(*rows, strict=True) for part in parts for column in part))
    whole = [{column: cell for part in row for column, cell in part.items()} for row in rows]
    return Table("trials", "Every trial", columns, tuple(tuple(row.get(column) for column in columns) for row in whole))


def _rows(run: RunData) -> Iterator[tuple[_Row, _Row, _Row, _Row]]:
    meters = meters_of(run)
    for trial in run.trials:
        yield (
            _head(run, trial),
            {Column(name): _plain(level) for name, level in trial.levels.items()},
            _end(run.factors, trial, energy_of_trial(run, trial, meters) if meters and _ran(trial) else None),
            {Column(name, figure.unit): figure.value for name, figure in trial.figures.items()},
        )


def _head(run: RunData, trial: Trial) -> _Row:
    return {
        Column("run"): run.name,
        Column("lab"): str(run.facts.get("lab", "")),
        Column("trial"): trial.number,
        Column("block"): trial.block,
        Column("repetition"): trial.repetition,
        Column("what"): trial.what,
        Column("program"): run.factors.configuration_of(trial).program if trial.what == "program" else None,
        Column("hosts"): " ".join(trial.hosts),
        Column("ranks", "1"): trial.rank_count or None,
    }


def _end(factors: Factors, trial: Trial, energy: TrialEnergy | None) -> _Row:
    ran = _ran(trial)
    name = (run_time_name(trial) or "window") if ran else None
    watt = None if energy is None or energy.network_watt is None else energy.network_watt.value
    joule = None if energy is None or energy.network_joule is None else energy.network_joule.value
    configuration = factors.configuration_of(trial)
    parameters = " ".join(f"{key}={value}" for key, value in configuration.parameters if key not in trial.levels)
    return {
        Column("parameters"): parameters or None,
        Column("state"): trial.state,
        Column("why"): trial.why or None,
        Column("answer right"): None if trial.answer_right is None else _plain(trial.answer_right),
        Column("begun", "UTC"): datetime.fromtimestamp(trial.begun_ns / 1e9, UTC).isoformat(timespec="milliseconds"),
        Column("window", "s"): trial.window_s,
        Column("run time is"): name,
        Column("network power", "W"): watt,
        Column("network energy", "J"): joule,
    }


def _ran(trial: Trial) -> bool:
    return trial.what == "program" and trial.ended_ns > trial.begun_ns


def _plain(value: object) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, int | float) else str(value)
