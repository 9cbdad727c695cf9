"""What regulated links cost and save: run time and network power relative to the baseline, from a run. By block."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.compare_runs import Side, compare_sides
from eee_testbed.analysis.interval import Interval
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.regulating.choosing import BASELINE
from eee_testbed.measuring.regulating.comparison import Candidate, Comparison
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import read_events
from eee_testbed.record.trials import read_trials, valid_trials
from eee_testbed.regulation.levels import Level

if TYPE_CHECKING:
    from eee_testbed.analysis.predict.regulated_watts import NetworkWatts

FACTOR: Final = "regulation"
LOOPED: Final = "auto"
"""The closed loop's level in a comparison."""

CLOSED_LOOP: Final = "closed loop"
"""How a closed loop's row was chosen (`Candidate.how`)."""

_FIGURE_ORDER: Final = ("time_steady", "time", "throughput", "elapsed")
"""The first of these that a program has is compared; every trial has the last."""


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate relative to the baseline, each with its 95 % interval; None: not measured, or not known.

    `performance` is the figure of the baseline by that of the candidate if less is better, else the reverse. `metered`
    and `modelled` are the network's power by the baseline's. `apart`: meters and model contradict each other.
    `links_off`: how many trunks were off, for a closed loop the mean over the time of its trials.
    """

    candidate: Candidate
    as_level: str
    figure: str
    performance: Interval | None
    metered: Interval | None
    modelled: Interval | None
    weak: bool
    links_off: float

    @property
    def slowdown(self) -> Interval | None:
        """How much longer the program takes than at the baseline, as a share of it."""
        if self.performance is None:
            return None
        ratio = _inverse(self.performance)
        return Interval(ratio.value - 1, ratio.low - 1, ratio.high - 1)

    @property
    def saving_metered(self) -> Interval | None:
        """The share of the baseline's network power that is saved, by the meters."""
        return None if self.metered is None else _saving(self.metered)

    @property
    def saving_modelled(self) -> Interval | None:
        """The same by the calibrated model."""
        return None if self.modelled is None else _saving(self.modelled)

    @property
    def apart(self) -> bool:
        """Whether the intervals by meter and by model do not overlap."""
        if self.metered is None or self.modelled is None:
            return False
        return self.metered.low > self.modelled.high or self.modelled.low > self.metered.high


def metered_switches(lab: Lab) -> tuple[str, ...]:
    """The switches that metered outlets feed."""
    fed = {outlet.feeds for outlet in lab.outlets}
    return tuple(switch.name for switch in lab.switches if switch.name in fed)


def network_watts(lab: Lab, calibration: Calibration) -> "NetworkWatts":
    """The model of what the meters show: of the switches that have one, or of all if none has."""
    return modelled_watts(lab, calibration, metered_switches(lab))


def modelled_watts(lab: Lab, calibration: Calibration, switches: tuple[str, ...] = ()) -> "NetworkWatts":
    """The model of the network's power: of some switches, or of all if none is named."""
    from eee_testbed.analysis.predict.regulated_watts import NetworkWatts  # noqa: PLC0415 - predictions take a third of a second

    return NetworkWatts(lab, calibration, switches)


def rows_of(
    run: RunSamples | None, lab: Lab, compared: Comparison, watts: "NetworkWatts | None", figure: str = ""
) -> tuple[Row, ...]:
    """A row for each candidate; without a run, what the model says alone."""
    rows = []
    for candidate in compared.candidates:
        level = compared.same.get(candidate.name, candidate.name)
        modelled = None if watts is None else watts.ratio(candidate.levels, compared.baseline)
        performance = metered = None
        name, weak = figure, False
        if run is not None and level != BASELINE:
            name, performance, metered, weak = _measured(run, lab, level, figure)
        rows.append(Row(candidate, level, name, performance, metered, modelled, weak, len(candidate.off)))
    if compared.looped and run is not None:
        rows.append(_looped_row(run, lab, compared, watts, figure))
    return tuple(rows)


def _looped_row(run: RunSamples, lab: Lab, compared: Comparison, watts: "NetworkWatts | None", figure: str) -> Row:
    """The row of a closed loop that regulated during its level's trials. Its candidate has the longest phase's levels.

    LabError if the run has no valid trial of it.
    """
    phases = loop_phases(run.folder, LOOPED)
    if not phases:
        raise LabError(
            f"{run.folder} has no valid trial of the closed loop: see `eeectl report {run.folder}` for the reasons."
        )
    by_name = {link.name: link.number for link in lab.trunks()}
    known = [(share, _levels_without(compared, [by_name[name] for name in names])) for names, share in phases.items()]
    _, longest = max(known, key=lambda phase: phase[0])
    watt = sum(share * sum(level.watt for level in levels.values()) for share, levels in known)
    candidate = Candidate(LOOPED, "", CLOSED_LOOP, longest, watt, 0.0)
    modelled = None if watts is None else watts.mean_ratio(known, compared.baseline)
    name, performance, metered, weak = _measured(run, lab, LOOPED, figure)
    links_off = sum(share * len(names) for names, share in phases.items())
    return Row(candidate, LOOPED, name, performance, metered, modelled, weak, links_off)


def loop_phases(folder: Path, level: str) -> dict[frozenset[str], float]:
    """Names of trunks that a closed loop had off in the valid trials of a level, with the share of their time."""
    epochs = [(event["time_ns"], event) for event in read_events(folder) if event["kind"] == EventKind.LOOP_EPOCH]
    spans: dict[frozenset[str], int] = {}
    for trial in valid_trials(read_trials(folder), **{FACTOR: level}):
        before = [off for time_ns, off in epochs if time_ns <= trial.begun_ns]
        inside = [(time_ns, event) for time_ns, event in epochs if trial.begun_ns < time_ns < trial.ended_ns]
        phases = [(trial.begun_ns, before[-1]), *inside] if before else inside
        ends = [time_ns for time_ns, _ in phases[1:]] + [trial.ended_ns]
        for (from_ns, event), to_ns in zip(phases, ends, strict=True):
            off = frozenset(event["links"].get("off", ()))
            spans[off] = spans.get(off, 0) + to_ns - from_ns
    total = sum(spans.values())
    return {off: span / total for off, span in spans.items()} if total else {}


def _levels_without(compared: Comparison, off: Collection[int]) -> dict[int, Level]:
    """The baseline's levels, but some trunks off."""
    return {**compared.baseline, **{number: compared.shut[number] for number in off}}


def _saving(ratio: Interval) -> Interval:
    return Interval(1 - ratio.value, 1 - ratio.high, 1 - ratio.low)


def _inverse(ratio: Interval) -> Interval:
    return Interval(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)


def _measured(run: RunSamples, lab: Lab, level: str, figure: str) -> tuple[str, Interval | None, Interval | None, bool]:
    sides = (Side(run, {FACTOR: BASELINE}), Side(run, {FACTOR: level}))
    devices = metered_switches(lab)
    try:
        sides_by_figure = {one.figure: one for _, one in compare_sides(*sides, (), devices, every=True)}
    except LabError:
        if not devices:
            raise
        sides_by_figure = {one.figure: one for _, one in compare_sides(*sides, every=True)}
    names = (figure,) if figure else _FIGURE_ORDER
    chosen = next((sides_by_figure[name] for name in names if name in sides_by_figure), None)
    if chosen is None:
        raise LabError(
            f"{run.folder} has no figure {' or '.join(names)}: name one of {', '.join(sides_by_figure)} with --figure."
        )
    ratio = chosen.ratio
    if chosen.unit in ("s", "us"):
        ratio = _inverse(ratio)
    power = sides_by_figure.get("power")
    metered = power.ratio if devices and power is not None else None
    return chosen.figure, ratio, metered, chosen.weak
