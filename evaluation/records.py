"""Measured claims: what is claimed, by which command it is measured, and every measurement of it."""

import sys
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = Path("evaluation", "records")
"""Of the claims, in a checkout."""


Rounded = Annotated[float, AfterValidator(lambda value: float(f"{value:.5g}"))]
"""A measured number has no more than five digits."""


class Figure(BaseModel):
    """What a command found, in the unit of its claim."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Rounded
    low: Rounded | None = None
    high: Rounded | None = None
    held: str = Field(
        default="", pattern=r"^([\d,]+ of [\d,]+)?$", description="How often the interval held the truth."
    )
    anchor_value: Rounded | None = None
    ratio: Rounded | None = Field(default=None, description="Of ours to the anchor's.")
    ratio_low: Rounded | None = None
    ratio_high: Rounded | None = None
    saving: str = Field(default="", description="Of metered power, with its interval.")
    n: int | None = Field(default=None, ge=1, description="Runs, rounds or cases; missing: not written down.")


class Measurement(Figure):
    """A figure, with where it comes from."""

    commit: str = Field(pattern=r"^[0-9a-f]{7,40}$")
    machine: str
    date: date
    load: float | None = Field(default=None, ge=0, description="Average of the minute before; missing: not noted.")
    quiet: bool = Field(description="Nothing else ran before it began, as far as was noted.")


class Record(BaseModel):
    """One file of `evaluation/records`. Its measurements only grow, the newest last."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["accuracy", "speed", "links"]
    claim: str = Field(max_length=120)
    unit: str
    truth: str = Field(default="", description="What is true, and how it is known.")
    anchor: str = Field(default="", description="Another program that does the same, measured in turns.")
    command: str = Field(description="What measures it, as a user types it, without --record, --force and --json.")
    figure: str = Field(default="", description="Which of the command's figures it is.")
    about: tuple[str, ...] = Field(min_length=1, description="Files and folders whose changes age it.")
    aged: bool = Field(default=False, description="Too much has changed since, and the page says so.")
    measured: tuple[Measurement, ...] = ()

    @property
    def shown(self) -> Measurement | None:
        """The newest measurement on a quiet machine, else the newest; None if there is none."""
        newest_first = self.measured[::-1]
        return next((one for one in newest_first if one.quiet), next(iter(newest_first), None))

    def with_measurement(self, measurement: Measurement) -> "Record":
        """The record with one more measurement; it is as old as the one that is shown then."""
        grown = self.model_copy(update={"measured": (*self.measured, measurement)})
        return grown.model_copy(update={"aged": self.aged and grown.shown is not measurement})


def read_records(checkout: Path = ROOT) -> dict[str, Record]:
    """Every record by its file's name, in the order of names; exits with a sentence if a file is no record."""
    return {path.stem: _read(path) for path in sorted((checkout / FOLDER).glob("*.yaml"))}


def _read(path: Path) -> Record:
    try:
        return Record.model_validate(YAML(typ="safe").load(path))
    except ValidationError as error:
        wrong = error.errors()[0]
        sys.exit(f"{FOLDER / path.name}: {'.'.join(map(str, wrong['loc'])) or 'the file'}: {wrong['msg']}")
    except YAMLError as error:
        sys.exit(f"{FOLDER / path.name} is not YAML: {str(error).splitlines()[0]}")


def write_record(name: str, record: Record, checkout: Path = ROOT) -> Path:
    """Write a record in place of its file; returns the file's path in the checkout."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 4096
    text = StringIO()
    yaml.dump(record.model_dump(mode="json", exclude_defaults=True), text)
    path = FOLDER / f"{name}.yaml"
    fresh = checkout / FOLDER / f".{name}.new"
    fresh.write_text(text.getvalue(), encoding="utf-8")
    fresh.replace(checkout / path)
    return path
