"""The simulations of a study: its axes' values laid over each other, and what is to be replayed of them."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from eee_testbed.lab.errors import ExperimentError, Problem
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.description_paths import relative_to
from eee_testbed.simulation.standard_links import WrongLink, with_times
from eee_testbed.simulation.studies.study import EACH_JOB, Fragment, Mixes, Study, mix_name


@dataclass(frozen=True, slots=True)
class Case:
    """A simulation of a study: a value of each axis, and what is simulated."""

    labels: Mapping[str, str]
    description: Description

    @property
    def key(self) -> str:
        """It names the case: "network=3D,links=pdt-10"."""
        return case_key(self.labels)

    @property
    def sleeps(self) -> bool:
        """Whether any of its links do."""
        return self.description.links_rest

    @property
    def awake_key(self) -> str:
        """Equal for cases that differ in links alone, in how these choose their holds, and in seeds."""
        return self.description.model_dump_json(
            exclude={
                "links": True,
                "node_links": True,
                "card_links": True,
                "consolidation": True,
                "seeds": True,
                "programs": {"bound"},
            }
        )


def case_key(labels: Mapping[str, str]) -> str:
    """The name of the case with these values of axes."""
    return ",".join(f"{axis}={value}" for axis, value in labels.items())


def laid_over(base: Any, over: Any) -> Any:
    """Mappings merged key by key, everything else replaced.

    >>> laid_over({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}, "d": 4})
    {'a': {'b': 1, 'c': 3}, 'd': 4}
    """
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over
    return dict(base) | {key: laid_over(base[key], one) if key in base else one for key, one in over.items()}


def workload_axes(study: Study) -> list[str]:
    """Axes that say what runs; the others say on what."""
    own = [study.mixes.axis] if study.mixes is not None else []
    return own + [
        axis for axis, values in study.axes.items() if any("jobs" in one.get("programs", {}) for one in values.values())
    ]


def cases_of(study: Study, folder: Path, *, whole: bool) -> list[Case]:
    """All simulations, in the order of the axes; paths are seen from `folder`.

    ExperimentError if one is not a simulation of programs, or has no partner whose links never sleep.
    """
    found = []
    for labels, fragment in _fragments(study, whole=whole):
        described = {"name": study.name} | fragment
        place = ", ".join(f"{axis} {value}" for axis, value in labels.items())
        try:
            description = relative_to(Description.model_validate(with_times(described)), folder)
        except WrongLink as error:
            raise _wrong(study, f"with {place}: {error.place}: {error.sentence}", error.remedy) from error
        except ValidationError as error:
            first = error.errors()[0]
            words = f"{first['msg'].removeprefix('Value error, ')} ({'.'.join(map(str, first['loc'])) or 'the whole'})"
            raise _wrong(study, f"is not a valid simulation with {place}: {words}", "correct these values") from error
        if description.programs is None:
            raise _wrong(study, f"has no programs with {place}", "write programs in common, or in an axis")
        found.append(Case(labels, description))
    if not found:
        raise _wrong(study, "has no simulations", "leave fewer combinations out")
    awake = {case.awake_key for case in found if not case.sleeps}
    for case in found:
        if case.awake_key not in awake:
            raise _wrong(study, f"compares {case.key} with nothing", "add a value `always-on: {}` to the axis of links")
    return found


def _wrong(study: Study, sentence: str, remedy: str) -> ExperimentError:
    return ExperimentError([Problem(f"study {study.name}", 0, "", sentence, remedy)])


def _fragments(study: Study, *, whole: bool) -> Iterator[tuple[dict[str, str], Fragment]]:
    axes = {axis: dict(values) for axis, values in study.axes.items()}
    reduced = None if whole else study.reduced
    mixes = study.mixes
    if mixes is not None:
        if reduced is not None:
            mixes = Mixes.model_validate(laid_over(mixes.model_dump(mode="json"), reduced.mixes))
        axes = {mixes.axis: {mix_name(number): one for number, one in enumerate(drawn(mixes))}} | axes
    if reduced is not None:
        for axis, values in reduced.values.items():
            axes[axis] |= {value: laid_over(axes[axis][value], over) for value, over in values.items()}
        axes = {axis: _kept(values, reduced.keep.get(axis)) for axis, values in axes.items()}
    for chosen in product(*(values.items() for values in axes.values())):
        labels = {axis: value for axis, (value, _) in zip(axes, chosen, strict=True)}
        if any(all(labels.get(axis) in values for axis, values in one.items()) for one in study.without):
            continue
        fragment: Fragment = study.common
        for _, over in chosen:
            fragment = laid_over(fragment, over)
        yield labels, _with_jobs(laid_over(fragment, reduced.common) if reduced is not None else fragment)


def _kept(values: dict[str, Fragment], names: list[str] | None) -> dict[str, Fragment]:
    return values if names is None else {name: one for name, one in values.items() if name in names}


def _with_jobs(fragment: Fragment) -> Fragment:
    """With `each_job` laid over every job."""
    rest = {key: one for key, one in fragment.items() if key != EACH_JOB}
    jobs = fragment.get("programs", {}).get("jobs")
    if jobs is None or EACH_JOB not in fragment:
        return rest
    every = [laid_over(job, fragment[EACH_JOB]) for job in jobs]
    return rest | {"programs": fragment["programs"] | {"jobs": every}}


def drawn(mixes: Mixes) -> list[Fragment]:
    """The mixes: a size that still fits and a program that has it, again and again, each equally likely."""
    rng = random.Random(mixes.seed)  # noqa: S311 - no secret
    programs = {name: sizes for name, sizes in mixes.programs.items() if name not in mixes.without}
    return [_mix(mixes, programs, rng) for _ in range(mixes.count)]


def _mix(mixes: Mixes, programs: Mapping[str, Mapping[int, Fragment]], rng: random.Random) -> Fragment:
    jobs: list[Fragment] = []
    left = mixes.ranks
    while fitting := sorted({size for sizes in programs.values() for size in sizes if size <= left}):
        size = rng.choice(fitting)
        name = rng.choice(sorted(name for name, sizes in programs.items() if size in sizes))
        jobs.append({"program": programs[name][size], "name": f"{name}-{size}"})
        left -= size
    return {"programs": {"jobs": jobs}}
