"""What a regulation compares, as its table shows it, and as its run's `run.yaml` keeps it.

A run that was stopped and resumed, in another process and perhaps much later, ends with the same table as one that ran
through: all that the table needs beside the run's trials is here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from pydantic import TypeAdapter, ValidationError

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.regulating.choosing import Options, Traffic
from eee_testbed.measuring.regulating.pre_run import PreRun
from eee_testbed.record.store import RunFolder
from eee_testbed.regulation.levels import Level

FACT: Final = "regulation"
"""The fact of a run that keeps what it compares."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A choice under a peak: how it was made, the level of each trunk, and the watts of all trunks.

    `gap`: how much less another choice might draw at most, as a share of `watt`.
    """

    name: str
    peak: str
    how: str
    levels: Mapping[int, Level]
    watt: float
    gap: float

    @property
    def off(self) -> frozenset[int]:
        """The trunks that are off."""
        return frozenset(number for number, level in self.levels.items() if level.is_off)


@dataclass(frozen=True, slots=True)
class Counted:
    """The traffic from which was chosen: how it was counted, in a pre-run of `time_s`, and with all links on."""

    note: str
    time_s: float
    total_byte: int
    busiest_byte: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """`baseline` and, with the knob `off`, `shut` are levels by trunk. `same` are names of equal choices.

    `trees_apart`: by peak, how many streams have other trees in the two methods' choices. `looped`: whether a closed
    loop is measured, too. `figure`: the program's figure that is compared, "" for its run time. `calibration`: the
    file with fitted power, "" without.
    """

    traffic: Counted
    candidates: tuple[Candidate, ...]
    baseline: Mapping[int, Level]
    shut: Mapping[int, Level]
    same: Mapping[str, str]
    trees_apart: Mapping[str, int]
    looped: bool = False
    figure: str = ""
    calibration: str = ""

    @classmethod
    def of(
        cls,
        counted: PreRun,
        sent: Traffic,
        chosen: Options,
        *,
        looped: bool = False,
        figure: str = "",
        calibration: Path | None = None,
    ) -> Self:
        """From a pre-run and what was chosen after it."""
        traffic = Counted(counted.note, counted.time_s, sum(counted.byte_by_pair.values()), sent.busiest_byte)
        choices = [(option, option.choice) for option in chosen.options]
        candidates = tuple(
            Candidate(option.name, option.peak, choice.how, dict(choice.levels), choice.watt, choice.gap)
            for option, choice in choices
        )
        every = chosen.options[0].levels
        shut = {number: level for number, levels in every.items() for level in levels if level.is_off}
        file = "" if calibration is None else str(calibration.resolve())
        return cls(traffic, candidates, chosen.baseline, shut, chosen.same, chosen.trees_apart, looped, figure, file)

    def plain(self) -> dict[str, Any]:
        """For `run.yaml`."""
        plain: dict[str, Any] = _FORM.dump_python(self, mode="json")
        return plain


_FORM: Final = TypeAdapter(Comparison)


def compares(run: RunFolder) -> bool:
    """Whether a run is that of a regulation, which keeps what it compares."""
    return FACT in run.facts


def comparison_in(run: RunFolder) -> Comparison:
    """What the run of a regulation compares; LabError if it is another run, or its `run.yaml` was edited."""
    if not compares(run):
        raise LabError(f"{run.path} is not a run of `eeectl regulate run` or `compare`: name the folder of one.")
    try:
        return _FORM.validate_python(run.facts[FACT])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise LabError(f"{run.path}/run.yaml, {FACT}.{place}: {first['msg']}. Start a new run.") from error
