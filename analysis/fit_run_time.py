"""Run time under EEE from a run's trials of programs, for a calibration: Miwa's model and ours, with held-out errors.

Trials are grouped by program and placement; each configuration in a group has a run time without and one with EEE. How
good a model is, is told by halves: the configurations in their order are dealt out in two, each half is estimated by
what was fitted to the other. The parameters that are kept are fitted to all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.calibration import Calibration, Estimate, MiwaTime, ProgramTime, RunTimeError, WakeTime
from analysis.configurations import Configuration, Factors
from analysis.miwa import MiwaFit, Run, fit_miwa
from analysis.policies import policy_of
from analysis.predict_time import link_of, sleeping_ways
from analysis.probes import TooLittle
from analysis.profile import Profile
from analysis.profile_reading import profiles_of, time_of
from analysis.run_lab import lab_of_run, link_mbps
from analysis.run_time import Errors, WakeFit, WakeRun, errors_of, fit_wakes, wake_run
from analysis.trials import read_trials
from controller.store import read_facts


@dataclass(frozen=True, slots=True)
class Case:
    """A configuration with both of its run times; `wake` is missing where gaps or the links' policy are not known."""

    profile: Profile
    eee_s: float
    miwa: Run
    wake: WakeRun | None


def cases_of(folder: Path, calibration: Calibration) -> Mapping[str, tuple[Case, ...]]:
    """By placement ("alltoall 4x1"), every configuration that ran with and without EEE, all else alike."""
    facts = read_facts(folder)
    factors = Factors.of_run(facts)
    times: dict[Configuration, list[float]] = {}
    for trial in read_trials(folder):
        if trial.what == "program" and trial.valid and factors.with_eee(factors.state_of(trial)):
            times.setdefault(factors.configuration_of(trial), []).append(time_of(trial))
    by_name = {configuration.name: configuration for configuration in times}
    found: dict[str, list[Case]] = {}
    for profile in profiles_of(folder, link_mbps(lab_of_run(facts))):
        configuration = by_name.get(profile.name)
        if configuration is not None and profile.call_count:
            eee_s = float(np.median(times[configuration]))
            found.setdefault(configuration.placement, []).append(_case(profile, eee_s, calibration))
    return {placement: tuple(cases) for placement, cases in found.items()}


def _case(profile: Profile, eee_s: float, calibration: Calibration) -> Case:
    link = link_of(calibration, profile, None)
    wake = None
    if link is not None and link.kind != "off" and profile.gaps:
        wake = wake_run(profile, dict.fromkeys(sleeping_ways(link, profile), policy_of(link)), eee_s)
    miwa = Run(profile.base_s.value, profile.call_count, profile.message_byte, profile.link_mbps * 1e6, eee_s)
    return Case(profile, eee_s, miwa, wake)


def fit_run_time(
    placement: str, cases: Sequence[Case], calibration: Calibration
) -> tuple[ProgramTime, tuple[str, ...]]:
    """Both models of one placement, and sentences about a model that could not be fitted.

    TooLittle if neither could.
    """
    troubles: list[str] = []
    miwa: MiwaTime | None = None
    wakes: WakeTime | None = None
    try:
        miwa = miwa_time(fit_miwa([case.miwa for case in cases]), miwa_errors(cases))
    except TooLittle as error:
        troubles.append(f"{placement}, Miwa's model: {error}")
    with_gaps = [case for case in cases if case.wake is not None]
    if not with_gaps:
        troubles.append(f"{placement}, gaps and wakes: record gaps, and probe the links so that their policy is known.")
    else:
        try:
            wakes = wake_time(fit_wakes([case.wake for case in with_gaps if case.wake]), wake_errors(with_gaps))
        except TooLittle as error:
            troubles.append(f"{placement}, gaps and wakes: {error}")
    if miwa is None and wakes is None:
        raise TooLittle(" ".join(troubles))
    first = cases[0].profile
    link = link_of(calibration, first, None)
    names = [name for name, one in calibration.links.items() if one == link]
    return (
        ProgramTime(
            program=first.program,
            node_count=len(first.hosts),
            rank_count=first.rank_count,
            configuration_count=len(cases),
            link=names[0] if names and wakes is not None else "",
            miwa=miwa,
            wakes=wakes,
        ),
        tuple(troubles),
    )


def halves(count: int) -> tuple[tuple[list[int], list[int]], ...]:
    """(fitted, judged) twice, so that each of so many cases is judged once."""
    even, odd = list(range(0, count, 2)), list(range(1, count, 2))
    return ((even, odd), (odd, even))


def miwa_errors(cases: Sequence[Case]) -> Errors | None:
    """Held-out errors of Miwa's model; None if half of the cases are too few to fit it."""
    estimated: list[float] = []
    measured: list[float] = []
    for fitted, judged in halves(len(cases)):
        try:
            fit = fit_miwa([cases[number].miwa for number in fitted])
        except TooLittle:
            return None
        estimated += [fit.time_s(cases[number].miwa) for number in judged]
        measured += [cases[number].eee_s for number in judged]
    return errors_of(estimated, measured)


def wake_errors(cases: Sequence[Case]) -> Errors | None:
    """Held-out errors of our model; None if half of the cases are too few to fit it."""
    runs = [case.wake for case in cases if case.wake is not None]
    estimated: list[float] = []
    measured: list[float] = []
    for fitted, judged in halves(len(runs)):
        try:
            fit = fit_wakes([runs[number] for number in fitted])
        except TooLittle:
            return None
        estimated += [fit.time_s(runs[number]) for number in judged]
        measured += [runs[number].eee_s for number in judged]
    return errors_of(estimated, measured)


def _error(errors: Errors | None) -> RunTimeError | None:
    if errors is None:
        return None
    return RunTimeError(
        mean_percent=errors.mean_percent,
        worst_percent=errors.worst_percent,
        configuration_count=errors.runs,
        held_out=True,
    )


def miwa_time(fit: MiwaFit, errors: Errors | None) -> MiwaTime:
    """For a calibration."""
    return MiwaTime(
        threshold_us=Estimate.of(fit.threshold_us),
        plateau_us=Estimate.of(fit.plateau_us),
        alpha_per_us=Estimate.of(fit.alpha_per_us),
        origin_us=Estimate.of(fit.origin_us),
        residual_us=fit.residual_us,
        explained_fraction=fit.explained,
        error=_error(errors),
    )


def wake_time(fit: WakeFit, errors: Errors | None) -> WakeTime:
    """For a calibration."""
    return WakeTime(
        serial_count=Estimate.of(fit.serial),
        abreast_count=Estimate.of(fit.abreast),
        hidden_us=Estimate.of(fit.hidden_us),
        residual_us=fit.residual_us,
        explained_fraction=fit.explained,
        error=_error(errors),
    )
