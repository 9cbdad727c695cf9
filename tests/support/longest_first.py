"""The order in which live tests begin where several run side by side: the longest first.

Tests of a file stay with one worker, as they share a lab, unless `APART` names it: its lab is the session's. A worker
always has a second group waiting behind the one that it works on, so that the shortest groups follow the longest.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from xdist.scheduler import LoadFileScheduling

SECONDS: Final = {
    "tests/playbooks/test_provisioning.py": 390,
    "tests/controller/applying/test_reachability_live.py": 60,
}
"""About how long a file's tests take, where that is more than half a minute."""

APART: Final = {
    "tests/eeectl/live/test_regulate.py": 130,
    "tests/eeectl/live/test_regulate_auto.py": 100,
    "tests/eeectl/live/test_people.py": 20,
    "tests/eeectl/live/test_verbs.py": 20,
    "tests/eeectl/live/test_faults.py": 20,
}
"""Files whose tests are handed out one by one, with the seconds of each."""


class Scheduling(LoadFileScheduling):
    """Hands out a group to a worker that has but one left."""

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid)


def _group(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return nodeid if file in APART else file


def order(items: list[pytest.Item]) -> None:
    """Order tests by their groups."""
    groups: dict[str, list[pytest.Item]] = {}
    seconds: dict[str, float] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        name = _group(item.nodeid)
        groups.setdefault(name, []).append(item)
        seconds[name] = APART.get(file, SECONDS.get(file, 0))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = [item for name in longest_first(seconds, workers) for item in groups[name]]


def longest_first(seconds: Mapping[str, float], workers: int) -> Sequence[str]:
    """The longest group of each worker, the shortest groups, and the rest from the longest on."""
    falling = sorted(seconds, key=lambda name: -seconds[name])
    first, rest = falling[:workers], falling[workers:]
    shortest = rest[len(rest) - workers :] if len(rest) > workers else []
    return (*first, *reversed(shortest), *rest[: len(rest) - len(shortest)])
