"""Files that agents wrote on nodes, as they came (`agents/stream.py`)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import LabError


@dataclass(frozen=True, slots=True)
class AgentFile:
    """The header, and every row with its values by column."""

    header: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]


def read_agent_file(path: Path, agent: str) -> AgentFile:
    """Read a stream, without a last line that was being written when the agent died; LabError if it is another file."""
    try:
        text = path.read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        header = next(line for line in lines if line["kind"] == "header")
        names = [column["name"] for column in header["columns"]]
        blocks = [line["rows"] for line in lines if line["kind"] == "rows"]
        rows = tuple(dict(zip(names, row, strict=True)) for block in blocks for row in block)
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise LabError(f"{path} is not what agents/{agent}.py writes: measure it again.") from error
    if header.get("agent") != agent:
        raise LabError(f"{path} was written by {header.get('agent')}, not by {agent}: measure it again.")
    return AgentFile(header, rows)
