"""Names that complete a command line: labs, runs, programs, and what the lab on the line has."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import STATE_ROOT, find_lab, known_labs, load_lab
from eee_testbed.lab.model import Lab

_NEWEST: Final = 50


def names_of(kind: str, words: Sequence[str]) -> list[str]:
    """Names of a kind for a command line of these words; none if its lab cannot be read."""
    if kind == "lab":
        return sorted({*known_labs(), *_running()})
    if kind == "run":
        return _runs()
    if kind == "program":
        return _programs()
    try:
        lab = load_lab(_lab_folder(words))
    except LabError:
        return []
    return list(_OF_LAB[kind](lab))


def _running() -> list[str]:
    """Labs that have a state folder which this user may see."""
    try:
        return sorted(path.parent.name for path in _state_root().glob("*/lab.json"))
    except OSError:
        return []


def _state_root() -> Path:
    return Path(os.environ.get("EEE_STATE_DIR", STATE_ROOT))


def _lab_folder(words: Sequence[str]) -> Path:
    """The lab on the line: after `--lab`, or a word that is a lab; else EEE_LAB, the only one that runs, `virtual`."""
    named = [word.partition("=")[2] for word in words if word.startswith("--lab=")]
    named += [after for word, after in pairwise(words) if word == "--lab"]
    labs = known_labs()
    named += [word for word in words if word in labs or (Path(word) / "hosts.yml").is_file()]
    running = _running()
    named += [os.environ.get("EEE_LAB", ""), *(running if len(running) == 1 else [])]
    return find_lab(next((name for name in named if name), "virtual"))


def _runs() -> list[str]:
    """Folders of runs below ./runs, the newest first, and no more than a screen of them."""
    folders = sorted((path.parent for path in Path("runs").glob("*/run.yaml")), reverse=True)
    return [str(path) for path in folders[:_NEWEST]]


def _programs() -> list[str]:
    from eee_testbed.benchmarks.table import PROGRAMS  # noqa: PLC0415 - only this kind needs it

    return list(PROGRAMS)


def _ends(lab: Lab) -> Iterator[str]:
    """Ends of cables and LAGs at switches, then hosts, whose name stands for their cable."""
    switches = {switch.name for switch in lab.switches}
    for link in lab.links:
        yield from (str(end) for end in (link.a, link.b) if end.device in switches)
    for lag in lab.lags:
        yield from (str(lag.link.a), str(lag.link.b))
    yield from (host.name for host in lab.hosts)


_OF_LAB: Final[Mapping[str, Callable[[Lab], Iterator[str]]]] = {
    "host": lambda lab: (host.name for host in lab.hosts),
    "switch": lambda lab: (switch.name for switch in lab.switches),
    "device": lambda lab: iter([*(switch.name for switch in lab.switches), *(host.name for host in lab.hosts)]),
    "strip": lambda lab: (strip.name for strip in lab.strips),
    "outlet": lambda lab: (
        word for one in lab.outlets for word in dict.fromkeys((f"{one.strip}:{one.number}", one.feeds))
    ),
    "end": _ends,
}
