"""A study's file: simulations of programs along axes, a reduced set of them, and whose statements they are held to.

Each value of an axis is a part of a simulation's file. A simulation of the study is `common`, with one value of every
axis laid over it, in the order of the axes: mappings are merged key by key, everything else is replaced. `each_job`,
in `common` or a value, is laid over every job of the programs. `mixes` is one axis more: drawn mixes of jobs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError, model_validator

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.lab.yaml_source import plain, read_source
from eee_testbed.simulation.part import Part, Seed
from eee_testbed.simulation.studies.beside import Beside

PaperName = Literal["andujar", "georgakoudis-single", "georgakoudis-multi", "tcep"]
ShownName = Literal["bounds", "sizes", "rates", "gating", "routings", "latency"]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
Fragment = dict[str, Any]
"""A part of a simulation's file."""

EACH_JOB: Final = "each_job"
_SHOWN_BY: Final[Mapping[ShownName, str]] = {
    "bounds": "links",
    "sizes": "size",
    "rates": "rate",
    "gating": "links",
    "routings": "routing",
    "latency": "program",
}
"""The axis that a section of the page is drawn along."""


class Mixes(Part):
    """Jobs that share the machine: programs and numbers of ranks at random, with so many ranks together."""

    axis: Label = "mix"
    """Name of the axis that they make."""

    count: Annotated[int, Field(ge=1, le=1000)] = 20
    """Mixes to draw."""

    ranks: Annotated[int, Field(ge=1)] = 4096
    """Of a mix."""

    seed: Seed = 1
    """Of the draw: equal seeds give equal mixes, and fewer mixes the first of more."""

    programs: dict[Label, dict[int, Fragment]]
    """By name and number of ranks: a generated program."""

    without: list[Label] = Field(default=[])
    """Programs that are not drawn."""


class Reduced(Part):
    """What a reduced run takes, and what it leaves out. It cuts iterations, seeds and programs, never sizes or gaps."""

    keep: dict[Label, list[Label]] = Field(default={})
    """By axis: the values that stay; else all."""

    common: Fragment = Field(default={})
    """Laid over every simulation, last."""

    values: dict[Label, dict[Label, Fragment]] = Field(default={})
    """By axis and value: laid over that value."""

    mixes: Fragment = Field(default={})
    """Laid over `mixes`."""

    leaves_out: Annotated[list[str], Field(min_length=1)]
    """In sentences; the page prints them."""


class Study(Part):
    """A study's file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    """The results are in `simulations/NAME`, those of the whole set in `simulations/NAME-whole`."""

    about: str = ""
    """What is studied, in a sentence or two."""

    paper: PaperName | None = None
    """Whose statements are printed beside the results."""

    shows: list[ShownName] = Field(default=[])
    """Sections of the page besides: savings of each policy within bounds of the slowdown, by size, rate or routing;
    links that sleep beside links that are off; latency of packets and energy of links by program."""

    chosen: list[str] = Field(default=[])
    """What the paper leaves open and was chosen here, in sentences."""

    beside: list[Beside] = Field(default=[])
    """Changes of run times that were measured elsewhere, to print beside the simulated ones."""

    common: Fragment
    """Of every simulation."""

    axes: dict[Label, dict[Label, Fragment]]
    """By name: its values by name."""

    mixes: Mixes | None = None
    without: list[dict[Label, list[Label]]] = Field(default=[])
    """Combinations to leave out: by axis, the values."""

    reduced: Reduced | None = None
    """Without it, a reduced run is the whole one."""

    @model_validator(mode="after")
    def _has_what_it_shows(self) -> "Study":
        for name in self.shows:
            if _SHOWN_BY[name] not in self.axes:
                raise ValueError(f"shows {name} needs an axis {_SHOWN_BY[name]}: add it, or leave {name} out")
        if "rates" in self.shows and (names := [one for one in self.axes["rate"] if not one.isdecimal()]):
            raise ValueError(f"the axis rate has {names[0]}, which is not a number: name its values by their Gb/s")
        names = list(self.axes["links"]) if "gating" in self.shows else []
        if names and not any("+" in one and set(one.split("+")) < {*names} for one in names):
            raise ValueError("shows gating needs two policies together: name values of links tcep, deep and tcep+deep")
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> "Study":
        known = {axis: set(values) for axis, values in self.axes.items()}
        if self.mixes is not None:
            if self.mixes.axis in known:
                raise ValueError(f"the axis {self.mixes.axis} is there twice: rename that of mixes")
            known[self.mixes.axis] = {mix_name(number) for number in range(self.mixes.count)}
        named = [*self.without]
        named += [
            {axis: [value] for axis, value in case.items()} for one in self.beside for case in (one.of, one.against)
        ]
        if self.reduced is not None:
            named += [self.reduced.keep, {axis: list(values) for axis, values in self.reduced.values.items()}]
        for one in named:
            for axis, values in one.items():
                if axis not in known:
                    raise ValueError(f"there is no axis {axis}: write one of {', '.join(known)}")
                for value in values:
                    if value not in known[axis]:
                        raise ValueError(f"the axis {axis} has no value {value}: write one of its values")
        return self


def mix_name(number: int) -> str:
    """Of a drawn mix."""
    return f"mix-{number + 1:02d}"


def is_study(path: Path) -> bool:
    """Whether a file is a study's, and not a simulation's; ExperimentError if it cannot be read."""
    content = read_source(path, "name a simulation's or a study's file").content
    return isinstance(content, Mapping) and "axes" in content


def read_study(path: Path) -> Study:
    """Read a file; ExperimentError lists every mistake in it."""
    source = read_source(path, "name a study's file")
    try:
        return Study.model_validate(plain(source.content))
    except ValidationError as error:
        raise ExperimentError([source.mistake(one["loc"], one) for one in error.errors()]) from error
