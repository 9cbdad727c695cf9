"""Room in the kernel's table of IPv4 neighbours, which all network namespaces of a machine share.

Its limit is 1,024 entries from the factory (net.ipv4.neigh.default.gc_thresh3). In a lab of 66 hosts that all talk to
each other there are 4,290: without room probes get lost with "neighbour table overflow". So labs raise the limits while
they run. What each needs, and what the limits were, stands in one file for the whole machine, whatever state root a
lab has; the last lab to go puts them back.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

_LIMITS = Path("/proc/sys/net/ipv4/neigh/default")
_RECORD = Path("/run/eee-testbed.neighbours")
_NAMES = ("gc_thresh2", "gc_thresh3")  # above the first, old entries are thrown out; above the second, new ones too
_SPARE = 1024
"""For whatever else the machine does: what the kernel gives by itself."""


def entries_of(host_count: int) -> int:
    """Entries of one lab: each host knows all others on the data network, it and we each other on the other one."""
    return host_count * (host_count - 1) + 2 * host_count


def make_room(lab: Path, host_count: int, *, limits: Path = _LIMITS, record: Path = _RECORD) -> None:
    """Raise the limits if the labs that run and this one need more; `lab` is its state folder, which exists."""
    with _told(record) as told:
        now = _read(limits)
        told.setdefault("before", now)
        told.setdefault("rooms", {})[str(lab)] = entries_of(host_count)
        _forget_gone(told)
        needed = sum(told["rooms"].values()) + _SPARE
        told["set"] = {name: max(value, needed) for name, value in now.items()}
        if told["set"] != now:
            _write(limits, told["set"])


def give_room_back(lab: Path, *, limits: Path = _LIMITS, record: Path = _RECORD) -> None:
    """Put the limits back if no lab is left, unless somebody else has changed them since."""
    if not record.exists():
        return
    with _told(record) as told:
        told.get("rooms", {}).pop(str(lab), None)
        _forget_gone(told)
        if told.get("rooms"):
            return
        if "set" in told and _read(limits) == told["set"] != told["before"]:
            _write(limits, told["before"])
        told.clear()


@contextmanager
def _told(record: Path) -> Iterator[dict[str, Any]]:
    """What the file says, to be changed, by one process at a time; a file with nothing in it goes."""
    with _locked(record) as file:
        told: dict[str, Any] = json.loads(file.read() or "{}")
        yield told
        file.seek(0)
        file.truncate()
        if told:
            json.dump(told, file)
        else:
            record.unlink()


def _locked(record: Path) -> TextIO:
    """The file, locked until it is closed; one that was removed while we waited for it is opened anew."""
    while True:
        file = record.open("a+", encoding="ascii")
        fcntl.flock(file, fcntl.LOCK_EX)
        if record.exists() and record.stat().st_ino == os.fstat(file.fileno()).st_ino:
            file.seek(0)
            return file
        file.close()


def _forget_gone(told: dict[str, Any]) -> None:
    """Labs whose state folders were removed by hand."""
    rooms = told.get("rooms", {})
    told["rooms"] = {lab: entries for lab, entries in rooms.items() if Path(lab).is_dir()}


def _read(limits: Path) -> dict[str, int]:
    return {name: int((limits / name).read_text(encoding="ascii")) for name in _NAMES}


def _write(limits: Path, values: dict[str, int]) -> None:
    for name in sorted(values, reverse=True):
        (limits / name).write_text(str(values[name]), encoding="ascii")
