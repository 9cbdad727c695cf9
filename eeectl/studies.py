"""Studies: what `eeectl simulate` does with a file that names many simulations."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import isnan
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.findings.finding import with_unit
from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.going_on import keeping
from eee_testbed.eeectl.report_files import ReportFiles, page_file
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.simulation.pool import Pool
from eee_testbed.simulation.studies.estimate import corrected, estimated_s
from eee_testbed.simulation.studies.expand import Case, cases_of, workload_axes
from eee_testbed.simulation.studies.measured import (
    MEASURED,
    Energies,
    is_draw,
    with_measured,
)
from eee_testbed.simulation.studies.measured_power import MeasuredPower, read_power
from eee_testbed.simulation.studies.pairs import pairs_of
from eee_testbed.simulation.studies.points import StudyPoint, StudyTask, tasks_of
from eee_testbed.simulation.studies.results import POINTS, StudyResults, read_links
from eee_testbed.simulation.studies.statement import StudyData
from eee_testbed.simulation.studies.study import Study, read_study
from eee_testbed.simulation.studies.sweep import missing, simulate_study
from eee_testbed.simulation.worker import Simulated

if TYPE_CHECKING:
    from eee_testbed.simulation.report.studies import StudyReport
    from eee_testbed.simulation.studies.advise import Choice
    from eee_testbed.simulation.studies.statement import Judged

_FOLDER: Final = "simulations"
_WHOLE: Final = "-whole"
_SAY_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """What is asked of a study: its whole set, advice in place of statements, a page, JSON.

    `power` is a calibration, and which switch and link of it, as `read_power` takes them; None: the papers' watts.
    """

    whole: bool
    advise: bool
    report: bool
    as_json: bool
    power: str | None = None


def simulate_study_file(file: Path, output: Path | None, pool: Pool, processes: int, options: StudyOptions) -> int:
    """Simulate a study's reduced set, or all of it, and print what it gave; the exit status."""
    study = read_study(file)
    whole = options.whole or study.reduced is None
    cases = cases_of(study, file.parent, whole=whole)
    power = read_power(options.power) if options.power is not None else None
    if power is not None:
        cases = with_measured(cases, power)
        _stderr().print(power.taken())
    whole_name = study.name + (_WHOLE if whole and study.reduced is not None else "")
    folder = output or Path(_FOLDER) / (whole_name + (f"-{MEASURED}" if power is not None else ""))
    results = StudyResults(folder, cases)
    tasks = tasks_of(cases)
    with keeping(lambda: len(results.points), "point", folder), results.alone():
        _run(study, tasks, results, pool, processes, whole=whole)
    found = _report(study, cases, results, len(tasks), power, whole=whole)
    page = _write_page(found, folder) if options.report or options.advise else None
    _show(found, folder, page, options)
    return DONE


def _report(
    study: Study,
    cases: Sequence[Case],
    results: StudyResults,
    asked: int,
    power: MeasuredPower | None,
    *,
    whole: bool,
) -> "StudyReport":
    from eee_testbed.simulation.report.studies import StudyReport  # noqa: PLC0415 - drawing takes a second to load

    left_out = study.reduced.leaves_out if study.reduced is not None and not whole else []
    pairs = pairs_of(results.points, cases)
    drawn = [pair for pair in pairs if power is not None and is_draw(pair)]
    shown = [pair for pair in pairs if power is None or not is_draw(pair)]
    data = StudyData(cases, shown, partial(read_links, results.folder))
    return StudyReport(study, results.folder, data, workload_axes(study), left_out, asked, power, drawn)


def _write_page(found: "StudyReport", folder: Path) -> Path:
    from eee_testbed.simulation.report.studies import page, report_of  # noqa: PLC0415 - drawing takes a second to load

    where = page_file(None, folder)
    report = report_of(found)
    ReportFiles().write(where, page(found, report), report)
    return where


def _show(found: "StudyReport", folder: Path, page: Path | None, options: StudyOptions) -> None:
    statements, choices = found.judged, found.choices
    if options.as_json:
        plain: dict[str, Any] = {"folder": str(folder), "points": len(found.data.pairs)}
        plain |= {"statements": [_statement(one) for one in statements], "choices": [_choice(one) for one in choices]}
        if found.power is not None:
            plain |= {"energies": [_energies(one) for one in found.energies], "taken": found.power.taken()}
        print(json.dumps(plain | ({"report": str(page)} if page else {}), indent=1))
        return
    if options.advise:
        _print_choices(found.study.name, choices, found.power)
    else:
        _print_statements(statements)
    if found.power is not None:
        _print_energies(found.energies, found.power)
    print(f"points: {folder / POINTS}")
    if page is not None:
        print(f"report: {page}")


def _statement(one: "Judged") -> dict[str, str]:
    stated, verdict = one.statement, one.verdict
    return {"number": stated.number, "text": stated.text, "line": stated.line, "how": stated.how} | asdict(verdict)


def _choice(one: "Choice") -> dict[str, Any]:
    figures = {
        "run_time_s": _plain(one.run_time_s),
        "network_joule": _plain(one.network_joule),
        "cluster_joule": _plain(one.cluster_joule),
    }
    return {"labels": dict(one.labels), **figures, "seeds": one.seeds, "beaten_by": one.beaten_by}


def _energies(one: Energies) -> dict[str, Any]:
    figures = {
        "slowdown_percent": one.slowdown_percent,
        "paper_joule": one.paper_joule,
        "paper_saved_percent": one.paper_saved_percent,
        "measured_joule": one.measured_joule,
        "measured_saved_percent": one.measured_saved_percent,
    }
    return {"labels": list(one.labels)} | {name: _plain(found) for name, found in figures.items()}


def _plain(one: Interval) -> dict[str, float | None]:
    low, high = one.known_ends
    return {"value": one.value, "low": low, "high": high}


def _print_statements(statements: Sequence["Judged"]) -> None:
    if not statements:
        return
    from eee_testbed.simulation.report.studies import counted  # noqa: PLC0415 - drawing takes a second to load

    print("\nstatements beside ours")
    for one in statements:
        stated, verdict = one.statement, one.verdict
        because = f", because {verdict.because}" if verdict.because else ""
        print_text(f"{stated.number}: {stated.text} ({stated.line})", indent=4)
        print_text(f"    ours: {verdict.ours}", indent=4)
        print_text(f"    {verdict.outcome}{because}.", indent=4)
    print(counted(statements))


def _print_choices(name: str, choices: Sequence["Choice"], power: MeasuredPower | None) -> None:
    """Those that are beaten are struck out."""
    from eee_testbed.simulation.report.measured import of_choices  # noqa: PLC0415 - drawing takes a second to load

    title = f"{name}: which choice for these jobs"
    table = Table(title=title, caption=of_choices(power), box=SIMPLE_HEAD, pad_edge=False)
    for column in ("choice", "run time", "network", "cluster", "beaten by"):
        table.add_column(column, justify="left" if column in ("choice", "beaten by") else "right")
    for one in choices:
        cells = (
            _with_unit(one.run_time_s, "s"),
            _with_unit(one.network_joule, "J"),
            _with_unit(one.cluster_joule, "J"),
        )
        style = "strike" if one.beaten_by else None
        table.add_row(one.name, *cells, one.beaten_by, style=style)
    print_table(Console(), table)


def _print_energies(found: Sequence[Energies], power: MeasuredPower) -> None:
    from eee_testbed.simulation.report.measured import remarks  # noqa: PLC0415 - drawing takes a second to load

    caption = " ".join(remarks(power))
    table = Table(title=f"energy with {power.switch_name}", caption=caption, box=SIMPLE_HEAD, pad_edge=False)
    for column in ("choice", "slowdown", "saved, the paper's watts", f"saved, {power.switch_name}", "network"):
        table.add_column(column, justify="left" if column == "choice" else "right")
    for one in found:
        cells = (
            _with_unit(one.slowdown_percent, "%"),
            _with_unit(one.paper_saved_percent, "%"),
            _with_unit(one.measured_saved_percent, "%"),
            _with_unit(one.measured_joule, "J"),
        )
        table.add_row(" ".join(one.labels), *cells)
    print_table(Console(), table, markup=False)


def _with_unit(one: Interval, unit: str) -> str:
    return f"{one.value:.4g} {unit}" if isnan(one.low) else with_unit(one, unit)


def _run(
    study: Study, tasks: Sequence[StudyTask], results: StudyResults, pool: Pool, processes: int, *, whole: bool
) -> None:
    """Say what it will cost, and simulate what is missing."""
    console = _stderr()
    todo = missing(tasks, results)
    console.print(f"{study.name}: {len(tasks)} points{'' if whole else ' in the reduced set'}, {len(todo)} to simulate")
    if not whole and study.reduced is not None:
        for sentence in study.reduced.leaves_out:
            console.print(f"left out: {sentence}")
    if not todo:
        return
    console.print("estimating the cost: counting messages of the programs")
    estimates = estimated_s(todo, _every(_SAY_EVERY_S, console))
    asked_s = sum(estimates[task.case.key] for task in todo)
    console.print(f"cost: about {in_words(asked_s)} of processor time, {in_words(asked_s / processes)} on {processes}")
    spent = [0.0, 0.0]

    def done(simulated: Simulated[StudyPoint]) -> None:
        point = simulated.result
        spent[0] += point.replayed.process_s
        spent[1] += estimates[point.key[0]]
        left_s = corrected(asked_s - spent[1], spent[0], spent[1]) / processes
        again = f" (again: its process was lost, {simulated.lost} times)" if simulated.lost else ""
        console.print(
            f"{point.key[0]}, seed {point.key[1]}: {point.replayed.run_time_s:.6g} s{again} "
            f"[{len(results.points)} of {len(tasks)}, about {in_words(left_s)} left]",
        )

    simulate_study(todo, results, pool, done)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def _every(seconds: float, console: Console) -> Callable[[int, int], None]:
    """A line about what is counted, but not more often than that."""
    last_s = monotonic()

    def say(done: int, count: int) -> None:
        nonlocal last_s
        if monotonic() - last_s >= seconds:
            last_s = monotonic()
            console.print(f"counted for {done} of {count} simulations")

    return say


def in_words(seconds: float) -> str:
    """A time to read.

    >>> in_words(50), in_words(5400), in_words(260_000)
    ('50 s', '1.5 h', '3.0 days')
    """
    for limit, unit, name in ((90, 1, "s"), (5_400, 60, "min"), (172_800, 3_600, "h")):
        if seconds < limit:
            return (
                f"{seconds / unit:.0f} {name}" if unit == 1 or seconds / unit >= 10 else f"{seconds / unit:.1f} {name}"
            )
    return f"{seconds / 86_400:.1f} days"
