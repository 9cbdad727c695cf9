"""What travels with `eeectl` besides its modules, and how to copy it: playbooks, experiments, studies, labs, docs."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.lab.errors import LabError

_PACKAGE: Final = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Part:
    """A folder that travels with the package; `inside` is its place below the installed packages."""

    name: str
    inside: str
    about: str


PARTS: Final = (
    Part("docs", "eeectl/shipped/docs", "tutorial, how-to guides, reference and explanations"),
    Part("experiments", "eeectl/shipped/experiments", "experiment files for `eeectl run`"),
    Part("inventory", "lab/shipped", "the shipped labs, and `example` to start your own from"),
    Part("playbooks", "eeectl/shipped/playbooks", "Ansible playbooks for nodes, switches, strips and monitoring"),
    Part("studies", "eeectl/shipped/studies", "simulation studies"),
)
"""In a checkout each stands at the root under its name; pyproject.toml puts it into the wheel at `inside`."""


def place_of(part: Part, packages: Path = _PACKAGE.parent) -> Path | None:
    """The folder of a part, installed or in a checkout; None if this version has none."""
    places = (packages / part.inside, packages / part.name)
    return next((place for place in places if place.is_dir()), None)


def playbook(name: str) -> Path:
    """A playbook's file: the one in ./playbooks if there is one, else the one that travels along."""
    near = Path("playbooks") / name
    part = next(part for part in PARTS if part.name == "playbooks")
    folder = place_of(part)
    return near if near.exists() or folder is None else folder / name


def copy_examples(target: Path, packages: Path = _PACKAGE.parent) -> list[tuple[Part, int]]:
    """Copy every part to a folder of its name below `target`; the parts with their counts of files.

    LabError, and nothing is copied, if one of these folders exists.
    """
    found = [(part, place) for part in PARTS if (place := place_of(part, packages)) is not None]
    for part, _ in found:
        if (target / part.name).exists():
            raise LabError(f"{target / part.name} exists: name another folder, or move it away.")
    counts = []
    for part, place in found:
        shutil.copytree(place, target / part.name, ignore=shutil.ignore_patterns("__pycache__"))
        counts.append((part, sum(path.is_file() for path in (target / part.name).rglob("*"))))
    return counts
