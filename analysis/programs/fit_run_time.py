"""Run time under EEE from a run's trials of programs, for a calibration: Miwa's model and ours, with held-out errors.

Trials are grouped by program and placement; each configuration in a group has a run time without and one with EEE. A
model's errors are found by five-fold cross-validation: the configurations of each part are estimated with parameters
fitted to the other four. The parameters in the calibration are fitted to all configurations.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeVar

import numpy as np

from eee_testbed.analysis.calibration import (
    Calibration,
    Estimate,
    MiwaTime,
    ProgramTime,
    RoundTime,
    RunTimeError,
    WakeTime,
)
from eee_testbed.analysis.configurations import Configuration, Factors
from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.programs.miwa import MiwaFit, Run, fit_miwa
from eee_testbed.analysis.programs.profile import Direction, Profile
from eee_testbed.analysis.programs.profile_reading import profiles_of, time_of
from eee_testbed.analysis.programs.round_replay import RoundFit, RoundRun, fit_rounds, round_run
from eee_testbed.analysis.programs.run_time import WakeFit, WakeRun, errors_of, fit_wakes, wake_run
from eee_testbed.analysis.programs.sleeping_links import link_of, sleeping_policies
from eee_testbed.analysis.programs.usefulness import Timed, refuse_useless
from eee_testbed.analysis.run_lab import lab_of_run, link_mbps
from eee_testbed.record.samples import RunSamples

_PARTS: Final = 5
_Time = TypeVar("_Time")


@dataclass(frozen=True, slots=True)
class Case:
    """A configuration with both of its run times; `wake` and `round` are missing without gaps or the links' policy.

    `hold_us`: the shortest of the links, None without a policy.
    """

    profile: Profile
    eee_s: float
    miwa: Run
    wake: WakeRun | None
    round: RoundRun | None
    hold_us: float | None = None


def cases_of(run: RunSamples, calibration: Calibration) -> Mapping[str, tuple[Case, ...]]:
    """By placement ("alltoall 4x1"), every configuration that ran with and without EEE, all else equal."""
    factors = Factors.of_run(run.facts)
    times: dict[Configuration, list[float]] = {}
    for trial in run.trials:
        if trial.what == "program" and trial.valid and factors.with_eee(factors.state_of(trial)):
            times.setdefault(factors.configuration_of(trial), []).append(time_of(trial))
    by_name = {configuration.name: configuration for configuration in times}
    cases_by_program: dict[str, list[Case]] = {}
    for profile in profiles_of(run, link_mbps(lab_of_run(run.facts))):
        configuration = by_name.get(profile.name)
        if configuration is not None and profile.call_count:
            eee_s = float(np.median(times[configuration]))
            cases_by_program.setdefault(configuration.placement, []).append(_case(profile, eee_s, calibration))
    return {placement: tuple(cases) for placement, cases in cases_by_program.items()}


def _case(profile: Profile, eee_s: float, calibration: Calibration) -> Case:
    link = link_of(calibration, profile, None)
    if link is None or link.kind == "off":
        return case_of(profile, eee_s, {})
    return case_of(profile, eee_s, sleeping_policies(link, profile))


def case_of(profile: Profile, eee_s: float, policies: Mapping[Direction, Policy]) -> Case:
    """A configuration for all models; without policies it is not known which links sleep."""
    wake = wake_run(profile, policies, eee_s) if policies and profile.gaps else None
    rounds = round_run(profile, policies, eee_s) if policies and len(profile.gaps) > 1 else None
    miwa = Run(profile.base_s.value, profile.call_count, profile.message_byte, profile.link_mbps * 1e6, eee_s)
    hold_us = min((float(policy.hold_us) for policy in policies.values()), default=None)
    return Case(profile, eee_s, miwa, wake, rounds, hold_us)


def fit_run_time(
    placement: str, cases: Sequence[Case], calibration: Calibration
) -> tuple[ProgramTime, tuple[str, ...]]:
    """All models of one placement, and sentences about those that could not be fitted.

    NotEnoughData if no model could be fitted.
    """
    failures: list[str] = []

    def attempt(name: str, make: Callable[[], _Time]) -> _Time | None:
        try:
            return make()
        except NotEnoughData as error:
            failures.append(f"{placement}, {name}: {error}")
            return None

    miwa = attempt("Miwa's model", lambda: _miwa(cases))
    wakes: WakeTime | None = None
    rounds: RoundTime | None = None
    if any(case.wake is not None for case in cases):
        wakes = attempt("gaps and wakes", lambda: _gaps_and_wakes(cases))
        rounds = attempt("replayed rounds", lambda: _replayed(cases))
    else:
        failures.append(f"{placement}, models of gaps: record gaps, and probe the links to fit their policy.")
    if miwa is None and wakes is None and rounds is None:
        raise NotEnoughData(" ".join(failures))
    first = cases[0].profile
    link = link_of(calibration, first, None)
    names = [name for name, policy in calibration.links.items() if policy == link]
    models = ProgramTime(
        program=first.program,
        node_count=len(first.hosts),
        rank_count=first.rank_count,
        configuration_count=len(cases),
        link=names[0] if names and (wakes is not None or rounds is not None) else "",
        miwa=miwa,
        wakes=wakes,
        rounds=rounds,
    )
    return models, tuple(failures)


def _miwa(cases: Sequence[Case]) -> MiwaTime:
    runs, error = [case.miwa for case in cases], miwa_errors(cases)
    fit = fit_miwa(runs, cases[0].hold_us)
    bounded = {"c": fit.plateau_us, "t": fit.threshold_us}  # a step has neither an alpha nor a t0
    refuse_useless(runs, [fit.time_s(run) for run in runs], fit.explained, bounded, error, parameters=4)
    return miwa_time(fit, error)


def _gaps_and_wakes(cases: Sequence[Case]) -> WakeTime:
    runs, error = _wakes(cases), wake_errors(cases)
    fit = fit_wakes(runs)
    parameters = {"serial": fit.serial, "abreast": fit.abreast, "hidden": fit.hidden_us}
    refuse_useless(runs, [fit.time_s(run) for run in runs], fit.explained, parameters, error)
    return wake_time(fit, error)


def _replayed(cases: Sequence[Case]) -> RoundTime:
    runs, error = _rounds(cases), round_errors(cases)
    fit = fit_rounds(runs)
    refuse_useless(runs, [fit.time_s(run) for run in runs], fit.explained, {"serial": fit.serial}, error)
    return round_time(fit, error)


def _wakes(cases: Iterable[Case]) -> list[WakeRun]:
    return [case.wake for case in cases if case.wake is not None]


def _rounds(cases: Iterable[Case]) -> list[RoundRun]:
    return [case.round for case in cases if case.round is not None]


def miwa_errors(cases: Sequence[Case]) -> RunTimeError | None:
    """Held-out errors of Miwa's model; None if there are too few configurations."""
    if not cases:
        return None
    return _held_out([case.miwa for case in cases], partial(fit_miwa, hold_us=cases[0].hold_us))


def wake_errors(cases: Sequence[Case]) -> RunTimeError | None:
    """Held-out errors of our closed form."""
    return _held_out(_wakes(cases), partial(fit_wakes, bootstraps=0))


def round_errors(cases: Sequence[Case]) -> RunTimeError | None:
    """Held-out errors of our replay."""
    return _held_out(_rounds(cases), fit_rounds)


_OfModel = TypeVar("_OfModel", bound=Timed)
_OfModel_contra = TypeVar("_OfModel_contra", bound=Timed, contravariant=True)


class _Fit(Protocol[_OfModel_contra]):
    """A fitted model."""

    def time_s(self, run: _OfModel_contra) -> float: ...


def _held_out(runs: Sequence[_OfModel], fit: Callable[[Sequence[_OfModel]], _Fit[_OfModel]]) -> RunTimeError | None:
    estimated: list[float] = []
    measured: list[float] = []
    for part in range(_PARTS):
        held_out = runs[part::_PARTS]
        fitted = [run for number, run in enumerate(runs) if number % _PARTS != part]
        try:
            fit_of_rest = fit(fitted)
        except NotEnoughData:
            return None
        estimated += [fit_of_rest.time_s(run) for run in held_out]
        measured += [run.eee_s for run in held_out]
    return errors_of(estimated, measured) if measured else None


def miwa_time(fit: MiwaFit, errors: RunTimeError | None) -> MiwaTime:
    """For a calibration."""
    return MiwaTime(
        threshold_us=Estimate.of(fit.threshold_us),
        plateau_us=Estimate.of(fit.plateau_us),
        alpha_per_us=None if fit.alpha_per_us is None else Estimate.of(fit.alpha_per_us),
        origin_us=None if fit.origin_us is None else Estimate.of(fit.origin_us),
        residual_us=fit.residual_us,
        explained_fraction=fit.explained,
        error=errors,
    )


def wake_time(fit: WakeFit, errors: RunTimeError | None) -> WakeTime:
    """For a calibration."""
    return WakeTime(
        serial_count=Estimate.of(fit.serial),
        abreast_count=Estimate.of(fit.abreast),
        hidden_us=Estimate.of(fit.hidden_us),
        residual_us=fit.residual_us,
        explained_fraction=fit.explained,
        error=errors,
    )


def round_time(fit: RoundFit, errors: RunTimeError | None) -> RoundTime:
    """For a calibration."""
    return RoundTime(
        serial_count=Estimate.of(fit.serial),
        residual_us=fit.residual_us,
        explained_fraction=fit.explained,
        error=errors,
    )
