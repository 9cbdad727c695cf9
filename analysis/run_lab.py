"""Runs by name, and the lab of a run."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab

_USUAL_MBPS: Final = 1_000.0


def run_folder(name: str) -> Path:
    """A run's folder by its path, or by its name below `runs`; LabError if it does not exist."""
    for folder in (Path(name), Path("runs") / name):
        if (folder / "run.yaml").exists():
            return folder
    raise LabError(f"{name} is not a run's folder (it has no run.yaml): name one below runs/.")


def lab_of_run(facts: Mapping[str, Any]) -> Lab | None:
    """The lab of a run; None if its inventory does not exist any more."""
    for name in (facts.get("lab_folder"), facts.get("lab")):
        if name:
            try:
                folder = find_lab(str(name))
                return _loaded(folder, _changed(folder))
            except LabError:
                continue
    return None


@lru_cache(maxsize=4)
def _loaded(folder: Path, _changed: tuple[int, ...]) -> Lab:
    """A lab, read again when its files have changed: each pair of hosts of each run asks for it."""
    return load_lab(folder)


def _changed(folder: Path) -> tuple[int, ...]:
    """When each file was changed that an inventory may consist of."""
    paths = (path for pattern in ("*", "group_vars/**/*", "host_vars/**/*") for path in folder.glob(pattern))
    return tuple(path.lstat().st_mtime_ns for path in sorted(paths))


def link_mbps(lab: Lab | None, hosts: tuple[str, ...] = ()) -> float:
    """B of Miwa's Eq. 4: speed of the slowest node's link; 1 Gb/s without an inventory."""
    rates = [host.rate_mbps for host in lab.hosts if not hosts or host.name in hosts] if lab is not None else []
    return float(min(rates, default=_USUAL_MBPS))
