"""Files that agents wrote on nodes (`agents/stream.py`), kept in the folder of a trial."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from eee_testbed.agents.echo import history
from eee_testbed.agents.idle_gaps import COLUMNS as GAP_COLUMNS
from eee_testbed.agents.recording import Row, StreamReader, names_of
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.json_text import parse_object
from eee_testbed.lab.plain_text import safe_tree
from eee_testbed.lab.untrusted_files import read_json_lines

_PLACES: Final[Mapping[str, frozenset[str]]] = {
    "echo_probe": frozenset(column.name for column in history.COLUMNS),
    "idle_gaps": frozenset(column.name for column in GAP_COLUMNS),
}
"""By agent, the columns that readers know."""

_ALWAYS: Final[Mapping[str, tuple[str, ...]]] = {
    "echo_probe": ("wanted_ns",),
    "idle_gaps": tuple(column.name for column in GAP_COLUMNS),
}
"""By agent, the columns that have a value in each row."""

_HEADS: Final[Mapping[str, str]] = {"echo_probe": "payload_byte", "idle_gaps": "lower_edges_ns"}
"""By agent, what readers need of the header."""


_LONGEST_HEADER: Final = 1 << 20
"""Bytes; a longer one is none of an agent's."""


@dataclass(frozen=True, slots=True)
class AgentFile:
    """The header, and every row with its values by column."""

    header: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]


def read_agent_file(path: Path, agent: str) -> AgentFile:
    """Read an agent's file, without a last line that the agent did not finish; LabError if it is another file.

    A damaged line after the header is lost (DamagedPart).
    """
    reader = StreamReader()
    rows: list[Mapping[str, Any]] = []
    try:
        for row in read_json_lines(path, lambda line: _usable(path, agent, reader, line)):
            rows += row
    except FileNotFoundError as error:
        raise LabError(f"{path} is missing: measure it again.") from error
    if not reader.header:
        raise LabError(f"{path} is not what agents/{agent}.py writes: measure it again.")
    return AgentFile(safe_tree(dict(reader.header)), tuple(rows))


def header_of(path: Path) -> Mapping[str, Any]:
    """The header alone of any agent's file, unchecked; empty if the file has none that can be read."""
    try:
        with path.open("rb") as lines:
            line = lines.readline(_LONGEST_HEADER)
        header: Mapping[str, Any] = safe_tree(parse_object(line.decode()))
    except (OSError, ValueError):
        return {}
    return header


def _usable(path: Path, agent: str, reader: StreamReader, line: bytes) -> list[Mapping[str, Any]]:
    """The rows of a line, by column; ValueError if it is damaged, LabError if it should have been the header."""
    before = reader.header
    try:
        rows = reader.read(line)
        if reader.header is not before:
            _check_header(path, agent, reader.header)
    except ValueError as error:
        if not before:
            raise LabError(f"{path} is not what agents/{agent}.py writes ({error}): measure it again.") from error
        raise
    return [_by_column(agent, reader.header, row) for row in rows]


def _check_header(path: Path, agent: str, header: Mapping[str, Any]) -> None:
    if header.get("agent") != agent:
        raise LabError(f"{path} was written by {header.get('agent')}, not by {agent}: measure it again.")
    missing = [name for name in _ALWAYS[agent] if name not in names_of(header)]
    if missing:
        raise ValueError(f"it has no column {missing[0]}")
    head = header.get(_HEADS[agent])
    numbers: Sequence[Any] = head if isinstance(head, list) else [head]
    steps = pairwise(numbers)
    if (agent == "idle_gaps") != isinstance(head, list) or not all(
        isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 1 << 62 for number in numbers
    ):
        raise ValueError(f"its header has no {_HEADS[agent]}")
    if isinstance(head, list) and (len(head) < 2 or not all(low < high for low, high in steps)):
        raise ValueError("the edges of its bins do not rise")


def _by_column(agent: str, header: Mapping[str, Any], row: Row) -> Mapping[str, Any]:
    """A row by the columns that readers know; ValueError if it lacks a value, or has one of another kind."""
    cells = dict(zip(names_of(header), row, strict=True))
    placed = {name: cell for name, cell in cells.items() if name in _PLACES[agent]}
    for name, cell in placed.items():
        if cell is None and name in _ALWAYS[agent]:
            raise ValueError(f"a row has no {name}")
        if isinstance(cell, list) != name.endswith("_gaps"):
            raise ValueError(f"a row's {name} is of another kind")
        if isinstance(cell, list):
            bins = len(header["lower_edges_ns"])
            if not all(isinstance(number, int) and 0 <= number < bins and count > 0 for number, count in cell):
                raise ValueError(f"a row's {name} has a bin that the header does not know")
        elif isinstance(cell, float):
            raise ValueError(f"a row's {name} is not a whole number")  # noqa: TRY004 - a broken line is a ValueError
        elif agent == "idle_gaps" and cell < 0:
            raise ValueError(f"a row's {name} is negative")
    return placed
