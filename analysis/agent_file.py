"""Files that agents wrote on nodes (`agents/stream.py`), kept in the folder of a trial."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.recording import read_stream
from lab.errors import LabError


@dataclass(frozen=True, slots=True)
class AgentFile:
    """The header, and every row with its values by column."""

    header: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]


def read_agent_file(path: Path, agent: str) -> AgentFile:
    """Read an agent's file, without a last line that the agent did not finish; LabError if it is another file."""
    try:
        recording = read_stream(path.read_text(encoding="utf-8"))
        rows = tuple(recording.records())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{path} is not what agents/{agent}.py writes: measure it again.") from error
    if recording.header.get("agent") != agent:
        raise LabError(f"{path} was written by {recording.header.get('agent')}, not by {agent}: measure it again.")
    return AgentFile(recording.header, rows)
