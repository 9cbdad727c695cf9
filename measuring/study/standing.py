"""Where a study stands, in its `standing.json`, for `eeectl watch` in another process. The study never reads it."""

import os
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eee_testbed.lab.errors import LabError

KNOWN: Final = "known"
"""The verdict on a parameter that is known as precisely as is wanted."""

_FILE: Final = "standing.json"


class ParameterRow(BaseModel):
    """A parameter as the study's table has it: its interval, the half width that is wanted, and how it stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    now: str
    wanted: str
    verdict: str


class Standing(BaseModel):
    """What a study does at `at_s`, by the wall's monotonic clock. `left_s`: of its budget.

    `step`: the kind of block that is measured; empty while it fits, and at its end. `why`: the reason for that step.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    step: str
    why: str
    left_s: float
    at_s: float
    process: int = Field(default_factory=os.getpid, gt=0)
    ended: bool = False
    parameters: tuple[ParameterRow, ...] = ()

    @property
    def running(self) -> bool:
        """Whether the study's process is at work on this machine."""
        return not self.ended and Path(f"/proc/{self.process}").exists()


def write_standing(folder: Path, standing: Standing) -> None:
    """Write it; LabError if that fails."""
    path = folder / _FILE
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_text(standing.model_dump_json(indent=1) + "\n", encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise LabError(f"{path} cannot be written ({error.strerror}): free some space.") from error


def read_standing(folder: Path) -> Standing | None:
    """Read it; None if the study has not begun, or is of a version that wrote none or another one."""
    try:
        return Standing.model_validate_json((folder / _FILE).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError):
        return None
