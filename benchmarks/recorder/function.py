"""A function of the table: its C parameters, and what a record of its calls holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final


class Group(StrEnum):
    """What functions do."""

    MESSAGE = "messages"
    REQUEST = "requests"
    COLLECTIVE = "collective calls"
    NEIGHBOUR = "neighbourhood calls"
    COMMUNICATOR = "communicators"
    ONE_SIDED = "one-sided"
    FILE = "files"
    PARTITIONED = "partitioned (MPI 4)"


LEFT_OUT: Final = frozenset({Group.ONE_SIDED, Group.FILE, Group.PARTITIONED})
"""Groups of which only names and times are recorded."""

COMM: Final = "MPI_Comm comm"


@dataclass(frozen=True, slots=True)
class Function:
    """A function, without the MPI_ of its name.

    `values` are the fields of a record in order, each with its C expression; `lists` are statements in C that append
    numbers behind them, which `listed` names. In C, `c` is the communicator that was looked up, `n` the number of
    values so far, `own` the number of this function. Values behind the request are left away on intercommunicators.
    `before` stands before the call. `found` is the condition under which a test found something; `after` comes last.
    """

    name: str
    group: Group
    parameters: str
    values: Mapping[str, str] = field(default_factory=dict)
    listed: str = ""
    lists: str = ""
    before: str = ""
    found: str = ""
    after: str = ""
    least_version: int = 3

    @property
    def mpi_name(self) -> str:
        """As programs call it."""
        return f"MPI_{self.name}"


def both(function: Function) -> tuple[Function, Function]:
    """A collective call and the one that begins it without blocking."""
    first, *others = function.values.items()
    values = {**dict([first]), "request": "begun_request(*request, 0)", **dict(others)}
    name = f"I{function.name[0].lower()}{function.name[1:]}"
    parameters = f"{function.parameters}, MPI_Request *request"
    return function, replace(function, name=name, parameters=parameters, values=values)
