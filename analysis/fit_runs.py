"""A calibration from runs: links' policies, power and run time, of whichever the runs measured."""

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from eee_testbed.analysis.calibration import Calibration, CalibrationError
from eee_testbed.analysis.fitted_part import Part
from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.links.fit_links import fit_links
from eee_testbed.analysis.links.separate import alone, slow_streams
from eee_testbed.analysis.power.fit_power import fit_power
from eee_testbed.analysis.programs.fit_run_time import Case, cases_of, fit_run_time
from eee_testbed.analysis.programs.profile import ProfileError
from eee_testbed.analysis.progress import NOBODY, Progress
from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.record.samples import RunSamples

PARTS: Final[tuple[Part, ...]] = get_args(Part)


@dataclass(frozen=True, slots=True)
class FitResult:
    """What was fitted, together with what was known before; `failures` are sentences about what was not fitted."""

    calibration: Calibration
    failures: tuple[str, ...]


@dataclass
class _Fitting:
    """Results and failures so far; `named`: the parts were named, so a part that no run measured is a failure."""

    calibration: Calibration
    named: bool
    progress: Progress = NOBODY
    failures: list[str] = field(default_factory=list)

    def add(self, **parts: Any) -> None:
        """Merge fitted parts into the calibration."""
        fitted = Calibration.begin(self.calibration.lab, self.calibration.lab_digest, (), **parts)
        self.calibration = self.calibration.merged(fitted)

    def drop_links(self, names: Collection[str]) -> None:
        """Forget the policies of some paths."""
        links = {name: link for name, link in self.calibration.links.items() if name not in names}
        self.calibration = self.calibration.model_copy(update={"links": links})

    def runs_with(self, runs: Sequence[RunSamples], kinds: tuple[str, ...], part: Part) -> Iterator[RunSamples]:
        """Runs that have trials of some kinds."""
        any_found = False
        for run in runs:
            if any(trial.what in kinds for trial in run.trials):
                any_found = True
                yield run
        if not any_found and self.named:
            self.failures.append(
                f"none of the runs has trials of the kind {' or '.join(kinds)}, which {part} is fitted to."
            )


def fit_runs(
    runs: Sequence[RunSamples],
    known: Calibration | None = None,
    parts: Sequence[Part] = (),
    *,
    accuracy_share: float = 0.0,
    progress: Progress = NOBODY,
) -> FitResult:
    """Fit `parts` (all, if none is named) to at least one run; results replace those in `known`.

    `accuracy_share` as in `fit_power`. `progress` hears of each fit. NotEnoughData if there is no result at all,
    CalibrationError if the runs and `known` are of several labs.
    """
    fitting = _Fitting(_begin(runs, known), named=bool(parts), progress=progress)
    chosen = parts or PARTS
    probed = list(fitting.runs_with(runs, ("probe",), "links")) if "links" in chosen else []
    progress.begin("reading", len(probed) + len(chosen) + 1)
    if "links" in chosen:
        _fit_links(fitting, runs, probed)
    if "power" in chosen:
        progress.step("power")
        _fit_power(fitting, runs, accuracy_share)
    if "run-time" in chosen:
        progress.step("run time")
        _fit_run_time(fitting, runs)
    progress.step("")
    calibration = fitting.calibration
    if not (calibration.links or calibration.power.switches or calibration.power.nodes or calibration.run_time):
        raise NotEnoughData(" ".join(fitting.failures) or "these runs measured nothing that can be fitted.")
    return FitResult(calibration, tuple(fitting.failures))


def _begin(runs: Sequence[RunSamples], known: Calibration | None) -> Calibration:
    """The calibration to add to, with the names of the runs."""
    begun = known
    for run in runs:
        facts = run.facts
        lab, digest = str(facts.get("lab", "")), str(facts.get("lab_digest", ""))
        fresh = Calibration.begin(lab, digest, [run.folder.name])
        try:
            begun = fresh if begun is None else begun.merged(fresh)
        except CalibrationError as error:
            raise CalibrationError(f"{run.folder.name}: {error}") from error
    if begun is None:
        raise ValueError("a fit needs at least one run")
    return begun


def _fit_links(fitting: _Fitting, runs: Sequence[RunSamples], probed: Sequence[RunSamples]) -> None:
    for run in probed:
        fitting.progress.step(f"links of {run.folder.name}")
        try:
            links, refused = fit_links(run, _without(runs, run))
        except NotEnoughData as error:
            fitting.failures.append(f"{run.folder.name}: {error}")
            continue
        fitting.failures += [f"{run.folder.name}: {sentence}" for sentence in refused]
        fitting.add(links=links)
    slow = slow_streams(fitting.calibration.links)
    fitting.failures += [f"{name}: {sentence}" for name, sentence in slow.items()]
    fitting.drop_links(slow)
    fitting.progress.step("links together")
    known = alone(fitting.calibration.links, _hosts_of(runs))
    for run in probed if known else ():
        with contextlib.suppress(NotEnoughData):  # reported above
            fitting.add(links=fit_links(run, _without(runs, run), known)[0])
    fitting.drop_links(slow)


def _without(runs: Sequence[RunSamples], run: RunSamples) -> list[RunSamples]:
    return [other for other in runs if other is not run]


def _hosts_of(runs: Sequence[RunSamples]) -> frozenset[str]:
    labs = (lab_of_run(run.facts) for run in runs)
    return frozenset(host.name for lab in labs if lab is not None for host in lab.hosts)


def _fit_power(fitting: _Fitting, runs: Sequence[RunSamples], accuracy_share: float) -> None:
    metered = list(fitting.runs_with(runs, ("power", "idle"), "power"))
    if not metered:
        return
    try:
        power, failures = fit_power(metered, accuracy_share)
    except NotEnoughData as error:
        fitting.failures.append(str(error))
    else:
        fitting.failures += failures
        fitting.add(power=power)


def _fit_run_time(fitting: _Fitting, runs: Sequence[RunSamples]) -> None:
    groups: dict[str, list[Case]] = {}
    for run in fitting.runs_with(runs, ("program",), "run-time"):
        try:
            for placement, cases in cases_of(run, fitting.calibration).items():
                groups.setdefault(placement, []).extend(cases)
        except (ProfileError, NotEnoughData) as error:
            fitting.failures.append(f"{run.folder.name}: {error}")
    for placement, group in groups.items():
        try:
            models, failures = fit_run_time(placement, group, fitting.calibration)
        except NotEnoughData as error:
            fitting.failures.append(str(error))
            continue
        fitting.failures += failures
        fitting.add(run_time={placement: models})
