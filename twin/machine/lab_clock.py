"""Lab time of a virtual lab: its clock's page, the library that its processes preload, and their environment.

Lab time is a continuous, strictly increasing, piecewise linear function of the wall's time (`engine/lab_clock`). Every
process of the lab preloads a library by which its clocks, sleeps and timeouts follow the lab's page. Not reached:
statically linked programs, raw system calls by instruction (Go), and programs for which the loader ignores LD_PRELOAD
(set-user-ID, file capabilities); `outsiders` finds them.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from eee_engine import LabClock, lab_clock_library, lab_clock_rate

from eee_testbed.lab.errors import LabError

HOST_PAGE: Final = "/dev/lab_clock"
"""Where a host sees the page."""

_LIBRARIES: Final = Path("/var/cache/eee-testbed")
"""The library is kept, as a lab's folder in /run may forbid programs; hosts see it below their own root."""


def library() -> Path:
    """The file of the preloaded library, written if it is missing; LabError if it cannot be."""
    text = lab_clock_library()
    path = _LIBRARIES / f"lab_clock-{hashlib.sha256(text).hexdigest()[:16]}.so"
    if not path.exists():
        fresh = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            fresh.write_bytes(text)
            fresh.chmod(0o644)
            fresh.replace(path)
        except OSError as error:
            raise LabError(f"{path} cannot be written: {error.strerror}; a lab with a rate needs it.") from error
    return path


def rate_of(text: str) -> str:
    """A rate in lowest terms, such as 1/10; or "auto" or "auto:2us"; LabError for anything else."""
    try:
        return lab_clock_rate(text)
    except ValueError as error:
        raise LabError(f"{error}.") from error


def make_page(path: Path) -> None:
    """Make a clock that shows the wall's time; LabError if it cannot be written."""
    try:
        LabClock.create(path)
    except OSError as error:
        raise LabError(f"{error}.") from error


def environment(page: str, before: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a process needs in its environment to live in lab time; `before` is the environment that it has."""
    preloaded = (before or {}).get("LD_PRELOAD", "")
    preload = str(library())
    return {"LAB_CLOCK": page, "LD_PRELOAD": f"{preload}:{preloaded}" if preloaded else preload}


def host_environment(cpu_ratio: float | None) -> dict[str, str]:
    """Environment of a host's processes: lab time, and the number of cores that they compute like."""
    speed = {} if cpu_ratio is None else {"LAB_CPU_RATIO": f"{cpu_ratio:.17g}"}
    return {**environment(HOST_PAGE), **speed}


def outsiders(processes: Iterable[int]) -> dict[int, str]:
    """Processes that have not preloaded the library: names by process number, without those that have ended."""
    outside = {}
    for number in processes:
        process = Path("/proc") / str(number)
        try:
            maps = (process / "maps").read_text(encoding="utf-8", errors="replace")
            name = (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
        if maps and "/lab_clock-" not in maps:
            outside[number] = name
    return outside
