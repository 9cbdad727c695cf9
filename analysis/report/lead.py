"""The first line of a report: what was found, in plain words, with the two numbers that matter."""

from collections.abc import Callable, Sequence
from typing import Final

from eee_testbed.analysis.report.changes import Change, changes_of
from eee_testbed.analysis.report.eee_effect import Effect, over_gaps
from eee_testbed.analysis.report.plain_words import placed, state_words
from eee_testbed.analysis.report.report_data import ReportData
from eee_testbed.analysis.report.table import number

_Lead = Callable[[ReportData], str]

NOTHING: Final = "Nothing was measured yet that shows what EEE costs"


def lead_sentence(data: ReportData) -> str:
    """Without intervals, which the findings below it have; without an end, as a title has none."""
    return next((text for lead in LEADS if (text := lead(data))), NOTHING)


def _over_gaps(data: ReportData) -> str:
    """Cost and saving of the program with the most gaps, each at its largest."""
    groups = over_gaps(data)
    name = max(groups, key=lambda key: len(groups[key]), default="")
    effects = groups.get(name, ())
    with_interval = [effect for effect in effects if effect.has_interval]
    if not with_interval:
        return ""
    name = placed(name)
    worst = max(with_interval, key=lambda effect: effect.slower_percent.interval.value)
    cost = worst.slower_percent.interval
    if cost.low <= 0:
        return f"EEE makes {name} no slower than its trials resolve ({_percent(cost.high)}){_most_saved(with_interval)}"
    return f"EEE makes {name} up to {_percent(cost.value)} slower{_most_saved(with_interval)}"


def _most_saved(effects: Sequence[Effect]) -> str:
    saved = [effect.saved_percent for effect in effects if effect.saved_percent is not None]
    if not saved:
        return "; what it saves was not measured"
    best = max(saved, key=lambda percent: percent.value)
    if best.high <= 0:
        return f", and costs at least {_percent(-best.value)} more energy"
    if best.low <= 0:
        return f", and saves no energy that its meters resolve ({_percent(best.high)} at most)"
    return f", and saves up to {_percent(best.value)} of the network's energy"


def _of_eee(data: ReportData) -> str:
    """The configuration that EEE slows down most, of those that were repeated enough."""
    changes = [change for change in changes_of(data) if change.of_eee]
    with_interval = [change for change in changes if change.time.has_interval]
    if not changes:
        return ""
    worst = max(with_interval or changes, key=lambda change: change.slower_percent.value)
    if not with_interval:
        size = f"{worst.slower_percent.value:+.2g} % in {worst.time.blocks} block{'s' * (worst.time.blocks > 1)}"
        return f"What EEE costs {placed(worst.name)} is not known yet: {size} may be chance"
    return f"EEE makes {placed(worst.name)} {_slower(worst)}{_energy(worst)}"


def _of_others(data: ReportData) -> str:
    """The setting with the largest saving in time lost or won, where EEE was not switched."""
    with_interval = [change for change in changes_of(data) if change.time.has_interval and not change.of_eee]
    if not with_interval:
        return ""
    worst = max(with_interval, key=lambda change: abs(change.slower_percent.value))
    changed = tuple(level for level in worst.point.state if level not in worst.base.state)
    setting = state_words(worst.series.run.factors, changed)
    return f"With {setting}, {placed(worst.name)} is {_slower(worst)}{_energy(worst)}"


def _slower(change: Change) -> str:
    cost = change.slower_percent
    if cost.low > 0:
        return f"{_percent(cost.value)} slower"
    if cost.high < 0:
        return f"{_percent(-cost.value)} faster"
    return f"no slower than {change.time.blocks} blocks resolve ({_percent(cost.high)})"


def _energy(change: Change) -> str:
    saved = change.saved_percent
    if saved is None:
        return "; what it saves was not measured"
    if saved.low <= 0 <= saved.high:
        return f", and saves no energy that its meters resolve ({_percent(saved.high)} at most)"
    return f", and {'saves' if saved.value > 0 else 'costs'} {_percent(abs(saved.value))} of the network's energy"


def _of_links(data: ReportData) -> str:
    """Where no program ran: when a link sleeps, and what its wake takes."""
    links = {} if data.calibration is None else data.calibration.links
    for link in links.values():
        if link.hold_us is not None and link.wake_us is not None:
            hold, wake = link.hold_us.value, link.wake_us.value
            return f"Links sleep after {number(hold)} µs without frames, and wake in {number(wake)} µs"
        if link.kind == "off":
            return f"Links do not sleep in pauses of up to {link.largest_gap_us / 1e3:.3g} ms"
    return ""


def _percent(value: float) -> str:
    """Two digits: the title is to be read, the findings to be cited."""
    return f"{float(f'{value:.2g}'):g} %"


LEADS: Final[Sequence[_Lead]] = (_over_gaps, _of_eee, _of_others, _of_links)
"""What the first line may say; the first that has something to say does."""
