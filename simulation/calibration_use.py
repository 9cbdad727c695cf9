"""How a simulation's file refers to a calibration: whose links and whose switch it takes."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class CalibrationUse(BaseModel):
    """Times of links and watts of switches from a file of `eeectl fit`, with their intervals."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    file: str
    """As seen from the simulation's file, or from where the command runs."""

    mbps: Annotated[int, Field(ge=1, le=10_000_000)]
    """Rate of a channel; with `energy.flit_bits` it gives the length of a cycle."""

    link: str = ""
    """Whose policy all links have, unless `links` is given; default: the first of the file."""

    switch: str = ""
    """Whose power all routers have; default: the first of the file."""

    draws: Annotated[int, Field(ge=0, le=100)] = 0
    """So many more simulations of each load and seed, with the links' times drawn from their intervals."""
