"""How much slower a program runs beside a closed loop than with all links on. Pure."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_TIMES: Final = ("time_steady", "time", "elapsed")


def time_of(figures: Mapping[str, float]) -> float | None:
    """The run time among a program's figures, seconds; None if it reports none."""
    return next((figures[name] for name in _TIMES if name in figures), None)


@dataclass
class RunTimes:
    """Run times of a program, seconds: the first `baseline_runs` are those of the baseline, with all links on."""

    baseline_runs: int
    baseline_s: list[float] = field(default_factory=list)
    looped_s: list[float] = field(default_factory=list)

    def add(self, time_s: float) -> float | None:
        """Take one; the slowdown as a share, of the median of the last ones, if it is one under the loop."""
        if not self.has_baseline:
            self.baseline_s.append(time_s)
            return None
        self.looped_s.append(time_s)
        return self.last_s() / statistics.median(self.baseline_s) - 1

    @property
    def has_baseline(self) -> bool:
        """Whether the baseline is measured."""
        return len(self.baseline_s) >= self.baseline_runs

    def last_s(self) -> float:
        """The median of the last runs under the loop."""
        return statistics.median(self.looped_s[-self.baseline_runs :])
