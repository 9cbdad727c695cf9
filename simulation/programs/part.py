"""What the parameters of all generated programs share: bounds of numbers, the grain of computing, a writer."""

import math
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from eee_testbed.simulation.part import Part
from eee_testbed.simulation.replay.rank_calls import ProgramWriter

DOUBLE_BYTE: Final = 8
MOST_RANKS: Final = 1 << 17
"""Of a program; a million calls take a second to write."""

Ranks = Annotated[int, Field(ge=1, le=MOST_RANKS)]
Extent = Annotated[int, Field(ge=1, le=1 << 20)]
"""Of a grid in one dimension."""

Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Passes = Annotated[int, Field(ge=1, le=1_000_000_000)]
Byte = Annotated[int, Field(ge=0, le=1 << 40)]
Length = Annotated[float, Field(gt=0, le=1e9)]
Grain = Annotated[float, Field(ge=0, le=1e12)]


def _few(sizes: tuple[int, ...]) -> tuple[int, ...]:
    if math.prod(sizes) > MOST_RANKS:
        raise ValueError(f"{math.prod(sizes)} ranks are too many: use {MOST_RANKS} at most")
    return sizes


Triple = tuple[Extent, Extent, Extent]
RankGrid = Annotated[Triple, AfterValidator(_few)]
"""Ranks in x, y and z."""

RankGrids = Annotated[list[Extent], AfterValidator(_few)]
"""Ranks in each dimension of as many as there are."""


class Generated(Part):
    """Parameters of a program that is generated."""

    kind: str
    grain_ns: Grain
    """All computing of a program is a multiple of it, so that a run time can be fitted."""


def writer_for(parameters: Generated, ranks: int) -> ProgramWriter:
    """A writer whose program names its generator and its parameters."""
    return ProgramWriter(parameters.kind, ranks, f"generator {parameters.kind}, {parameters.model_dump_json()}")
