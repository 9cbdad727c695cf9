"""`eeectl check RUN --expect ...`: limits for a run's figures, with an exit status for scripts and nightly runs."""

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter

from eee_testbed.eeectl.exit_status import BROKEN, DONE, NOT_SHOWN
from eee_testbed.lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_testbed.analysis.expect import Answer, Figure, Judged

check_app = App(name="check")

_STATUS: "Final[dict[Answer, int]]" = {"met": DONE, "broken": BROKEN, "not shown": NOT_SHOWN}


@check_app.default
def check(
    *runs: str,
    expect: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Check figures of runs against limits, such as --expect 'time.slowdown < 1 %'; the exit status is the answer.

    An expectation is NAME < VALUE UNIT, or <=, >, >=. It is met if the whole 95 % interval is on that side of the
    limit, and broken if the whole interval is on the other side. Otherwise it is not shown: the limit is inside the
    interval, or fewer than three blocks were measured, which give no interval. It has to be met in every configuration.
    NAME[FACTOR=LEVEL,...] selects configurations, or another setting of the lab than EEE, as in
    'time.slowdown[link=off] < 2 %'.

    Exit status 0: all are met; 4: one is broken; 5: one is not shown. Without --expect the runs' figures are listed.

    Parameters
    ----------
    runs
        Folders of runs, or their names below runs/; or a study's folder, for all its runs.
    expect
        An expectation, such as 'time.slowdown < 1 %'. Give the option once for each. Default: list the figures.
    as_json
        Print JSON.

    """
    from eee_testbed.analysis.expect import Expectation, judge, worst
    from eee_testbed.analysis.report.report_data import read_report_data
    from eee_testbed.analysis.report.shown import figures_of
    from eee_testbed.eeectl.runs_of import runs_of

    if not runs:
        raise LabError("name a run: eeectl check runs/NAME --expect 'time.slowdown < 1 %'.")
    expectations = [Expectation.of(text) for text in dict.fromkeys(expect)]
    folders = [folder for name in dict.fromkeys(runs) for folder in runs_of(name)]
    figures = figures_of(read_report_data(folders, None, ""))
    if not expectations:
        _list(figures, as_json=as_json)
        return DONE
    judged = [judge(verdict, figures) for verdict in expectations]
    answer = worst(verdict.answer for verdict in judged)
    if as_json:
        print(json.dumps({"answer": answer, "expectations": [_plain(verdict) for verdict in judged]}, indent=1))
    else:
        for verdict in judged:
            _print(verdict)
    return _STATUS[answer]


def _list(figures: "Sequence[Figure]", *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"figures": [_figure(figure) for figure in figures]}, indent=1))
        return
    for name in dict.fromkeys(figure.named for figure in figures):
        print(name)
        for figure in figures:
            if figure.named == name:
                print(f"    {_value(figure)}{_at(figure)}")


def _print(judged: "Judged") -> None:
    print(f"{judged.answer}: {judged.expectation.text}")
    for figure, answer in judged.figures:
        why = ""
        if answer == "not shown":
            has_interval = not math.isnan(figure.interval.low)
            why = ": the interval holds the limit" if has_interval else ": fewer than three blocks, so no interval"
        print(f"    {_value(figure)}{_at(figure)}: {answer}{why}")


def _at(figure: "Figure") -> str:
    return f", {figure.where}" if figure.where else ""


def _value(figure: "Figure") -> str:
    from eee_testbed.analysis.report.table import cell_text, number

    value, _, ends = cell_text(figure.interval).partition(" (")
    unit = "" if figure.unit == "1" else f" {figure.unit}"
    if math.isnan(figure.interval.low):
        return f"{number(figure.interval.value)}{unit}"
    return f"{value}{unit} ({ends}" if ends else f"{value}{unit}"


def _figure(figure: "Figure") -> dict[str, Any]:
    low, high = figure.interval.known_ends
    value = {"value": figure.interval.value, "low": low, "high": high, "unit": figure.unit}
    return {"name": figure.named, "where": figure.where, **value}


def _plain(judged: "Judged") -> dict[str, Any]:
    figures = [{**_figure(figure), "answer": answer} for figure, answer in judged.figures]
    return {"expect": judged.expectation.text, "answer": judged.answer, "figures": figures}
