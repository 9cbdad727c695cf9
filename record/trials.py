"""Trials of an experiment, read from the events of its run. All analysis of experiments reads them here.

The schema of the events is in `record/trial_events.py`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import Event
from eee_testbed.record.store import read_events
from eee_testbed.record.trial_events import Level, TrialState, What, trial_folder


@dataclass(frozen=True, slots=True)
class TrialFigure:
    """A figure of a trial, in its unit."""

    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt at one slot of an experiment; times in ns of the run's clock.

    A trial that was cut short (its process was killed) is `failed` and ends when it began.
    """

    number: int
    slot: int
    block: int
    repetition: int
    levels: Mapping[str, Level]
    what: What
    program: str
    parameters: Mapping[str, Any]
    hosts: tuple[str, ...]
    ranks_per_host: int
    state: TrialState
    why: str
    answer_right: bool | None
    begun_ns: int
    ended_ns: int
    figures: Mapping[str, TrialFigure]
    folder: Path
    loop_ns: tuple[int, int] | None = None
    """When the loop that a program measured began and ended, in UTC by its first node's clock, if it reports that."""

    @property
    def valid(self) -> bool:
        """Whether its figures count."""
        return self.state == "valid"

    @property
    def window_s(self) -> float:
        """Length of the measured window."""
        return (self.ended_ns - self.begun_ns) / 1e9

    @property
    def rank_count(self) -> int:
        """Ranks of its program; 0 without a program."""
        return len(self.hosts) * self.ranks_per_host

    def figure(self, name: str) -> TrialFigure:
        """One of its figures; KeyError names those that it has."""
        try:
            return self.figures[name]
        except KeyError:
            names = ", ".join(self.figures) or "none"
            raise KeyError(f"trial {self.number} has no figure '{name}', it has: {names}") from None

    def path(self, name: str) -> Path:
        """A raw file of its folder, such as `echoes.jsonl`; FileNotFoundError if it was not recorded."""
        path = self.folder / name
        if not path.exists():
            raise FileNotFoundError(f"trial {self.number} has no {name}: it was not recorded ({path})")
        return path


def read_trials(folder: Path) -> tuple[Trial, ...]:
    """Every trial of a run, in the order in which they began; also while the run goes on."""
    return trials_of(folder, read_events(folder))


def trials_of(folder: Path, events: Iterable[Event]) -> tuple[Trial, ...]:
    """The same from the events of the run in `folder`."""
    begun: dict[int, Mapping[str, Any]] = {}
    ended: dict[int, Mapping[str, Any]] = {}
    for event in events:
        if event["kind"] == EventKind.TRIAL_BEGUN:
            begun[event["trial"]] = event
        elif event["kind"] == EventKind.TRIAL_ENDED:
            ended[event["trial"]] = event
    return tuple(_trial(folder, event, ended.get(number)) for number, event in begun.items())


def _trial(folder: Path, begun: Mapping[str, Any], end: Mapping[str, Any] | None) -> Trial:
    cut = {"state": "failed", "why": "it was cut short", "begun_ns": begun["time_ns"], "ended_ns": begun["time_ns"]}
    end = cut if end is None else end
    return Trial(
        number=begun["trial"],
        slot=begun.get("slot", begun["trial"]),
        block=begun["block"],
        repetition=begun["repetition"],
        levels=begun["levels"],
        what=begun["what"],
        program=begun.get("program", ""),
        parameters=begun.get("parameters", {}),
        hosts=tuple(begun.get("hosts", ())),
        ranks_per_host=begun.get("ranks_per_host", 0),
        state=end["state"],
        why=end["why"],
        answer_right=end.get("answer_right"),
        begun_ns=end["begun_ns"],
        ended_ns=end["ended_ns"],
        figures={one["name"]: TrialFigure(one["value"], one["unit"]) for one in end.get("figures", ())},
        folder=trial_folder(folder, begun["trial"]),
        loop_ns=tuple(end["loop_ns"]) if end.get("loop_ns") else None,
    )


def valid_trials(trials: Iterable[Trial], **levels: Level | Sequence[Level]) -> tuple[Trial, ...]:
    """Valid trials that have the levels: `valid_trials(trials, eee="on", sleep_us=(0, 100))`."""
    allowed_levels = {
        factor: (level,) if isinstance(level, str | int | float) else tuple(level) for factor, level in levels.items()
    }
    return tuple(
        trial
        for trial in trials
        if trial.valid and all(trial.levels.get(factor) in allowed for factor, allowed in allowed_levels.items())
    )


def levels_of(trials: Iterable[Trial], factor: str) -> tuple[Level, ...]:
    """The levels that a factor has in trials, numbers before text; trials without the factor are ignored."""
    levels = {trial.levels[factor] for trial in trials if factor in trial.levels}
    return tuple(sorted(levels, key=lambda level: (isinstance(level, str), level)))
