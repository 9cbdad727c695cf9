"""Room in the kernel's table of IPv4 neighbours, which all network namespaces of a machine share.

Its limit is 1,024 entries from the factory (net.ipv4.neigh.default.gc_thresh3). In a lab of 66 hosts that all talk to
each other there are 4,290: without room probes get lost with "neighbour table overflow". So a lab raises the limits
while it runs; what they were is kept in the state root, and the last lab to go puts it back.
"""

import json
from pathlib import Path

from twin.statedir import running_labs, state_root

_LIMITS = Path("/proc/sys/net/ipv4/neigh/default")
_NAMES = ("gc_thresh2", "gc_thresh3")  # above the first, old entries are thrown out; above the second, new ones too
_SPARE = 1024
"""For whatever else the machine does: what the kernel gives by itself."""


def entries_of(host_count: int) -> int:
    """Entries of one lab: each host knows all others on the data network, it and we each other on the other one."""
    return host_count * (host_count - 1) + 2 * host_count


def make_room(host_count: int, *, limits: Path = _LIMITS) -> None:
    """Raise the limits for one more lab, if those that run and it need more."""
    needed = entries_of(host_count) + sum(entries_of(len(journal.hosts)) for journal in running_labs().values())
    before = {name: int((limits / name).read_text(encoding="ascii")) for name in _NAMES}
    wanted = {name: max(value, needed + _SPARE) for name, value in before.items()}
    if wanted == before:
        return
    file = _file()
    first = json.loads(file.read_text(encoding="ascii"))["before"] if file.exists() else before
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"before": first, "set": wanted}), encoding="ascii")
    _write(limits, wanted)


def give_room_back(*, limits: Path = _LIMITS) -> None:
    """Put the limits back if no lab is left, unless somebody else has changed them since."""
    file = _file()
    if not file.exists() or running_labs():
        return
    told = json.loads(file.read_text(encoding="ascii"))
    now = {name: int((limits / name).read_text(encoding="ascii")) for name in _NAMES}
    if now == told["set"]:
        _write(limits, told["before"])
    file.unlink()


def _file() -> Path:
    return state_root() / "neighbours.json"


def _write(limits: Path, values: dict[str, int]) -> None:
    for name in sorted(values, reverse=True):
        (limits / name).write_text(str(values[name]), encoding="ascii")
