"""The lab that a command works on: the one that is named, or else the one that a person most likely means."""

import os
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab, operand_of
from eee_testbed.lab.model import Lab
from eee_testbed.twin.machine.statedir import StateDir, hidden_labs, running_labs, state_of

_HELP: Final = (
    "Name of a lab, or its folder. Default: the environment variable EEE_LAB, else the only virtual lab that is "
    "running, else `virtual`."
)

LabName = Annotated[str, Parameter(name="--lab", help=_HELP)]
"""The parameter of every verb: `--lab LAB`, or the first word where a verb has no other object than a lab."""

NamedLab = Annotated[str, Parameter(name="--lab")]
"""The same where another lab is meant if none is named; the verb's docstring says which."""


def chosen(name: str) -> str:
    """Return the lab that was named, else the one in EEE_LAB, else the only one that is running, else `virtual`.

    LabError for a folder whose name is that of a lab that is up from another folder: virtual labs go by their names.
    """
    name = _meant(name)
    _require_same(name)
    return name


def _meant(name: str) -> str:
    name = name or os.environ.get("EEE_LAB", "")
    if name:
        return name
    running = {*running_labs(), *hidden_labs()}
    return running.pop() if len(running) == 1 else "virtual"


def _require_same(name: str) -> None:
    folder = Path(name).resolve()
    if "/" not in name or not (folder / "hosts.yml").exists() or folder.name in hidden_labs():
        return
    journal = StateDir(folder.name).load()
    if journal is not None and Path(journal.folder).resolve() != folder:
        raise LabError(
            f"lab {folder.name} was brought up from {journal.folder}, not from {folder}: take it down first."
        )


def lab_operand(name: str = "") -> str:
    """What names the lab for everything below: a name or folder that `find_lab` knows; LabError if no lab is meant.

    A lab that was brought up from a folder elsewhere goes by its name while it is up. A folder is what it says: another
    inventory of the same devices may have the name of a lab that is up.
    """
    named = _meant(name)
    try:
        find_lab(named)
    except LabError:
        journal = running_labs().get(named)
        if journal is None or not (Path(journal.folder) / "hosts.yml").exists():
            raise
        return journal.folder
    return named


def known_lab(name: str = "") -> Lab:
    """The lab's inventory; nothing is asked whether anything answers."""
    return load_lab(find_lab(lab_operand(name)))


def lab_in_reach(name: str = "") -> Lab:
    """The lab, for a verb that talks to its devices; LabError in one sentence if it is virtual and not up."""
    lab = known_lab(name)
    require_up(lab)
    return lab


def require_up(lab: Lab) -> None:
    """LabError if the twin holds the lab's keys and secrets, and the lab is not up, or is another user's.

    A lab with keys of its own is a rack's, or somebody else's twin: only its devices can say whether they are there.
    """
    state = StateDir(lab.name)
    names = [
        *(
            name
            for switch in lab.switches
            for name in (switch.known_hosts_file, switch.password_file, switch.community_file)
        ),
        *(switch.community_file for switch in lab.strips),
    ]
    held = [Path(name) for name in names if name.startswith(f"{state.path}/")]
    if not held:
        return
    journal = state.load()
    if journal is None and any(path.exists() for path in held):
        return  # somebody keeps keys there without a lab of ours
    answer = {"down": "is down", "starting": "is still being brought up", "crashed": "has crashed"}.get(
        state_of(journal)
    )
    if answer is not None:
        raise LabError(f"lab {lab.name} {answer}: `eeectl lab up {operand_of(lab)}` brings it up.")
