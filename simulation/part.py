"""What the parts of a simulation's file share: their settings, and the bounds of numbers that an engine can hold."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

Form = dict[str, Any]
"""A topology, a pattern, a router or a link as `eee_engine` takes it."""

MOST_PARTS: Final = 1 << 26
"""Routers, nodes or ports of a network; the engine refuses larger ones, too."""

Size = Annotated[int, Field(ge=1, le=MOST_PARTS)]
Index = Annotated[int, Field(ge=0, lt=MOST_PARTS)]
SmallSize = Annotated[int, Field(ge=1, le=4096)]
"""Of what a router has many of: nodes, parallel links."""

ChannelCycles = Annotated[int, Field(ge=1, le=65_535)]
"""Latency of a channel: 65,535 cycles of 1 GHz are 13 km of fibre. The flit engine keeps a list for each cycle."""

Cycles = Annotated[int, Field(ge=0, le=1_000_000_000)]
SomeCycles = Annotated[int, Field(ge=1, le=1_000_000_000)]
Seed = Annotated[int, Field(ge=0, lt=1 << 63)]
"""Parquet's integers end there."""


class Part(BaseModel):
    """A part of a simulation's file: unknown keys, infinities and NaN are refused; a key's docstring describes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)
