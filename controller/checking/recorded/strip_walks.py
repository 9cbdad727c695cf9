"""Readers of strips held against a recorded walk: what is read is what the recorded columns add up to. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from controller.checking.recorded.verdict import Verdict, judge
from controller.checking.recorded.walks import Recorded, below
from controller.drivers.driver import SnmpSet, SnmpValue
from controller.power.outlets import Meter
from lab.model import Strip, StripFamily

_E: Final = "1.3.6.1.4.1."


@dataclass(frozen=True, slots=True)
class _Columns:
    """`branch` shows the family; `feeds` are the columns of power of the whole strip, in `step_watt`."""

    family: StripFamily
    branch: str
    states: str
    feeds: str
    step_watt: float = 1.0
    outlets: str = ""
    """The column of power by outlet, in watts."""


_FAMILIES: Final = (
    _Columns("apc_rpdu2", "318.1.1.26.4", "318.1.1.26.9.2.3.1.5", "318.1.1.26.4.3.1.5", 10.0, "318.1.1.26.9.4.3.1.7"),
    _Columns("apc_rpdu", "318.1.1.12.1", "318.1.1.12.3.5.1.1.4", "318.1.1.12.1.16"),
    _Columns("servertech_sentry3", "1718.3.2", "1718.3.2.3.1.10", "1718.3.2.2.1.12", 1.0, "1718.3.2.3.1.14"),
    _Columns("servertech_sentry4", "1718.4.1", "1718.4.1.8.3.1.1", "1718.4.1.3.3.1.3", 1.0, "1718.4.1.8.3.1.7"),
    _Columns("eaton_g3", "534.6.6.7", "534.6.6.7.6.6.1.2", "534.6.6.7.3.5.1.4", 1.0, "534.6.6.7.6.5.1.3"),
    _Columns("cyberpower_epdu2", "3808.1.1.6.6.1", "3808.1.1.6.6.1.4.1.5", "3808.1.1.6.3.4.1.18", 1.0),
    _Columns("cyberpower_epdu", "3808.1.1.3.3.5", "3808.1.1.3.3.5.1.1.4", ""),
)


@dataclass
class _Recording:
    """Answers as the recorded device did."""

    recorded: Recorded
    sets: list[SnmpSet] = field(default_factory=list)

    def walk(self, oid: str, /) -> dict[str, SnmpValue]:
        return below(self.recorded, oid)

    def get(self, oids: Sequence[str], /) -> dict[str, SnmpValue]:
        return {oid: self.recorded.objects[oid] for oid in oids if oid in self.recorded.objects}

    def put(self, request: SnmpSet, /) -> tuple[int, int]:
        raise AssertionError(request)

    def close(self) -> None:
        return


def judge_strip(recording: str, recorded: Recorded) -> Iterator[Verdict]:
    """Verdicts on the whole strip and on its outlets, for every family whose objects it has."""
    for known in _FAMILIES:
        states = below(recorded, _E + known.states)
        feeds = below(recorded, _E + known.feeds) if known.feeds else {}
        if not below(recorded, _E + known.branch) or not (states or feeds):
            continue
        watts = below(recorded, _E + known.outlets) if known.outlets else {}
        strip = Strip("recorded", known.family, "", "", 161, "", max(1, len(states), len(watts)))
        readings: list[tuple[str, Callable[[Strip, Recorded], object], object]] = [
            ("power of the whole strip", _total, _sum(feeds, known.step_watt))
        ]
        if states:
            readings.append(("outlets that are on or off", _known, len(states)))
        if watts:
            shown = sorted(float(watt) for watt in watts.values() if isinstance(watt, int) and watt >= 0)
            readings.append(("power of all outlets", _outlets, shown))
        for reading, read, expected in readings:
            yield judge(recording, known.family, reading, partial(read, strip, recorded), expected)


def _sum(feeds: Mapping[str, SnmpValue], step_watt: float) -> float | None:
    counts = [count for count in feeds.values() if isinstance(count, int)]
    return sum(counts) * step_watt if counts and min(counts) >= 0 else None


def _total(strip: Strip, recorded: Recorded) -> float | None:
    return Meter(strip, _Recording(recorded)).read().total.power_watt


def _known(strip: Strip, recorded: Recorded) -> int:
    return sum(outlet.on is not None for outlet in Meter(strip, _Recording(recorded)).read().outlets)


def _outlets(strip: Strip, recorded: Recorded) -> list[float]:
    powers = (outlet.meter.power_watt for outlet in Meter(strip, _Recording(recorded)).read().outlets)
    return sorted(power for power in powers if power is not None)
