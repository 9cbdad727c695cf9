"""What other settings of the lab than EEE and links off change: hold, speed, trees, and several at once."""

from typing import Final

from eee_testbed.analysis.configurations import state_text
from eee_testbed.analysis.report.changes import Change, changes_of
from eee_testbed.analysis.report.findings.finding import Finding, negated, with_unit
from eee_testbed.analysis.report.measure import more_blocks_command
from eee_testbed.analysis.report.plain_words import placed, state_words
from eee_testbed.analysis.report.report_data import ReportData, short_names
from eee_testbed.analysis.report.table import number

_TOPIC: Final = "What other settings change"
_MOST_SETTINGS: Final = 3
_ENOUGH_BLOCKS: Final = 3


def other_settings(data: ReportData) -> Finding | None:
    """The settings that change a program's run time most; None if no other setting was a factor."""
    changes = [change for change in changes_of(data) if not change.of_eee and not _of_links(change)]
    if not changes:
        return None
    worst: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = change.name, state_text(change.point.state)
        if key not in worst or abs(change.slower_percent.value) > abs(worst[key].slower_percent.value):
            worst[key] = change
    kept = sorted(worst.values(), key=lambda change: -abs(change.slower_percent.value))[:_MOST_SETTINGS]
    names = short_names(list(dict.fromkeys(change.series.configuration for change in changes)))
    parts = [_words(change, names[change.series.configuration]) for change in kept]
    more = f" The table has {len(worst) - len(kept)} more." if len(worst) > len(kept) else ""
    has_intervals = any(change.time.has_interval for change in kept)
    command = "" if has_intervals else more_blocks_command(kept[0].series.run, _ENOUGH_BLOCKS)
    return Finding(_TOPIC, f"{'; '.join(parts)}.{more}", ("run-times",), command)


def _of_links(change: Change) -> bool:
    """Whether only links were switched off, which a finding of its own says."""
    return all(change.series.run.factors.kind(name) == "link" for name in change.factors)


def _words(change: Change, configuration: str) -> str:
    factors = change.series.run.factors
    first = state_words(factors, change.base.state)
    longer = change.slower_percent.value >= 0
    percent = change.slower_percent if longer else negated(change.slower_percent)
    size = with_unit(percent, "%") if change.time.has_interval else f"{percent.value:.3g} %"
    times = f"{number(change.time.b.value)} s instead of {number(change.time.a.value)} s with {first}"
    where = "" if configuration == change.name else f" ({configuration})"
    took = f"{placed(change.name)}{where} took {size} {'longer' if longer else 'less time'}: {times}"
    return f"with {state_words(factors, change.point.state)}, {took}, in {change.time.blocks} blocks"
