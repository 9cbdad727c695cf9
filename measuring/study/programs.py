r"""The programs of a study, from a file: each with its parameters, figures and ranks, as its options would say.

A file is a list::

    - command: /shared/halo 1000
      figures: ['time=Time = ([\d.]+) s']
    - program: hpcc
      parameters: {order: 500}
      ranks_per_host: 2
"""

from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.lab.yaml_source import plain, read_source
from eee_testbed.measuring.experiments.launchers.table import DEFAULT, launcher_content
from eee_testbed.measuring.study.design import StudiedProgram

_REMEDY: Final = "name a file with a list of programs"


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    program: str = ""
    command: str | tuple[str, ...] = ""
    parameters: dict[str, Any] = {}
    factors: dict[str, tuple[Any, ...]] = {}
    figures: tuple[str, ...] = ()
    ranks_per_host: int = Field(default=1, ge=1)
    timeout_s: float = Field(default=600.0, gt=0)
    launcher: str = DEFAULT
    launcher_words: str = ""

    @model_validator(mode="after")
    def _one(self) -> "_Entry":
        if bool(self.program) == bool(self.command):
            raise ValueError("`program` or `command`, one of them, says what runs: give one")
        return self

    def studied(self) -> StudiedProgram:
        """The program."""
        launch = {"words": self.command} if self.command else {}
        return StudiedProgram(
            self.program or "command",
            {**self.parameters, **launch},
            self.ranks_per_host,
            self.figures,
            self.timeout_s,
            self.factors,
            launcher_content(self.launcher, self.launcher_words),
        )


_ENTRIES: Final = TypeAdapter(Annotated[tuple[_Entry, ...], Field(min_length=1)])


def programs_in(path: Path) -> tuple[StudiedProgram, ...]:
    """The programs of a file; ExperimentError holds every mistake found, with its line."""
    source = read_source(path, _REMEDY)
    try:
        entries = _ENTRIES.validate_python(plain(source.content))
    except ValidationError as error:
        raise ExperimentError([source.mistake(problem["loc"], problem) for problem in error.errors()]) from error
    return tuple(entry.studied() for entry in entries)
