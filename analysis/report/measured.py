"""What was measured and how: runs, versions, clocks, trials that do not count, and remarks."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from eee_testbed.analysis.configurations import LAB_KINDS
from eee_testbed.analysis.report.report_data import ReportData, RunData
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import sentence_of

_REMARKS = frozenset(kind for kind in EventKind if kind.remark)
_MOST_REMARKS = 40


def measured(data: ReportData) -> Section:
    """The section that every report has."""
    runs = data.runs
    tables = [_runs(runs), _experiments(runs), _trials(runs), _clocks(runs), _versions(runs)]
    invalid = _not_counted(runs)
    warnings = []
    if invalid.rows:
        tables.append(invalid)
        count = len(invalid.rows)
        words = "1 trial does" if count == 1 else f"{count} trials do"
        warnings.append(f"{words} not count; the table says why.")
    remarks = _remarks(runs)
    tables.append(Table(remarks.name, remarks.title, remarks.columns, remarks.rows[:_MOST_REMARKS]))
    if len(remarks.rows) > _MOST_REMARKS:
        hidden = len(remarks.rows) - _MOST_REMARKS
        warnings.append(f"{hidden} more remarks are not shown: see events.jsonl in the runs' folders.")
    text = (
        "Times are UTC on the clock of the computer that ran the experiment. A sample was true at some moment between "
        "request and response; the errors of other clocks are within the bounds below."
    )
    labs = {str(run.facts.get("lab_digest", "")) for run in runs}
    if len(labs) > 1:
        warnings.append("These runs have different inventories, so that they may differ in more than their factors.")
    unfinished = [run.name for run in runs if run.facts.get("state") != "finished"]
    if unfinished:
        warnings.append(f"Not finished, so that parts may be missing: {', '.join(unfinished)}.")
    return Section(
        "measured",
        "What was measured, and how",
        text,
        tables=tuple(_of_one(table) if len(runs) == 1 else table for table in tables if table.rows),
        warnings=tuple(warnings),
    )


def _of_one(table: Table) -> Table:
    """Without the column of the run's name, for a report of one run; the table of runs keeps it."""
    if table.name == "runs":
        return table
    return Table(table.name, table.title, table.columns[1:], tuple(row[1:] for row in table.rows))


def _experiment(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    experiment = facts.get("experiment")
    return experiment if isinstance(experiment, Mapping) else {}


def _runs(runs: tuple[RunData, ...]) -> Table:
    columns = ("run", "lab", "inventory", "experiment", "order seed", "begun", "ended", "state", "by")
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        facts = run.facts
        experiment = _experiment(facts)
        rows.append(
            (
                run.name,
                str(facts.get("lab", "")),
                str(facts.get("lab_digest", ""))[:12],
                str(experiment.get("name", facts.get("name", ""))),
                str(experiment.get("seed", "")),
                str(facts.get("begun", ""))[:19].replace("T", " "),
                str(facts.get("ended", ""))[:19].replace("T", " "),
                str(facts.get("state", "")),
                f"{facts.get('actor', '')}@{facts.get('host', '')}",
            )
        )
    return Table("runs", "Runs", tuple(map(Column, columns)), tuple(rows))


def _experiments(runs: tuple[RunData, ...]) -> Table:
    """What was varied, and how often it was repeated."""
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        experiment = _experiment(run.facts)
        if "measure" in experiment:
            factors = [_factor(name, factor) for name, factor in experiment.get("factors", {}).items()]
            rows.append(
                (
                    run.name,
                    _measure(experiment["measure"]),
                    "; ".join(factors) or "nothing",
                    _count(experiment.get("blocks")),
                    _count(experiment.get("repetitions")),
                    ", ".join(experiment.get("slow", ())),
                )
            )
    columns = ("run", "what is measured", "factors and levels", "blocks", "repetitions in a block", "changed slowly")
    return Table("experiments", "Experiments", tuple(map(Column, columns)), tuple(rows))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _factor(name: str, factor: Mapping[str, Any]) -> str:
    links = factor.get("links")
    of = f" of {links if isinstance(links, str) else ', '.join(map(str, links))}" if links else ""
    levels = ", ".join(str(level) for level in factor.get("levels", ()))
    return f"{name}{of if factor.get('kind') in LAB_KINDS else ''}: {levels}"


def _measure(measure: Mapping[str, Any]) -> str:
    for what, settings in measure.items():
        if isinstance(settings, Mapping):
            if what == "program":
                ranks = f"{len(settings.get('hosts', ()))}x{settings.get('ranks_per_host', 1)}"
                fixed = " ".join(f"{key}={value}" for key, value in settings.get("parameters", {}).items())
                return f"{settings.get('name')} {ranks} {fixed}".strip()
            if what == "probe":
                return f"probe {settings.get('from')} - {settings.get('to')}, {settings.get('count')} echoes"
            return f"{what}, windows of {settings.get('window_s')} s"
    return ""


def _trials(runs: tuple[RunData, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        what = dict.fromkeys((trial.what, trial.program) for trial in run.trials)
        for kind, program in what:
            states = Counter(trial.state for trial in run.trials if (trial.what, trial.program) == (kind, program))
            rows.append((run.name, program or kind, states["valid"], states["invalid"], states["failed"]))
    columns = ("run", "what", "valid", "invalid", "failed")
    return Table("trials", "Trials", tuple(map(Column, columns)), tuple(rows))


def _clocks(runs: tuple[RunData, ...]) -> Table:
    """The widest bound of each source."""
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        widest: dict[tuple[str, str], tuple[int, bool]] = {}
        for clock in run.facts.get("clocks", ()):
            key = str(clock["source"]), str(clock["method"])
            bound_ns, good = widest.get(key, (0, True))
            widest[key] = max(bound_ns, int(clock["bound_ns"])), good and bool(clock.get("consistent", True))
        rows += [
            (run.name, source, method, bound_ns / 1e6, "yes" if good else "no")
            for (source, method), (bound_ns, good) in widest.items()
        ]
    columns = (Column("run"), Column("clock of"), Column("by"), Column("bound", "ms"), Column("consistent"))
    return Table("clocks", "Clocks", columns, tuple(rows))


def _versions(runs: tuple[RunData, ...]) -> Table:
    names = dict.fromkeys(name for run in runs for name in run.facts.get("versions", {}))
    rows = tuple((run.name, *(str(run.facts.get("versions", {}).get(name, "")) for name in names)) for run in runs)
    return Table("versions", "Versions", (Column("run"), *map(Column, names)), rows)


def _not_counted(runs: tuple[RunData, ...]) -> Table:
    rows = [
        (run.name, trial.number, trial.program or trial.what, _levels(trial.levels), trial.state, trial.why)
        for run in runs
        for trial in run.trials
        if not trial.valid
    ]
    columns = ("run", "trial", "what", "levels", "state", "why it does not count")
    return Table("not-counted", "Trials that do not count", tuple(map(Column, columns)), tuple(rows))


def _remarks(runs: tuple[RunData, ...]) -> Table:
    """Events that a reader of the figures has to know about, equal ones once; the first of each kind comes first."""
    remarks = (
        (run.name, str(event["kind"]).replace("_", " "), str(event.get("source", "")), sentence_of(event))
        for run in runs
        for event in run.events
        if event["kind"] in _REMARKS
    )
    rows: list[tuple[Cell, ...]] = list(dict.fromkeys(remarks))
    first = {row[:2]: row for row in reversed(rows)}
    rows.sort(key=lambda row: first[row[:2]] != row)
    return Table("remarks", "Remarks", tuple(map(Column, ("run", "what", "about", "why"))), tuple(rows))


def _levels(levels: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={level}" for name, level in levels.items())
