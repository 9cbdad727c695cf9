"""A finding: one sentence with numbers and intervals, and the figure or table that shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.table import cell_text, number


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of the first screen.

    `shown_in` are names of drawings or tables, the best one first: the page links the first that it has. `command` is
    set where the data are missing, and then says how to measure them.
    """

    topic: str
    sentence: str
    shown_in: tuple[str, ...] = ()
    command: str = ""


def with_unit(measured: Interval, unit: str) -> str:
    """A value with its unit, then its interval: "0.60 W (0.57 to 0.63)"; without an interval if it has no width."""
    value, _, interval = cell_text(measured).partition(" (")
    return f"{value} {unit} ({interval}" if interval else f"{value} {unit}"


def negated(interval: Interval) -> Interval:
    """The same the other way round: slower as faster, saved as spent."""
    return Interval(-interval.value, -interval.high, -interval.low)


def milliseconds(time_us: float) -> str:
    """A gap, to read: below 1 ms in us."""
    return f"{number(float(f'{time_us:.3g}'))} µs" if time_us < 1_000 else f"{number(float(f'{time_us / 1e3:.3g}'))} ms"


def span_of(times_us: Sequence[float]) -> str:
    """The range of some gaps, to read."""
    least, most = min(times_us), max(times_us)
    return milliseconds(least) if least == most else f"{milliseconds(least)} to {milliseconds(most)}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names, to read; of many only the first ones."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
