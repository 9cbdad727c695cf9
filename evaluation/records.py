"""A measured claim: what, how much, how often, by which command, at which commit, on which machine."""

from datetime import date
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML

FOLDER: Final = Path(__file__).resolve().parent / "records"


class Record(BaseModel):
    """One file of `records/`. Whoever measures again replaces the file, with the new commit and date."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["accuracy", "speed", "links"]
    claim: str = Field(max_length=120)
    value: float
    low: float | None = None
    high: float | None = None
    unit: str
    truth: str = Field(default="", description="What is true, and how it is known.")
    held: str = Field(default="", pattern=r"^([\d,]+ of [\d,]+)?$", description="How often the interval held it.")
    anchor: str = Field(default="", description="Another program that does the same, measured in turns.")
    anchor_value: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    saving: str = Field(default="", description="Of metered power, with its interval.")
    n: int | None = Field(default=None, ge=1, description="Runs, rounds or cases; missing: not written down.")
    command: str
    commit: str = Field(pattern=r"^[0-9a-f]{7,40}$")
    machine: str
    date: date
    quiet: bool = Field(description="Nothing else ran, as far as was noted.")


def read_records(folder: Path = FOLDER) -> dict[str, Record]:
    """Every record by its file's name, in the order of names; ValueError names a file that is not one."""
    yaml = YAML(typ="safe")
    return {path.stem: Record.model_validate(yaml.load(path)) for path in sorted(folder.glob("*.yaml"))}
