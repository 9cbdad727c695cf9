"""Raises the limits of the kernel's IPv4 neighbour table, which all network namespaces of a machine share.

The default limit is 1,024 entries (net.ipv4.neigh.default.gc_thresh3). A lab of 66 hosts that all talk to each other
needs 4,290: beyond the limit probes are lost with "neighbour table overflow". So labs raise the limits while they run.
One file for the whole machine, whatever state root a lab has, records what each lab needs and what the limits were;
the last lab restores them.

A kernel shows the limits only in its first network. In a container with a network of its own they stay as they are, and
more than 30 hosts that all talk to each other need higher ones, set outside.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from eee_testbed.lab.json_text import parse_object
from eee_testbed.lab.untrusted_files import lose

_LIMITS = Path("/proc/sys/net/ipv4/neigh/default")
_RECORD = Path("/run/eee-testbed.neighbours")
_NAMES = (
    "gc_thresh2",
    "gc_thresh3",
)  # above the first, old entries are evicted; above the second, new ones are refused
_ANEW = "it is begun anew, and the present limits count as those before"
_SPARE = 1024
"""For everything else on the machine: the kernel's default."""


def entries_needed(host_count: int) -> int:
    """Entries of one lab: each host has every other on the data network; host and machine have each other as well."""
    return host_count * (host_count - 1) + 2 * host_count


def raise_limits(lab: Path, host_count: int, *, limits: Path = _LIMITS, record: Path = _RECORD) -> None:
    """Raise the limits if the running labs and this one need more; `lab` is its state folder, which exists."""
    with _open_record(record) as state:
        now = _read(limits)
        state.setdefault("before", now)
        state.setdefault("rooms", {})[str(lab)] = entries_needed(host_count)
        _drop_removed(state)
        needed = sum(state["rooms"].values()) + _SPARE
        state["set"] = {name: max(value, needed) for name, value in now.items()}
        if state["set"] != now:
            _write(limits, state["set"])


def restore_limits(lab: Path, *, limits: Path = _LIMITS, record: Path = _RECORD) -> None:
    """Restore the limits if no lab is left, unless somebody else has changed them since."""
    if not record.exists():
        return
    with _open_record(record) as state:
        state.get("rooms", {}).pop(str(lab), None)
        _drop_removed(state)
        if state.get("rooms"):
            return
        if "set" in state and _read(limits) == state["set"] != state["before"]:
            _write(limits, state["before"])
        state.clear()


@contextmanager
def _open_record(record: Path) -> Iterator[dict[str, Any]]:
    """Read the file, let the caller change it, and write it; one process at a time. Remove an empty record."""
    with _locked(record) as file:
        state = _state_in(file.read(), record)
        yield state
        file.seek(0)
        file.truncate()
        if state:
            json.dump(state, file)
        else:
            record.unlink()


def _state_in(text: str, record: Path) -> dict[str, Any]:
    """The content of the file; if it is damaged it is lost (DamagedPart), and the limits stay as they are."""
    try:
        state = parse_object(text or "{}")
    except ValueError as error:
        lose(record, 0, f"{_ANEW}: {error}")
        return {}
    parts = [state.get(name, {}) for name in ("rooms", "set", "before")]
    if all(isinstance(part, dict) and all(isinstance(n, int) for n in part.values()) for part in parts):
        return state
    lose(record, 0, f"{_ANEW}: it does not hold numbers")
    return {}


def _locked(record: Path) -> TextIO:
    """Open the file, locked until it is closed; open it anew if it was removed while this process waited."""
    while True:
        file = record.open("a+", encoding="ascii", errors="replace")
        fcntl.flock(file, fcntl.LOCK_EX)
        if record.exists() and record.stat().st_ino == os.fstat(file.fileno()).st_ino:
            file.seek(0)
            return file
        file.close()


def _drop_removed(state: dict[str, Any]) -> None:
    """Drop labs whose state folders were removed by hand."""
    rooms = state.get("rooms", {})
    state["rooms"] = {lab: entries for lab, entries in rooms.items() if Path(lab).is_dir()}


def _read(limits: Path) -> dict[str, int]:
    files = [limits / name for name in _NAMES]
    return {file.name: int(file.read_text(encoding="ascii")) for file in files if file.exists()}


def _write(limits: Path, values: dict[str, int]) -> None:
    for name in sorted(values, reverse=True):
        (limits / name).write_text(str(values[name]), encoding="ascii")
