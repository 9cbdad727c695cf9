"""Any command, on every rank."""

import re
import shlex
from dataclasses import dataclass
from typing import Any

from pydantic import Field, field_validator

from eee_testbed.benchmarks.figures import last_line
from eee_testbed.benchmarks.program import Answer, Launch, Parameters, Placement


class CommandParameters(Parameters):
    """`words` is the command, as one text or as a list; no shell reads it.

    `expect`: a regular expression that has to be found in what it prints, if the answer is to be right. `mpi`: whether
    it is an MPI program, whose messages can be counted.
    """

    words: tuple[str, ...] = Field(min_length=1, description="the command; no shell reads it")
    expect: str = Field("", description="regular expression that has to be found in what it prints")
    mpi: bool = Field(default=True, description="whether it is an MPI program, whose messages can be counted")

    @field_validator("words", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(shlex.split(value)) if isinstance(value, str) else value

    @field_validator("expect")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return value


@dataclass(frozen=True, slots=True)
class Command:
    """The program; its one figure is `elapsed`, which every launched program has."""

    name: str = "command"
    about: str = "any command, MPI program or not"
    parameters: type[CommandParameters] = CommandParameters

    def launch(self, parameters: CommandParameters, placement: Placement) -> Launch:  # noqa: ARG002 - it runs anywhere
        """The command as it is."""
        return Launch(parameters.words, monitored=parameters.mpi)

    def read(self, parameters: CommandParameters, placement: Placement, output_text: str) -> Answer:  # noqa: ARG002 - ditto
        """Right if what was expected is there; None if nothing was."""
        if not parameters.expect:
            return Answer(right=None)
        if re.search(parameters.expect, output_text, re.MULTILINE):
            return Answer(right=True)
        why = f"it did not print '{parameters.expect}'; {last_line(output_text)}."
        return Answer(right=False, why=why, unmatched=parameters.expect)
