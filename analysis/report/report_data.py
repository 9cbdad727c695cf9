"""The data of a report: runs with their trials, and a calibration, each read once."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.special import stdtrit

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.configurations import Configuration, Factors, State
from eee_testbed.analysis.interval import Interval, of_median
from eee_testbed.analysis.programs.profile import Profile, ProfileError
from eee_testbed.analysis.programs.profile_reading import profiles_of, time_of
from eee_testbed.analysis.run_lab import lab_of_run, link_mbps
from eee_testbed.record.event_text import Event
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import Trial

FEW: Final = 6
"""Trials from which on a median has a bootstrap interval of its own."""

_LEAST: Final = 3
"""Trials from which on anything is said about their spread."""


@dataclass(frozen=True, slots=True)
class RunData:
    """One run's folder."""

    samples: RunSamples
    trials: tuple[Trial, ...]
    profiles: tuple[Profile, ...]
    hosts: frozenset[str]
    """Nodes of its lab; without its inventory, those that took part. Outlets of other devices feed the network."""
    watts_note: str = ""
    """What the lab's inventory says of all its watts."""

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.samples.folder

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def facts(self) -> dict[str, Any]:
        """Its `run.yaml`."""
        return self.samples.facts

    @property
    def events(self) -> tuple[Event, ...]:
        """Its events, in order."""
        return self.samples.events

    @property
    def watts(self) -> pl.DataFrame:
        """Its readings of meters."""
        return self.samples.table("watts")

    @property
    def factors(self) -> Factors:
        """Factors of its experiment."""
        return Factors.of_run(self.facts)

    def programs(self) -> Iterator[Trial]:
        """Valid trials of programs."""
        return (trial for trial in self.trials if trial.valid and trial.what == "program")


@dataclass(frozen=True, slots=True, eq=False)
class ReportData:
    """All runs of a report; `calibration_file` is empty without a calibration. Equal only to itself."""

    runs: tuple[RunData, ...]
    calibration: Calibration | None = None
    calibration_file: str = ""
    sides: tuple[tuple[RunData, ...], ...] = ()
    """The runs of each operand of the command line: two of them are compared."""

    @property
    def watts_note(self) -> str:
        """What has to stand beside every figure of watts."""
        noted = (run.watts_note for run in self.runs)
        fitted = "" if self.calibration is None else self.calibration.power.note
        return " ".join(dict.fromkeys(note for note in (*noted, fitted) if note))

    @property
    def several(self) -> bool:
        """Whether the report has to name its runs."""
        return len(self.runs) > 1


def read_report_data(folders: Sequence[Path], calibration: Calibration | None, calibration_file: str) -> ReportData:
    """Read runs; LabError if a folder is not a run's."""
    return ReportData(tuple(_read(folder) for folder in folders), calibration, calibration_file)


def in_sides(data: ReportData, operands: Sequence[Sequence[Path]]) -> ReportData:
    """The same data, by the operands that named its runs; equal folders are of the first."""
    seen: set[Path] = set()
    sides = []
    for folders in operands:
        sides.append(tuple(run for run in data.runs if run.folder in folders and run.folder not in seen))
        seen.update(folders)
    return replace(data, sides=tuple(sides))


def _read(folder: Path) -> RunData:
    samples = RunSamples(folder)
    lab, trials = lab_of_run(samples.facts), samples.trials
    try:
        profiles = profiles_of(samples, link_mbps(lab))
    except ProfileError:
        profiles = ()
    known = () if lab is None else (host.name for host in lab.hosts)
    hosts = frozenset((*known, *(host for trial in trials for host in trial.hosts)))
    return RunData(samples, trials, profiles, hosts, "" if lab is None else lab.watts_note)


def without_ends(interval: Interval) -> Interval:
    """A value of which too little was repeated for an interval."""
    return Interval(interval.value, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Spread:
    """A median of `count` values with its bar.

    From six values on the bar is a 95 % bootstrap interval; for fewer values it is their range.
    """

    interval: Interval
    count: int

    @property
    def shown(self) -> Interval:
        """For a table: of fewer than three values it has no interval, and NaN as ends."""
        return self.interval if self.count >= _LEAST else without_ends(self.interval)

    @property
    def below(self) -> float:
        """Length of the bar downwards."""
        return self.interval.value - self.interval.low

    @property
    def above(self) -> float:
        """Length of the bar upwards."""
        return self.interval.high - self.interval.value


def spread_of(values: Sequence[float]) -> Spread:
    """Median and bar of values; ValueError without values."""
    if not values:
        raise ValueError("a median needs at least one value")
    if len(values) >= FEW:
        return Spread(of_median(values), len(values))
    ordered = sorted(values)
    middle = of_median(values, rounds=1).value
    return Spread(Interval(middle, ordered[0], ordered[-1]), len(values))


def slower_percents(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Sequence[Spread | None]:
    """By how much the second times of each pair are longer than the first, percent, with 95 % intervals.

    Times of a call, or of runs with equally many of them. The intervals are of the scatter of all together (Student's
    t), so that two trials of each are enough. It is taken to be the same time in all of them (ranks wait a little for
    a processor), or the same share of the time, whichever makes the times likelier. None if nothing was repeated.

    >>> one, other = slower_percents([([1.0, 1.02], [1.1, 1.11]), ([1.0], [1.1])])
    >>> round(one.interval.value, 1), one.count, one.interval.half_width < other.interval.half_width
    (9.4, 2, True)
    """
    sides = [np.array(side) for pair in pairs for side in pair]
    free = sum(side.size - 1 for side in sides)
    if not free:
        return [None] * len(pairs)
    every = np.concatenate(sides)
    shares = [(side - side.mean()) / side.mean() for side in sides]
    by_time = sum(float(((side - side.mean()) ** 2).sum()) for side in sides)
    by_share = sum(float((share**2).sum()) for share in shares)
    alike = 0.5 * every.size * (math.log(by_share or 1e-300) - math.log(by_time or 1e-300)) + float(np.log(every).sum())
    same_time = alike > 0
    scatter = float(stdtrit(free, 0.975)) * math.sqrt((by_time if same_time else by_share) / free)
    spreads = []
    for before, after in pairs:
        base, now = float(np.median(before)), float(np.median(after))
        errors = [scatter / middle if same_time else scatter for middle in (base, now)]
        half = math.hypot(errors[0] / math.sqrt(len(before)), errors[1] / math.sqrt(len(after)))
        middle = math.log(now / base)
        ends = (100 * math.expm1(end) for end in (middle, middle - half, middle + half))
        spreads.append(Spread(Interval(*ends), min(len(before), len(after))))
    return spreads


def bars_text(counts: Sequence[int]) -> str:
    """The sentence of a caption that explains the bars."""
    if not counts:
        return ""
    least, most = min(counts), max(counts)
    n = f"n = {least}" if least == most else f"n = {least} to {most}"
    if most == 1:
        return f"Single trials ({n}): nothing is known about their spread."
    if least >= FEW:
        return f"Medians with 95 % bootstrap intervals, {n} trials each."
    if most < FEW:
        return f"Medians; bars go from the least to the most of {n} trials, too few for a 95 % interval."
    return f"Medians, {n} trials each; bars are 95 % bootstrap intervals from 6 trials on, else least to most."


@dataclass(frozen=True, slots=True)
class Pair:
    """A program's configuration with EEE off and on, and its profile."""

    configuration: Configuration
    profile: Profile
    off_s: tuple[float, ...]
    on_s: tuple[float, ...]
    blocks: int = 1
    """Blocks with trials of both."""

    @property
    def overhead_us(self) -> Spread:
        """What EEE added to a call (Miwa's Eq. 1 and 2 solved for f): each time under EEE less the median without."""
        base_s = spread_of(self.off_s).interval
        change_s = [time_s - base_s.value for time_s in self.on_s]
        spread = spread_of([change / self.profile.call_count * 1e6 for change in change_s])
        # The base has an error too; both are independent, so their bars add in squares.
        share = 1e6 / self.profile.call_count
        below = (spread.below**2 + ((base_s.high - base_s.value) * share) ** 2) ** 0.5
        above = (spread.above**2 + ((base_s.value - base_s.low) * share) ** 2) ** 0.5
        middle = spread.interval.value
        return Spread(Interval(middle, middle - below, middle + above), min(len(self.off_s), len(self.on_s)))


def pairs_of(run: RunData) -> tuple[Pair, ...]:
    """Configurations that were measured with EEE off and on, all else the same, and whose calls were counted."""
    profiles = {profile.name: profile for profile in run.profiles}
    trials: dict[Configuration, tuple[list[Trial], list[Trial]]] = {}
    for trial in run.programs():
        eee = run.factors.with_eee(run.factors.state_of(trial))
        if eee is not None:
            trials.setdefault(run.factors.configuration_of(trial), ([], []))[eee].append(trial)
    pairs = []
    for config, sides in trials.items():
        profile = profiles.get(config.name)
        off, on = (tuple(time_of(trial) for trial in side) for side in sides)
        shared = {trial.block for trial in sides[0]} & {trial.block for trial in sides[1]}
        if off and on and profile is not None and profile.call_count:
            pairs.append(Pair(config, profile, off, on, len(shared)))
    return tuple(sorted(pairs, key=lambda pair: pair.profile.idle_us))


_ORDER: Final = ("off", "half", "on")
"""What levels that are words are of: less before more."""

_Key = tuple[int, float, str]


def _natural(value: object) -> _Key:
    """Sort key: numbers by their size, levels from less to more, then other text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0, float(value), ""
    if value in _ORDER:
        return 1, float(_ORDER.index(str(value))), ""
    return 2, 0.0, str(value)


def natural(configuration: Configuration) -> tuple[str, tuple[tuple[str, _Key], ...]]:
    """Sort key of a configuration: program and placement, then its parameters."""
    return configuration.placement, tuple((key, _natural(value)) for key, value in configuration.parameters)


def natural_state(state: State) -> tuple[_Key, ...]:
    """Sort key of a state of the lab, by its levels; what is on comes first, as links that are on save nothing."""
    keys = (_natural(level) for _, level in state)
    return tuple((kind, -size, text) if kind == 1 else (kind, size, text) for kind, size, text in keys)


def file_name(text: str) -> str:
    """A name for a file and for an element of the page."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())


def short_names(configurations: Sequence[Configuration]) -> dict[Configuration, str]:
    """Distinct names: the placement if it differs, and the parameters that differ."""
    placements = {configuration.placement for configuration in configurations}
    values: dict[str, set[object]] = {}
    for configuration in configurations:
        for key, value in configuration.parameters:
            values.setdefault(key, set()).add(value)
    varied = {key for key, levels in values.items() if len(levels) > 1}
    names = {}
    for configuration in configurations:
        parameters = [f"{key}={value}" for key, value in configuration.parameters if key in varied]
        names[configuration] = " ".join(
            [configuration.placement, *parameters] if len(placements) > 1 or not parameters else parameters
        )
    return names
