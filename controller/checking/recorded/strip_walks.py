"""Readers of strips held against a recorded walk. Pure.

What is right is stated beside the walk (`strip`: `family`, `outlets`, and `total_watt`, `outlets_watt`, `unread`), or
is what the recorded columns add up to, of the first unit of a chain. A family whose columns do not add up by themselves
(scales and validity by sensor) is only read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from eee_testbed.controller.checking.recorded.verdict import Stated, Verdict, judge, only_read
from eee_testbed.controller.checking.recorded.walks import Recorded, below
from eee_testbed.controller.drivers.driver import SnmpSet, SnmpValue
from eee_testbed.controller.strips.family import StripReading
from eee_testbed.controller.strips.outlets import Meter
from eee_testbed.controller.strips.table import METER_FAMILIES
from eee_testbed.lab.model import Strip, StripFamily

_ENTERPRISES: Final = "1.3.6.1.4.1."


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

    head: str = ""
    """Rows of the first unit of a chain begin so."""


_FAMILIES: Final = (
    _Columns("apc_rpdu2", "318.1.1.26.4", "318.1.1.26.9.2.3.1.5", "318.1.1.26.4.3.1.5", 10.0, "318.1.1.26.9.4.3.1.7"),
    _Columns("apc_rpdu", "318.1.1.12.1", "318.1.1.12.3.5.1.1.4", "318.1.1.12.1.16"),
    _Columns("servertech_sentry3", "1718.3.2", "1718.3.2.3.1.10", "1718.3.2.2.1.12", 1.0, "1718.3.2.3.1.14"),
    _Columns("servertech_sentry4", "1718.4.1", "1718.4.1.8.3.1.1", "1718.4.1.3.3.1.3", 1.0, "1718.4.1.8.3.1.7"),
    _Columns("eaton_g3", "534.6.6.7", "534.6.6.7.6.6.1.2", "534.6.6.7.3.5.1.4", 1.0, "534.6.6.7.6.5.1.3", "0."),
    _Columns("cyberpower_epdu2", "3808.1.1.6.6.1", "3808.1.1.6.6.1.4.1.5", "3808.1.1.6.3.4.1.18", 1.0),
    _Columns("cyberpower_epdu", "3808.1.1.3.3.5", "3808.1.1.3.3.5.1.1.4", ""),
)
_ONLY_READ: Final = (
    _Columns("raritan_px", "13742.6", "13742.6.4.1.2.1.3.1", "13742.6.5.2.3.1.4.1"),
    _Columns("gude", "28507.58", "28507.58.1.3.1.2.1.3", "28507.58.1.5.1.2.1.4"),
)


@dataclass
class _Recording:
    """Answers as the recorded device did."""

    recorded: Recorded

    def walk(self, oid: str, /) -> dict[str, SnmpValue]:
        return below(self.recorded, oid)

    def get(self, oids: Sequence[str], /) -> dict[str, SnmpValue]:
        return {oid: self.recorded.objects[oid] for oid in oids if oid in self.recorded.objects}

    def put(self, request: SnmpSet, /) -> tuple[int, int]:
        raise AssertionError(request)

    def close(self) -> None:
        return


def judge_strip(recording: str, recorded: Recorded, stated: Stated | None = None) -> Iterator[Verdict]:
    """Verdicts on the whole strip and on its outlets, for every family whose objects it has, or the one stated."""
    if stated is not None and "strip" in stated:
        yield from _judge_stated(recording, recorded, stated["strip"])
        return
    for known in (*_FAMILIES, *_ONLY_READ):
        states = _rows(recorded, known, known.states)
        feeds = _rows(recorded, known, known.feeds)
        if not below(recorded, _ENTERPRISES + known.branch) or not (states or feeds):
            continue
        watts = _rows(recorded, known, known.outlets)
        strip = Strip("recorded", known.family, "", "", 161, "", max(len(states), len(watts)))
        if known in _ONLY_READ:
            yield only_read(recording, known.family, "strip", partial(_summary, strip, recorded))
            continue
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


def _rows(recorded: Recorded, known: _Columns, column: str) -> dict[str, SnmpValue]:
    """The rows of a column that are of the first unit."""
    if not column:
        return {}
    return {row: value for row, value in below(recorded, _ENTERPRISES + column).items() if row.startswith(known.head)}


def _judge_stated(recording: str, recorded: Recorded, stated: Mapping[str, Any]) -> Iterator[Verdict]:
    """Verdicts on all that is stated, under its own names."""
    family = next((known for known in METER_FAMILIES if known == stated.get("family")), None)
    count = stated.get("outlets")
    if family is None or not isinstance(count, int):
        known = ", ".join(METER_FAMILIES)
        yield Verdict(recording, "strip", "strip", "unread", f"state `family` (one of {known}) and `outlets`")
        return
    strip = Strip("recorded", family, str(stated.get("model", "")), "", 161, "", count, unit=int(stated.get("unit", 0)))
    for name in stated.keys() - {"family", "outlets", "model", "unit"}:
        if name not in _STATED_READINGS:
            yield Verdict(
                recording, family, name, "unread", f"nothing of that name is read: state {', '.join(_STATED_READINGS)}"
            )
            continue
        yield judge(recording, family, name, partial(_STATED_READINGS[name], strip, recorded), stated[name])


def _summary(strip: Strip, recorded: Recorded) -> Mapping[str, object]:
    return {name: read(strip, recorded) for name, read in _STATED_READINGS.items()}


def _reading(strip: Strip, recorded: Recorded) -> StripReading:
    return Meter(strip, _Recording(recorded)).read()


_STATED_READINGS: Final[Mapping[str, Callable[[Strip, Recorded], object]]] = {
    "total_watt": lambda strip, recorded: _reading(strip, recorded).total.power_watt,
    "total_joule": lambda strip, recorded: _reading(strip, recorded).total.energy_joule,
    "unread": lambda strip, recorded: list(_reading(strip, recorded).unread),
    "outlets_on": lambda strip, recorded: [outlet.on for outlet in _reading(strip, recorded).outlets],
    "outlets_watt": lambda strip, recorded: [one.meter.power_watt for one in _reading(strip, recorded).outlets],
}
"""What may be stated about a strip; null where it has to be unknown."""


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
