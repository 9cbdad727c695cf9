"""What EEE costs a program in run time and saves in energy, and at which pauses."""

from collections.abc import Sequence

from analysis.interval import Interval
from analysis.report.eee_effect import Effect, effects_of
from analysis.report.findings.finding import Finding, measured_text, span_of, with_unit
from analysis.report.report_data import ReportData

_TOPIC = "What EEE costs and saves"
_MEASURE = "eeectl sweep EXPERIMENT.yaml, with the factor eee"
_MATTERS_PERCENT = 1.0
_PREDICTED = 2
"""A prediction's interval is its own, whatever was measured once."""


def cost(data: ReportData) -> Finding:
    """For the program with the most configurations: the largest cost and saving, and where."""
    groups = effects_of(data)
    if not groups:
        return Finding(_TOPIC, "no program ran with EEE on and off.", (), _MEASURE)
    name = max(groups, key=lambda key: len(groups[key]))
    shown = tuple(f"{figure}-{file}" for file in (groups[name][0].file,) for figure in ("headline", "overhead"))
    return Finding(_TOPIC, f"{_slowdown(name, groups[name])} {_saving(groups[name])}", shown)


def _slowdown(name: str, effects: Sequence[Effect]) -> str:
    worst = max(effects, key=lambda one: one.slower_percent.interval.value)
    matters = [one for one in effects if _resolved(one) and one.slower_percent.interval.value >= _MATTERS_PERCENT]
    if not matters:
        return (
            f"EEE makes {name} slower by at most {_with_count(worst)}, at gaps of "
            f"{span_of([one.idle_us for one in effects])} between communications."
        )
    first = f"EEE makes {name} up to {_with_count(worst)} slower, with gaps of {span_of([worst.idle_us])}"
    rest = [one for one in effects if one not in matters]
    where = f"it costs 1 % or more with mean gaps of {span_of([one.idle_us for one in matters])}"
    if not rest:
        return f"{first} between communications; {where}, which is wherever it was measured."
    most = max(rest, key=lambda one: one.slower_percent.interval.value).slower_percent
    size = with_unit(most.interval, "%") if most.count > 1 else f"{most.interval.value:.2g} %"
    other = f"and at most {size} with the other gaps, {span_of([one.idle_us for one in rest])}"
    return f"{first} between communications; {where}, {other}."


def _resolved(one: Effect) -> bool:
    """Whether the bar excludes 0; of single trials nothing is known but their value."""
    return one.slower_percent.count < 2 or one.slower_percent.interval.low > 0


def _with_count(one: Effect) -> str:
    return measured_text(one.slower_percent.interval, "%", one.slower_percent.count)


def _saving(effects: Sequence[Effect]) -> str:
    measured = [(one, one.saved_percent) for one in effects if one.saved_percent is not None]
    if measured:
        count = effects[0].meter_count
        of = f"The network's {count} metered devices use" if count > 1 else "The network's metered device uses"
        return f"{of} {_range(measured)}."
    predicted = [(one, one.predicted_saved_percent) for one in effects if one.predicted_saved_percent is not None]
    why = "What it saves was not measured (no meter, or trials shorter than the meters' period)"
    if not predicted:
        return f"{why}, and no power was fitted to predict it."
    return f"{why}; the switches whose power was fitted are predicted to use {_range(predicted)}."


def _range(found: Sequence[tuple[Effect, Interval]]) -> str:
    best, most = max(found, key=lambda pair: pair[1].value)
    worst, least = min(found, key=lambda pair: pair[1].value)
    if best is worst:
        return _joules(best, most)
    return (
        f"{_joules(best, most)} (most with gaps of {span_of([best.idle_us])}) to {_joules(worst, least)} "
        f"(with gaps of {span_of([worst.idle_us])})"
    )


def _joules(one: Effect, saved: Interval) -> str:
    """Less or more; joules of single trials have errors of their run time too, of which nothing is known."""
    count = one.slower_percent.count if saved is one.saved_percent else _PREDICTED
    if saved.value >= 0:
        return f"{measured_text(saved, '%', count)} less energy"
    return f"{measured_text(Interval(-saved.value, -saved.high, -saved.low), '%', count)} more energy"
