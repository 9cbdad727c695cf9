"""What EEE and every other setting of the lab changed in a program's run time and the network's energy.

Ratios are of `compare`: block by block, with an interval from three blocks on. So they are here what `eeectl compare`
says of the same run.
"""

from dataclasses import dataclass
from typing import Final

from eee_testbed.analysis.compare import Comparison
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.energies import meters_of
from eee_testbed.analysis.report.plain_words import state_words
from eee_testbed.analysis.report.report_data import ReportData
from eee_testbed.analysis.report.series import Series, StatePoint, compared, joules_compared, series_of

_NAN: Final = float("nan")


@dataclass(frozen=True, slots=True)
class Change:
    """A configuration in a state of the lab, against the state that saves nothing (or least), or differs in EEE alone.

    `slower_percent` has NaN as ends where fewer than three blocks say nothing of chance, and so has `saved_percent`;
    that is of the joules of the network's metered devices, None if a meter did not resolve a trial.
    """

    series: Series
    base: StatePoint
    point: StatePoint
    time: Comparison
    slower_percent: Interval
    saved_percent: Interval | None

    @property
    def name(self) -> str:
        """Program and placement."""
        return self.series.configuration.placement

    @property
    def factors(self) -> tuple[str, ...]:
        """Factors whose level differs from that of the base."""
        return tuple(name for name, level in self.point.state if (name, level) not in self.base.state)

    @property
    def of_eee(self) -> bool:
        """Whether EEE alone was switched on, whatever else the state saves."""
        return _eee_alone(self.series, self.base, self.point)

    @property
    def beside(self) -> str:
        """The rest of the state, in plain words; "" if it has nothing else."""
        rest = tuple(level for level in self.point.state if level[0] not in self.factors)
        return state_words(self.series.run.factors, rest) if rest else ""

    @property
    def meter_count(self) -> int:
        """Metered devices of the network."""
        run = self.series.run
        return sum(meter.feeds not in run.hosts for meter in meters_of(run))


def changes_of(data: ReportData) -> tuple[Change, ...]:
    """Every configuration in every state but its first, and with EEE on and off in each other state, in their order."""
    changes = []
    for program in series_of(data, least=True):
        for point in program.points:
            bases = [base for base in program.points if _eee_alone(program, base, point)]
            bases += [program.points[0]] if point is not program.points[0] and program.points[0] not in bases else []
            changes += [change for base in bases if (change := _change(program, base, point)) is not None]
    return tuple(changes)


def _change(program: Series, base: StatePoint, point: StatePoint) -> Change | None:
    time = compared(base, point)
    if time is None:
        return None
    return Change(program, base, point, time, percent_of(time), saved_percent_of(base, point))


def _eee_alone(program: Series, base: StatePoint, point: StatePoint) -> bool:
    differ = [(name, level) for name, level in point.state if (name, level) not in base.state]
    return bool(differ) and all(
        program.run.factors.kind(name) == "eee" and level in ("on", True) for name, level in differ
    )


def percent_of(time: Comparison) -> Interval:
    """By how much the second run time is longer, percent; NaN as ends where too few blocks say nothing of chance."""
    ratio = time.ratio
    low, high = (ratio.low, ratio.high) if time.has_interval else (_NAN, _NAN)
    return Interval(ratio.value, low, high).above_percent


def saved_percent_of(base: StatePoint, point: StatePoint) -> Interval | None:
    """Share of the network's joules that a state saves against its base, percent; None if a meter did not tell."""
    left = joules_compared(base, point)
    return None if left is None else left.below_percent
