"""The table of mutants: one file an area in `areas/`, and what has to hold between the table and the code."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

AREAS: Final = (
    "check",
    "proof",
    "lockout",
    "rollback",
    "journal",
    "guards",
    "counters",
    "energy",
    "fits",
    "lpi",
    "credits",
    "routing",
    "regulation",
)
LEAST: Final = 60
"""The table never has fewer mutants than this."""

RUST_TESTS: Final = "laws"
"""The program that all integration tests of a crate are built into."""

FOLDER: Final = Path(__file__).parent / "areas"


class TableError(Exception):
    """The table is wrong, or a mutant cannot be judged: one sentence."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    file: str
    old: str
    new: str
    law: str
    tests: str
    survives: str = ""


class _Area(BaseModel):
    """`unit`: the tests of the whole area, as arguments of pytest; a Rust mutant's are those of its crate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unit: str = ""
    mutant: tuple[_Row, ...]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One line of one file becomes another, which breaks a law.

    `old` and `new` are without indentation. `tests` and `unit` are arguments of pytest, or of `cargo test` for a Rust
    file: those that should fail, and all of the area. `survives` is why no test fails today; empty if one has to.
    """

    area: str
    name: str
    file: str
    old: str
    new: str
    law: str
    tests: str
    unit: str
    survives: str = ""

    @property
    def is_rust(self) -> bool:
        """Whether its tests are run by cargo."""
        return self.file.endswith(".rs")


def read_table(folder: Path = FOLDER) -> tuple[Mutant, ...]:
    """All mutants, by area in the order of `AREAS`. TableError if a file is missing or has a wrong field."""
    found: list[Mutant] = []
    for name in AREAS:
        path = folder / f"{name}.toml"
        try:
            area = _Area.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
            raise TableError(f"{path} cannot be read: {error}") from error
        for row in area.mutant:
            unit = f"-p {_crate(row.file)}" if row.file.endswith(".rs") else area.unit
            found.append(Mutant(area=name, unit=unit, **row.model_dump()))
    return tuple(found)


def _crate(file: str) -> str:
    """The crate of a file below `engine/`."""
    parts = Path(file).parts
    return "eee_engine" if parts[1] == "src" else parts[1]


def select(table: Sequence[Mutant], only: Iterable[str]) -> tuple[Mutant, ...]:
    """The mutants of some areas, or with some names; all if nothing is named. TableError for an unknown name."""
    wanted = tuple(only)
    known = {mutant.name for mutant in table} | set(AREAS)
    for name in wanted:
        if name not in known:
            raise TableError(f"no area and no mutant is called '{name}': areas are {', '.join(AREAS)}.")
    return tuple(mutant for mutant in table if not wanted or {mutant.name, mutant.area} & set(wanted))


def mutated(text: str, mutant: Mutant) -> str:
    """A file's text with the mutant's line, indented like the old one. TableError unless that stands there once."""
    lines = text.splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if line.strip() == mutant.old]
    if len(places) != 1:
        times = "is not" if not places else f"is {len(places)} times"
        raise TableError(
            f"{mutant.area}, '{mutant.name}': its old line {times} in {mutant.file}: give the line as it is today, one "
            "that is in the file once."
        )
    line = lines[places[0]]
    lines[places[0]] = line.replace(mutant.old, mutant.new)
    return "".join(lines)


def faults_of(table: Sequence[Mutant], root: Path) -> tuple[str, ...]:
    """What is wrong with a table, for the checkout at `root`: one sentence each."""
    faults = [
        f"{count} mutants are called '{name}': give each a name of its own."
        for name, count in Counter(mutant.name for mutant in table).items()
        if count > 1
    ]
    faults += [f"area {area} has no mutant." for area in AREAS if area not in {mutant.area for mutant in table}]
    if len(table) < LEAST:
        faults.append(f"the table has {len(table)} mutants, and needs at least {LEAST}.")
    for mutant in table:
        place = f"{mutant.area}, '{mutant.name}'"
        if mutant.old == mutant.new or mutant.new.strip() != mutant.new or "\n" in mutant.new:
            faults.append(f"{place}: the new line has to be one other line, without indentation.")
        path = root / mutant.file
        if not path.is_file():
            faults.append(f"{place}: {mutant.file} does not exist.")
            continue
        try:
            mutated(path.read_text(encoding="utf-8"), mutant)
        except TableError as error:
            faults.append(str(error))
        faults += [f"{place}: {name} does not exist." for name in _files_of_tests(mutant) if not (root / name).exists()]
    return tuple(faults)


def _files_of_tests(mutant: Mutant) -> list[str]:
    """The files of the tests that a mutant names; of Rust tests, `NAME::` are those of a module."""
    if not mutant.tests.startswith("-p "):
        words = (*mutant.tests.split(), *mutant.unit.split())
        return [word.partition("::")[0] for word in words if word.startswith("tests/")]
    _, crate, *words = mutant.tests.split()
    found = [word.removesuffix("::") for word in words if word.endswith("::")]
    found += [name for option, name in pairwise(words) if option == "--test" and name != RUST_TESTS]
    return [f"engine/{crate}/tests/{name}.rs" for name in found]
