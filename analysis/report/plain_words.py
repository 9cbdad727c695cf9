"""What findings call a program's placement and a state of the lab: as people say it, where tables have short names."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from eee_testbed.analysis.configurations import STREAM, Factors, State
from eee_testbed.lab.counted_text import counted
from eee_testbed.record.trial_events import Level

_PLACEMENT: Final = re.compile(r"(?P<program>.+) (?P<hosts>\d+)x(?P<ranks>\d+)")


def placed(placement: str) -> str:
    """A program with its hosts and ranks.

    >>> placed("relax 2x1"), placed("halo 1x4"), placed("cg 4x2")
    ('relax on 2 hosts', 'halo on 1 host with 4 ranks', 'cg on 4 hosts with 2 ranks each')
    """
    found = _PLACEMENT.fullmatch(placement)
    if found is None:
        return placement
    hosts, ranks = int(found["hosts"]), int(found["ranks"])
    where = f"{found['program']} on {counted(hosts, 'host')}"
    return where if ranks < 2 else f"{where} with {ranks} ranks{'' if hosts == 1 else ' each'}"


def state_words(factors: Factors, state: State) -> str:
    """A state of the lab; a factor with a name of its own keeps it.

    >>> state_words(Factors(), (("eee", "on"), ("hold_us", 100), ("speed_mbps", 100)))
    'EEE on, a hold of 100 µs, links at 100 Mb/s'
    """
    return ", ".join(_setting(factors, name, level) for name, level in state) or "the lab as it is"


def _setting(factors: Factors, name: str, level: Level) -> str:
    kind = factors.kind(name)
    if name == STREAM:
        return f"a stream from {level}"
    if kind not in _WORDS:
        return f"{name} {level}"
    of = "" if name == kind else f" of {name}"
    return _WORDS[kind](of, level)


def _eee(of: str, level: Level) -> str:
    return f"EEE{of} {'on' if level in ('on', True) else 'off' if level in ('off', False) else level}"


def _speed(of: str, level: Level) -> str:
    return f"links{of} at {'full speed' if level == 'auto' else f'{level:,} Mb/s'}"


_WORDS: Final[Mapping[str, Callable[[str, Level], str]]] = {
    "eee": _eee,
    "hold_us": lambda of, level: f"a hold{of} of {level} µs",
    "link": lambda of, level: f"links{of} {level}",
    "speed_mbps": _speed,
}
"""What settings are called, by the kind of their factor."""
