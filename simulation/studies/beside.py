"""A value that was measured elsewhere, on a lab or its twin: a change of a program's run time."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from eee_testbed.simulation.part import Part

Percent = Annotated[float, Field(ge=-100, le=1e6)]


class Beside(Part):
    """How much longer a program ran in one case than in another, as it was measured."""

    text: str
    """What was measured, in a sentence."""

    source: str
    """Where the value stands, with its commit or page."""

    of: Mapping[str, str]
    """By axis: the case whose run time is compared."""

    against: Mapping[str, str]
    """By axis: the case that it is compared with."""

    percent: Percent
    """The measured change of the run time."""

    low: Percent | None = None
    """Lower end of its interval."""

    high: Percent | None = None
    """Upper end of its interval."""

    within: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Percentage points beyond the interval, or beyond the value, that still agree."""

    because: str
    """Why it may differ; printed if it does."""

    @model_validator(mode="after")
    def _in_order(self) -> "Beside":
        low, high = self.ends
        if not low <= self.percent <= high:
            raise ValueError(f"{self.percent:g} is not between {low:g} and {high:g}: correct the interval")
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """Of the interval: the value itself where none was measured."""
        return (self.percent if self.low is None else self.low), (self.percent if self.high is None else self.high)
