"""A program's profile: the input of a prediction. `analysis.programs.profile_reading` makes it from a run.

`n` and `S` are Miwa's (2013, section 4.2): communications per node, and mean size of one. A
profile also has the distribution of gaps on each node's link, by direction, and the traffic matrix of its ranks. It
has a file of its own (YAML), so predictions need the run no longer.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from eee_testbed.analysis.calibration import Estimate
from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.yaml_file import read_model, write_yaml
from eee_testbed.lab.errors import LabError

FORMAT: Final = 1

Direction = Literal["transmit", "receive"]
"""As the node sees it: frames that a switch's port sends to a node are received."""


MOST: Final = 1e18
"""Of any amount in a profile: what is larger was not measured."""

Amount = Annotated[float, Field(ge=0, le=MOST)]


class ProfileError(LabError):
    """A profile cannot be read or made; the message names file, key and remedy."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Gaps(_Part):
    """Gaps of one direction of one node's link: `count` gaps between `low_us` and `high_us`, the recorder's bins."""

    low_us: tuple[Amount, ...]
    high_us: tuple[Amount, ...]
    count: tuple[Amount, ...]
    frame_count: Amount = 0.0
    size_byte: Amount = 0.0
    busy_us: Amount = 0.0
    window_us: float = Field(gt=0, le=MOST)

    @model_validator(mode="after")
    def _same_length(self) -> "Gaps":
        if not len(self.low_us) == len(self.high_us) == len(self.count):
            raise ValueError("each bin of gaps needs two edges and a count")
        if any(low > high for low, high in zip(self.low_us, self.high_us, strict=True)):
            raise ValueError("a bin of gaps ends before it begins")
        return self

    def spread(self, points: int = 4) -> tuple[Floats, Floats]:
        """(gaps in us, how many of each): the gaps of a bin are assumed to lie evenly between its edges.

        >>> gaps = Gaps(low_us=(100.0,), high_us=(200.0,), count=(8.0,), window_us=1e6)
        >>> [part.tolist() for part in gaps.spread(2)]
        [[125.0, 175.0], [4.0, 4.0]]
        >>> gaps.idle_us
        1200.0
        """
        low, high = np.array(self.low_us, dtype=float), np.array(self.high_us, dtype=float)
        places = (np.arange(points) + 0.5) / points
        gaps = low[:, None] + (high - low)[:, None] * places
        return gaps.ravel(), np.repeat(np.array(self.count, dtype=float) / points, points)

    @property
    def idle_us(self) -> float:
        """Sum of all gaps."""
        gaps, counts = self.spread()
        return float(gaps @ counts)


class NodeGaps(_Part):
    """Both directions of a node's link, as the node sees them."""

    transmit: Gaps
    receive: Gaps


class Traffic(_Part):
    """Messages and bytes from each rank (row) to each rank (column), as counted by Open MPI."""

    messages: tuple[tuple[Amount, ...], ...]
    bytes: tuple[tuple[Amount, ...], ...]

    @model_validator(mode="after")
    def _square(self) -> "Traffic":
        for matrix in (self.messages, self.bytes):
            if any(len(row) != len(self.messages) for row in matrix) or len(matrix) != len(self.messages):
                raise ValueError("the traffic matrix is not square, with a row and a column for each rank")
        return self


class Profile(_Part):
    """One program at one placement with one set of parameters, without EEE.

    `base_s` is the median over `trial_count` trials, with its interval by bootstrap; a single trial has no width.
    `call_count` is n, `message_byte` S (mean over nodes). `gaps` by host, from the last trial that recorded them.
    """

    format: Literal[1] = FORMAT
    name: str
    program: str
    parameters: Mapping[str, Any] = Field(default_factory=dict)
    hosts: tuple[str, ...]
    ranks_per_host: int = Field(ge=1, le=1_000_000)
    lab: str = ""
    runs: tuple[str, ...] = ()
    trial_count: int = Field(ge=1)
    base_s: Estimate
    call_count: Amount
    message_byte: Amount
    link_mbps: float = Field(ge=1, le=1e6)
    gaps: Mapping[str, NodeGaps] = Field(default_factory=dict)
    traffic: Traffic | None = None

    @property
    def rank_count(self) -> int:
        """Total number of ranks."""
        return len(self.hosts) * self.ranks_per_host

    @property
    def idle_us(self) -> float:
        """Miwa's I (Eq. 4), microseconds; infinite for a program that does not communicate."""
        if not self.call_count:
            return float("inf")
        return (self.base_s.value / self.call_count - 8 * self.message_byte / (self.link_mbps * 1e6)) * 1e6


def save_profile(path: Path, profile: Profile) -> None:
    """Write a file, whole or not at all; ProfileError if it cannot be written."""
    write_yaml(path, json.loads(profile.model_dump_json(exclude_none=True)), ProfileError)


def load_profile(path: Path) -> Profile:
    """Read a file; ProfileError says what is wrong with it and where."""
    return read_model(
        path, Profile, ProfileError, f"eeectl predict RUN --calibration calibration.yaml --save {path.name}"
    )
