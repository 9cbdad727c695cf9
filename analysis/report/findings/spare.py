"""Which links could be off, and what that costs and saves."""

from analysis.configurations import state_text
from analysis.interval import Interval
from analysis.report.findings.finding import Finding, listed, measured_text, with_unit
from analysis.report.report_data import ReportData, RunData, file_name
from analysis.report.trade import Series, StatePoint, performance, saved_percent, series_of

_TOPIC = "Which links could be off"
_MEASURE = "eeectl sweep EXPERIMENT.yaml, with a factor of kind link"


def spare(data: ReportData) -> Finding:
    """The state with the most links off in which a program was measured, at its slowest configuration."""
    found = [
        (one, point)
        for one in series_of(data)
        for point in one.points[1:]
        if all(one.run.factors.kind(name) == "link" for name, level in point.state if level != "on")
    ]
    if not found:
        return Finding(_TOPIC, "no program ran with links off and on.", (), _MEASURE)
    most_off = max(_off_count(point) for _, point in found)
    widest = [(one, point) for one, point in found if _off_count(point) == most_off]
    one, point = min(widest, key=lambda pair: performance(*pair).value)
    links = _links(one.run, point)
    which = f"with {listed(links)} off" if links else f"with {state_text(point.state)}"
    cost = _cost(performance(one, point), point.time_s.count)
    saved = _saving(one, point)
    name = one.configuration.placement
    more = f" ({len(found)} states and configurations were measured)" if len(found) > 1 else ""
    return Finding(
        _TOPIC,
        f"{which[:1].upper()}{which[1:]}, {name} {cost}; {saved}{more}.",
        (f"saving-{file_name(name)}", f"trade-{file_name(name)}"),
    )


def _off_count(point: StatePoint) -> int:
    return sum(level not in ("on", True) for _, level in point.state)


def _links(run: RunData, point: StatePoint) -> list[str]:
    """Links that are off in a state, by the names in the experiment's file, else by their factor's."""
    experiment = run.facts.get("experiment")
    factors = experiment.get("factors", {}) if isinstance(experiment, dict) else {}
    names: list[str] = []
    for factor, level in point.state:
        if level in ("on", True):
            continue
        given = factors.get(factor, {}).get("links", ())
        names += [f"all {given}"] if isinstance(given, str) else [str(name) for name in given] or [factor]
    return names


def _cost(found: Interval, count: int) -> str:
    """Whether a program was slower, as far as its trials resolve it."""
    slower = Interval.about(100 * (1 / found.value - 1), 100 * (1 / found.high - 1), 100 * (1 / found.low - 1))
    if count < 2:
        words = "longer" if slower.value >= 0 else "less time"
        return f"took {measured_text(_size(slower), '%', count)} {words}"
    if slower.low > 0:
        return f"took {with_unit(slower, '%')} longer"
    return f"was not slower as far as could be resolved ({with_unit(slower, '%')})"


def _size(found: Interval) -> Interval:
    return Interval(abs(found.value), abs(found.value), abs(found.value))


def _saving(one: Series, point: StatePoint) -> str:
    if point.network_watt is None:
        return "what that saves was not measured (no meter, or trials shorter than the meters' period)"
    return f"the network drew {with_unit(saved_percent(one, point), '%')} less power"
