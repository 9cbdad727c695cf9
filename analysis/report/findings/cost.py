"""What EEE costs every program in run time and saves in energy; over which gaps, where its calls were counted."""

from collections.abc import Sequence

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.changes import Change, changes_of
from eee_testbed.analysis.report.eee_effect import Effect, over_gaps
from eee_testbed.analysis.report.findings.finding import Finding, listed, negated, span_of, with_unit
from eee_testbed.analysis.report.measure import more_blocks_command, resume_command, sweep_command
from eee_testbed.analysis.report.plain_words import placed
from eee_testbed.analysis.report.report_data import ReportData, RunData, file_name, short_names
from eee_testbed.analysis.report.table import number
from eee_testbed.lab.counted_text import counted

_TOPIC = "What EEE costs and saves"
_MATTERS_PERCENT = 1.0
_MOST_PROGRAMS = 4
_ENOUGH_BLOCKS = 3


def cost(data: ReportData) -> Finding:
    """The program with the most gaps first: the largest cost and saving, and where; then every other program."""
    groups = over_gaps(data)
    changes: dict[str, list[Change]] = {}
    for change in changes_of(data):
        if change.of_eee:
            changes.setdefault(change.name, []).append(change)
    if not groups and not changes:
        return _nothing(data)
    lead = max(groups, key=lambda key: len(groups[key]), default="")
    others = [name for name in changes if name != lead]
    sentences = [_of_gaps(placed(lead), groups[lead])] if lead else []
    sentences += [_of_program(placed(name), changes[name]) for name in others[:_MOST_PROGRAMS]]
    if len(others) > _MOST_PROGRAMS:
        sentences.append(f"The table has {listed([placed(name) for name in others[_MOST_PROGRAMS:]])}.")
    if lead:
        keys = [f"{figure}-{groups[lead][0].file}" for figure in ("headline", "overhead")]
    else:
        keys = [f"headline-{file_name(others[0])}"]
    has_intervals = any(effect.has_interval for group in groups.values() for effect in group)
    has_intervals = has_intervals or any(change.time.has_interval for group in changes.values() for change in group)
    short = next((run for run in data.runs if any(trial.what == "program" for trial in run.trials)), data.runs[0])
    command = "" if has_intervals else more_blocks_command(short, _ENOUGH_BLOCKS)
    return Finding(_TOPIC, " ".join(sentences), (*keys, "run-times"), command)


def _nothing(data: ReportData) -> Finding:
    """Whether nothing was tried, or nothing of it counts."""
    for run in data.runs:
        if tried := _tried(run):
            which = (
                f"{placed(tried)} ran with EEE on and off, but no configuration has a valid trial of both in one block"
            )
            return Finding(_TOPIC, f"{which}: the table of trials that do not count says why.", (), resume_command(run))
    return Finding(_TOPIC, "no program ran with EEE on and off.", (), sweep_command(data))


def _tried(run: RunData) -> str:
    """A program that ran with EEE on and with EEE off, whether or not its trials count; "" if none did."""
    seen: dict[str, set[bool]] = {}
    for trial in run.trials:
        state = run.factors.state_of(trial) if trial.what == "program" else ()
        eee = {level in ("on", True) for name, level in state if run.factors.kind(name) == "eee"}
        seen.setdefault(run.factors.configuration_of(trial).placement, set()).update(eee)
    return next((name for name, states in seen.items() if len(states) == 2), "")


def _of_gaps(name: str, effects: Sequence[Effect]) -> str:
    with_interval = [effect for effect in effects if effect.has_interval]
    return f"{_slowdown(name, with_interval)} {_saving(with_interval)}" if with_interval else _too_few(name, effects)


def _of_program(name: str, changes: Sequence[Change]) -> str:
    """The configuration that EEE slows down most."""
    with_interval = [change for change in changes if change.time.has_interval]
    worst = max(with_interval or changes, key=lambda change: change.slower_percent.value)
    names = short_names([change.series.configuration for change in changes])
    place = [names[worst.series.configuration]] if len({change.series.configuration for change in changes}) > 1 else []
    place += [worst.beside] if worst.beside else []
    which = f", most with {', '.join(place)}" if len(changes) > 1 else f", with {place[0]}" if place else ""
    times = f"{number(worst.time.b.value)} s instead of {number(worst.time.a.value)} s"
    blocks = _blocks(worst)
    if not with_interval:
        return (
            f"With EEE, {name} took {times} ({worst.slower_percent.value:+.2g} %{which}) in {blocks}, "
            "too few to know how much of that is chance."
        )
    size = with_unit(worst.slower_percent, "%")
    if worst.slower_percent.low > 0:
        sentence = f"EEE makes {name} {size} slower{which}: {times}, in {blocks}."
    elif worst.slower_percent.high < 0:
        faster = with_unit(negated(worst.slower_percent), "%")
        sentence = f"With EEE, {name} took {faster} less time{which}: {times}, in {blocks}."
    else:
        sentence = f"With EEE, {name} was not slower as far as {blocks} resolve it ({size}{which}): {times}."
    return f"{sentence} {_saved(worst)}".strip()


def _blocks(change: Change) -> str:
    """In how many blocks both states were measured; of how many, where trials of the others do not count."""
    planned = {trial.block for trial in change.series.run.trials if trial.what == "program"}
    count = change.time.blocks
    if 0 < count < min(len(planned), _ENOUGH_BLOCKS):
        return f"{count} of {len(planned)} blocks (in the others a state has no valid trial)"
    return counted(count, "block")


def _saved(change: Change) -> str:
    if change.saved_percent is None:
        return "What it saves was not measured (no meter, or trials shorter than the meters' period)."
    of = f"The network's {change.meter_count} metered devices use" if change.meter_count > 1 else _ONE_METER
    return f"{of} {_joules(change.saved_percent)}."


def _too_few(name: str, effects: Sequence[Effect]) -> str:
    """Of few trials nothing is known but their values, and the largest of many differences is mostly chance."""
    percents = sorted(effect.slower_percent.interval.value for effect in effects)
    saving = "" if any(effect.saved_percent is not None for effect in effects) else f" {_saving(effects)}"
    blocks = max(effect.pair.blocks for effect in effects)
    return (
        f"{name} ran in {counted(blocks, 'block')} in each state, so what EEE costs it is not known: "
        f"its run times with EEE differed by {percents[0]:+.2g} to {percents[-1]:+.2g} % from those without, and "
        f"nothing shows how much of that is chance.{saving}"
    )


_ONE_METER = "The network's metered device uses"


def _slowdown(name: str, effects: Sequence[Effect]) -> str:
    worst = max(effects, key=lambda effect: effect.slower_percent.interval.value)
    matters = [
        effect for effect in effects if _resolved(effect) and effect.slower_percent.interval.value >= _MATTERS_PERCENT
    ]
    if not matters:
        return (
            f"EEE makes {name} slower by at most {with_unit(worst.slower_percent.interval, '%')}, at gaps of "
            f"{span_of([effect.idle_us for effect in effects])} between communications."
        )
    size = with_unit(worst.slower_percent.interval, "%")
    first = f"EEE makes {name} up to {size} slower, with gaps of {span_of([worst.idle_us])}"
    rest = [effect for effect in effects if effect not in matters]
    where = f"it costs 1 % or more with mean gaps of {span_of([effect.idle_us for effect in matters])}"
    if not rest:
        return f"{first} between communications; {where}, that is, at every gap that was measured."
    most = max(rest, key=lambda effect: effect.slower_percent.interval.value).slower_percent
    gaps = span_of([effect.idle_us for effect in rest])
    other = f"and at most {with_unit(most.interval, '%')} with the other gaps, {gaps}"
    return f"{first} between communications; {where}, {other}."


def _resolved(effect: Effect) -> bool:
    """Whether the bar excludes 0."""
    return effect.slower_percent.interval.low > 0


def _saving(effects: Sequence[Effect]) -> str:
    measured = [(effect, effect.saved_percent) for effect in effects if effect.saved_percent is not None]
    if measured:
        count = effects[0].meter_count
        of = f"The network's {count} metered devices use" if count > 1 else _ONE_METER
        return f"{of} {_range(measured)}."
    predicted = [
        (effect, effect.predicted_saved_percent) for effect in effects if effect.predicted_saved_percent is not None
    ]
    why = "What it saves was not measured (no meter, or trials shorter than the meters' period)"
    if not predicted:
        return f"{why}, and no power was fitted to predict it."
    return f"{why}; the switches whose power was fitted are predicted to use {_range(predicted)}."


def _range(effects: Sequence[tuple[Effect, Interval]]) -> str:
    best, most = max(effects, key=lambda pair: pair[1].value)
    worst, least = min(effects, key=lambda pair: pair[1].value)
    if best is worst:
        return _joules(most)
    return (
        f"{_joules(most)} (most with gaps of {span_of([best.idle_us])}) to {_joules(least)} "
        f"(with gaps of {span_of([worst.idle_us])})"
    )


def _joules(saved: Interval) -> str:
    if saved.value >= 0:
        return f"{with_unit(saved, '%')} less energy"
    return f"{with_unit(negated(saved), '%')} more energy"
