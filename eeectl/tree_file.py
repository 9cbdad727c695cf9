"""Hand-written trees: a YAML file of trees, each with its switches and cables.

::

    trees:
      - switches: [sw1, sw2]        # whose hosts send over this tree
        links: ["sw1:gi1/0/11", "sw2:gi1/0/13--sw3:gi1/0/13"]

A cable is named by its number, its two ends or one of them, as everywhere else; any cable of a LAG is the LAG.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from eee_testbed.controller.planning.wishes import Routes
from eee_testbed.lab.errors import InventoryError, PlanError, Problem, UnreadableFile
from eee_testbed.lab.model import Lab
from eee_testbed.lab.named_links import trunk_named
from eee_testbed.lab.untrusted_files import read_yaml


class WrittenTree(BaseModel):
    """One tree of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    switches: tuple[str, ...]
    links: tuple[str | int, ...]


class TreeFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    trees: tuple[WrittenTree, ...]


def read_trees(file: Path, lab: Lab) -> Routes:
    """Switches and cable numbers of each tree; InventoryError or PlanError if the file is wrong."""
    try:
        written = TreeFile.model_validate(read_yaml(file, "name a readable file of trees"))
    except UnreadableFile as error:
        raise PlanError(str(error)) from error
    except ValidationError as error:
        found = error.errors()
        keys = [".".join(str(part) for part in problem["loc"]) for problem in found]
        problems = [
            Problem(str(file), 0, key, problem["msg"], "a tree has `switches` and `links`")
            for key, problem in zip(keys, found, strict=True)
        ]
        raise InventoryError(problems) from error
    try:
        return tuple(
            (tree.switches, frozenset(trunk_named(lab, str(name)).number for name in tree.links))
            for tree in written.trees
        )
    except PlanError as error:
        raise PlanError(f"{file}: {error}") from error
