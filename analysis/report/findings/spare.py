"""Which links could be off, and what that costs and saves."""

from collections.abc import Sequence

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.findings.finding import Finding, listed, with_unit
from eee_testbed.analysis.report.measure import sweep_command
from eee_testbed.analysis.report.plain_words import placed
from eee_testbed.analysis.report.report_data import ReportData, RunData, Spread, file_name
from eee_testbed.analysis.report.series import Series, StatePoint, performance, saved_percent, series_of, slower_percent
from eee_testbed.analysis.report.table import number
from eee_testbed.analysis.run_lab import lab_of_run

_TOPIC = "Which links could be off"


def spare(data: ReportData) -> Finding:
    """The state with the most links off in which a program was measured, at its slowest configuration."""
    spares = [
        (program, point)
        for program in series_of(data)
        for point in program.points[1:]
        if (changed := _changed(program, point)) and all(program.run.factors.kind(name) == "link" for name in changed)
    ]
    if not spares:
        if not _has_trunks(data):
            return Finding(_TOPIC, "No link of this lab joins two switches, so none can be off.")
        command = sweep_command(data, "link=on,off", "--links", "trunks")
        return Finding(_TOPIC, "no program ran with links off and on.", (), command)
    most_off = max(len(_changed(*pair)) for pair in spares)
    widest = [pair for pair in spares if len(_changed(*pair)) == most_off]
    program, point = min(widest, key=lambda pair: performance(*pair).value)
    which = f"with {listed(_links(program.run, _changed(program, point)))} off"
    cost = _cost(slower_percent(program, point))
    saved = _saving(program, point)
    name = program.configuration.placement
    more = f" ({len(spares)} states and configurations were measured)" if len(spares) > 1 else ""
    return Finding(
        _TOPIC,
        f"{which[:1].upper()}{which[1:]}, {placed(name)} {cost}; {saved}{more}.",
        (f"saving-{file_name(name)}", f"trade-{file_name(name)}"),
    )


def _has_trunks(data: ReportData) -> bool:
    """Whether some lab has links between switches; yes where no inventory says."""
    labs = [lab_of_run(run.facts) for run in data.runs]
    return any(lab is None or any(True for _ in lab.trunks()) for lab in labs)


def _changed(program: Series, point: StatePoint) -> tuple[str, ...]:
    """The factors whose level is not that of the state that saves nothing."""
    return tuple(name for name, level in point.state if (name, level) not in program.points[0].state)


def _links(run: RunData, off: Sequence[str]) -> list[str]:
    """Links of the factors that are off, by the names in the experiment's file, else by their factor's."""
    experiment = run.facts.get("experiment")
    factors = experiment.get("factors", {}) if isinstance(experiment, dict) else {}
    names: list[str] = []
    for factor in off:
        given = factors.get(factor, {}).get("links", ())
        names += [f"all {given}"] if isinstance(given, str) else [str(name) for name in given] or [factor]
    return names


def _cost(cost: Spread) -> str:
    """Whether a program was slower, as far as its trials resolve it."""
    slower = cost.interval
    if slower.low == slower.high:
        comparison = "longer" if slower.value >= 0 else "less time"
        return f"took {number(_size(slower).value)} % {comparison} (fewer than three blocks, so no interval)"
    if slower.low > 0:
        return f"took {with_unit(slower, '%')} longer"
    return f"was not slower as far as could be resolved ({with_unit(slower, '%')})"


def _size(interval: Interval) -> Interval:
    return Interval(abs(interval.value), abs(interval.value), abs(interval.value))


def _saving(program: Series, point: StatePoint) -> str:
    if point.network_watt is None:
        return "what that saves was not measured (no meter, or trials shorter than the meters' period)"
    return f"the network drew {with_unit(saved_percent(program, point), '%')} less power"
