"""The tables of a lab: which port a cable joins to which, and which outlet feeds what.

They are CSV as spreadsheets save it, too: with a byte order mark, with rows and columns of nothing at the end.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from eee_testbed.lab.errors import Problem
from eee_testbed.lab.model import CableKind

_END_PATTERN = r"^[a-z0-9-]+:\S+$"


def _yes_no(text: object) -> object:
    return {"yes": True, "no": False}.get(str(text), text)


def _none_if_empty(text: object) -> object:
    return None if text == "" else text


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    line: int


class CableRow(_Row):
    """A line of cables.csv; an end is `device:port`. The last column may be left out of the whole file.

    Cables between the same two switches with the same `lag` make up one LAG.
    """

    end_a: str = Field(pattern=_END_PATTERN)
    end_b: str = Field(pattern=_END_PATTERN)
    rate_mbps: Literal[10, 100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000]
    kind: CableKind
    switchable: Annotated[bool, BeforeValidator(_yes_no)]
    lag: Annotated[Annotated[int, Field(ge=1, le=128)] | None, BeforeValidator(_none_if_empty)] = None


class OutletRow(_Row):
    """A line of outlets.csv."""

    strip: str
    outlet: int = Field(ge=1)
    feeds: str


_AnyRow = TypeVar("_AnyRow", bound=_Row)


def _numeric(row: dict[str, str | int], key: str) -> None:
    text = str(row.get(key, ""))
    if text.isascii() and text.isdigit():
        row[key] = int(text)


def _lines(path: Path, problems: list[Problem], model: type[_Row]) -> Iterator[dict[str, str | int]]:
    file = str(path)
    fields = {name: field for name, field in model.model_fields.items() if name != "line"}
    every = list(fields)
    needed = [name for name, field in fields.items() if field.is_required()]
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = _trimmed(next(reader, []))
            columns = every if header == every else needed
            if header != columns:
                problems.append(_wrong_header(file, header, needed, every))
                return
            for read in reader:
                cells = _trimmed(read, len(columns))
                if not any(cells) or cells[0].startswith("#"):
                    continue
                if len(cells) != len(columns):
                    sentence = f"has {len(cells)} fields instead of {len(columns)}"
                    problems.append(Problem(file, reader.line_num, "", sentence, f"write {','.join(columns)}"))
                    continue
                row: dict[str, str | int] = dict(zip(columns, cells, strict=True))
                row["line"] = reader.line_num
                yield row
    except OSError as error:
        problems.append(Problem(file, 0, "", f"cannot be read: {error.strerror}", "a lab needs this table"))
    except UnicodeDecodeError:
        problems.append(Problem(file, 0, "", "is not UTF-8 text", "save it as UTF-8"))
    except csv.Error as error:
        problems.append(Problem(file, 0, "", f"is not CSV: {error}", "correct the quotes"))


def _trimmed(cells: list[str], least: int = 0) -> list[str]:
    """Cells without blanks around them, and without empty ones at the end, which spreadsheets add, down to `least`."""
    trimmed = [cell.strip() for cell in cells]
    while len(trimmed) > least and not trimmed[-1]:
        trimmed.pop()
    return trimmed


def _wrong_header(file: str, header: list[str], needed: list[str], every: list[str]) -> Problem:
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if any(separator in cell for cell in header):
            return Problem(file, 1, "", f"is separated by {name}", "save it with commas (CSV UTF-8, comma delimited)")
    may = f", with {','.join(every[len(needed) :])} after it if you like" if every != needed else ""
    remedy = f"the first line is {','.join(needed)}{may}"
    return Problem(file, 1, "", f"has the columns {','.join(header) or '(none)'}", remedy)


def _read(path: Path, problems: list[Problem], model: type[_AnyRow], *numbers: str) -> list[_AnyRow]:
    rows = []
    for row in _lines(path, problems, model):
        for number in numbers:
            _numeric(row, number)
        try:
            rows.append(model.model_validate(row))
        except ValidationError as error:
            for mistake in error.errors():
                key = str(mistake["loc"][0])
                sentence = f"{mistake['msg']} (found {mistake['input']!r})"
                problems.append(Problem(str(path), int(row["line"]), key, sentence, "correct it"))
    return rows


def read_cables(path: Path, problems: list[Problem]) -> list[CableRow]:
    """Read cables.csv; what is wrong is added to `problems`."""
    return _read(path, problems, CableRow, "rate_mbps", "lag")


def read_outlets(path: Path, problems: list[Problem], *, needed: bool) -> list[OutletRow]:
    """Read outlets.csv; a lab without strips may lack it."""
    if not needed and not path.exists():
        return []
    return _read(path, problems, OutletRow, "outlet")
