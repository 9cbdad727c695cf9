"""What EEE costs a program in run time and saves in energy, and at which pauses."""

from collections.abc import Sequence

from analysis.interval import Interval
from analysis.report.eee_effect import Effect, effects_of
from analysis.report.findings.finding import Finding, span_of, with_unit
from analysis.report.report_data import ReportData

_TOPIC = "What EEE costs and saves"
_MEASURE = "eeectl sweep EXPERIMENT.yaml, with the factor eee"
_MATTERS_PERCENT = 1.0


def cost(data: ReportData) -> Finding:
    """For the program with the most configurations: the largest cost and saving, and where."""
    groups = effects_of(data)
    if not groups:
        return Finding(_TOPIC, "no program ran with EEE on and off.", (), _MEASURE)
    name = max(groups, key=lambda key: len(groups[key]))
    shown = tuple(f"{figure}-{file}" for file in (groups[name][0].file,) for figure in ("headline", "overhead"))
    repeated = [one for one in groups[name] if one.slower_percent.count > 1]
    if not repeated:
        return Finding(_TOPIC, _once(name, groups[name]), shown, "eeectl run RUN --resume --blocks 5")
    return Finding(_TOPIC, f"{_slowdown(name, repeated)} {_saving(repeated)}", shown)


def _once(name: str, effects: Sequence[Effect]) -> str:
    """Of single trials nothing is known but their values, and the largest of many differences is mostly chance."""
    found = sorted(one.slower_percent.interval.value for one in effects)
    saving = "" if any(one.saved_percent is not None for one in effects) else f" {_saving(effects)}"
    return (
        f"{name} ran once in each state, so what EEE costs it is not known: its run times with EEE differed by "
        f"{found[0]:+.2g} to {found[-1]:+.2g} % from those without, and nothing shows how much of that is chance."
        f"{saving}"
    )


def _slowdown(name: str, effects: Sequence[Effect]) -> str:
    worst = max(effects, key=lambda one: one.slower_percent.interval.value)
    matters = [one for one in effects if _resolved(one) and one.slower_percent.interval.value >= _MATTERS_PERCENT]
    if not matters:
        return (
            f"EEE makes {name} slower by at most {with_unit(worst.slower_percent.interval, '%')}, at gaps of "
            f"{span_of([one.idle_us for one in effects])} between communications."
        )
    size = with_unit(worst.slower_percent.interval, "%")
    first = f"EEE makes {name} up to {size} slower, with gaps of {span_of([worst.idle_us])}"
    rest = [one for one in effects if one not in matters]
    where = f"it costs 1 % or more with mean gaps of {span_of([one.idle_us for one in matters])}"
    if not rest:
        return f"{first} between communications; {where}, which is wherever it was measured."
    most = max(rest, key=lambda one: one.slower_percent.interval.value).slower_percent
    other = f"and at most {with_unit(most.interval, '%')} with the other gaps, {span_of([one.idle_us for one in rest])}"
    return f"{first} between communications; {where}, {other}."


def _resolved(one: Effect) -> bool:
    """Whether the bar excludes 0."""
    return one.slower_percent.interval.low > 0


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
        return _joules(most)
    return (
        f"{_joules(most)} (most with gaps of {span_of([best.idle_us])}) to {_joules(least)} "
        f"(with gaps of {span_of([worst.idle_us])})"
    )


def _joules(saved: Interval) -> str:
    if saved.value >= 0:
        return f"{with_unit(saved, '%')} less energy"
    return f"{with_unit(Interval(-saved.value, -saved.high, -saved.low), '%')} more energy"
