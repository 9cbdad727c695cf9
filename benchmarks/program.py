"""What a program of the table is: how it is started, is its answer right, which figures it gives.

A program is data and two pure functions. `launch` says what to run and which files it needs; `read` judges what it
printed. Neither touches a node: `measuring/experiments/launching.py` does. The working folder of every rank is a
private folder on its node that holds the files of `Launch.files`, so `argv` may name them as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from pydantic import BaseModel, ConfigDict

READY: Final = "ranks ready"
"""See `Launch.says_ready`."""


class Parameters(BaseModel):
    """What one can choose about a program; a program's own model names the rest, each name with its unit."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False
    )  # a folder may be named 2024


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a program runs: `ranks_per_host` ranks on each host, rank 0 and Open MPI itself on the first.

    Ranks are numbered host by host: with two a host, ranks 0 and 1 are on the first. `addresses` are the hosts' on the
    data network, in the same order; the launcher fills them in, for programs that do without MPI's messages.
    """

    hosts: tuple[str, ...]
    ranks_per_host: int = 1
    addresses: tuple[str, ...] = ()

    @property
    def ranks(self) -> int:
        """How many ranks there are in all."""
        return len(self.hosts) * self.ranks_per_host

    def host_of(self, rank: int) -> str:
        """The host of a rank."""
        return self.hosts[rank // self.ranks_per_host]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value. `unit` is a base unit without prefix, except for "us"; "1" is a count or a ratio."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program's output says.

    `right`: whether its own check of its result passed; None for a program that has no such check, as any command.
    `why`: one sentence if it is not right. Figures of a wrong answer are given too, to help find the reason.
    `loop_ns`: when the loop that is measured began and ended, in UTC by the clock of its first node, if it says so;
    what comes before and after is starting and ending.
    `unmatched`: the user's expression that nothing in the output matched, if that is why it is not right.
    """

    right: bool | None
    why: str = ""
    figures: tuple[Figure, ...] = ()
    loop_ns: tuple[int, int] | None = None
    unmatched: str = ""

    def figure(self, name: str) -> Figure:
        """The figure of this name; KeyError if there is none."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Launch:
    """What runs on every rank: the command, the files it finds beside it, what is added to its environment.

    `result`: the file that the program writes its result to, in the private folder of the first host; its text comes
    behind what was printed. Empty where the program prints everything.
    `commands` and `modules`: what every node needs beside the first word of `argv`: programs, and Python modules of its
    `python3`. A node that lacks one is named before anything starts.
    `monitored`: whether the ranks are MPI programs, whose messages Open MPI can count.
    `says_ready`: rank 0 prints the line `READY` when all ranks have started, and then waits until it can open the pipe
    `begin` of its folder for reading; starting is not measured then.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    result: str = ""
    commands: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    monitored: bool = True
    says_ready: bool = False


class Unfit(ValueError):
    """These parameters and this placement do not go together; the text is one sentence that says what to do."""


class Program(Protocol):
    """A program of the table.

    `parameters` is the model of its parameters: `program.parameters.model_validate({...})` makes them.
    """

    @property
    def name(self) -> str:
        """What it is called in experiments and on the command line."""

    @property
    def about(self) -> str:
        """One line for people."""

    @property
    def parameters(self) -> type[Parameters]:
        """The model of its parameters."""

    def launch(self, parameters: Any, placement: Placement) -> Launch:
        """What to run; Unfit if the placement does not suit."""

    def read(self, parameters: Any, placement: Placement, output_text: str) -> Answer:
        """Judge what it printed. Output that ends early or is something else is an answer that is not right."""
