"""The reader of ports' counters held against a recorded walk. Pure.

What is right is stated beside the walk (`counters`: a port's name to its counters by name, null where a counter has to
be missing). Without that what is read is said, and a law is held against it, by the recording's own octets: a port that
carried megabytes did not do so in no frame.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from eee_testbed.controller.checking.recorded.verdict import Stated, Verdict, judge, only_read
from eee_testbed.controller.checking.recorded.walks import Recorded, below
from eee_testbed.controller.drivers.driver import SnmpValue
from eee_testbed.controller.drivers.mib_rows import text_of
from eee_testbed.controller.drivers.places import IF_NAME
from eee_testbed.lab.model import Port, Switch
from eee_testbed.measuring.collecting.port_counters import COUNTERS, OPER_STATUS
from eee_testbed.measuring.collecting.port_source import PortSource
from eee_testbed.record.run_clock import RunClock

_READING: Final = "counters of ports"
_IN_BYTE: Final = COUNTERS[0]
_ETHERNET: Final = (6, 117)
_MUCH_BYTE: Final = 2**20
_IF_TYPE: Final = "1.3.6.1.2.1.2.2.1.3"


class _Recording:
    """Answers as the recorded agent did."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded

    def walk(self, oid: str, rows: int = 0, /) -> dict[str, SnmpValue]:
        del rows
        return below(self._recorded, oid)

    def get(self, oids: Sequence[str], /) -> dict[str, SnmpValue]:
        return {oid: self._recorded.objects[oid] for oid in oids if oid in self._recorded.objects}

    def close(self) -> None:
        return


def judge_counters(recording: str, device: str, recorded: Recorded, stated: Stated) -> Iterator[Verdict]:
    """A verdict on what is read of each port's counters; none for a walk that has no counter."""
    if not below(recorded, _IN_BYTE.oid) and not below(recorded, _IN_BYTE.narrow):
        return
    expected = stated.get("counters")
    if expected is None:
        ports = _ports(recorded)
        yield only_read(recording, device, _READING, partial(_totals, ports, recorded))
        yield judge(recording, device, "octets carried in no frame", partial(_in_no_frame, ports, recorded), [])
        return
    for port, counters in expected.items():
        read = partial(_of_port, str(port), counters, recorded)
        yield judge(recording, device, f"{_READING}: {port}", read, dict(counters))


def _ports(recorded: Recorded) -> list[str]:
    """Ethernet interfaces that are up, by ifName; all of them if none says so."""
    kinds, states = below(recorded, _IF_TYPE), below(recorded, OPER_STATUS)
    names = {index: text_of(value).strip() for index, value in below(recorded, IF_NAME.oid).items()}
    ports = {index: name for index, name in names.items() if name and (not kinds or kinds.get(index) in _ETHERNET)}
    return [name for index, name in ports.items() if states.get(index) == 1] or list(ports.values())


def _read(ports: Sequence[str], recorded: Recorded) -> Mapping[str, Mapping[str, int | None]]:
    listed = tuple(Port("recorded", name, number, 1000) for number, name in enumerate(ports, 1))
    switch = Switch("recorded", "cisco_sg", "", "", 22, 161, "", "", "", listed)
    columns: Mapping[str, Any] = PortSource(switch, lambda: _Recording(recorded)).read(RunClock()).batch.columns
    return {
        name: {counter.name: columns[counter.name][place] if counter.name in columns else None for counter in COUNTERS}
        for place, name in enumerate(ports)
    }


def _of_port(port: str, expected: Mapping[str, Any], recorded: Recorded) -> Mapping[str, object]:
    counters = _read([port], recorded)[port]
    return {name: counters.get(name, "no such counter") for name in expected}


def _totals(ports: Sequence[str], recorded: Recorded) -> Mapping[str, object]:
    """Sums over all ports, unknown where a port's counter is missing."""
    counters = _read(ports, recorded)
    totals: dict[str, int | None] = {}
    for counter in COUNTERS:
        values = [held[counter.name] for held in counters.values()]
        totals[counter.name] = None if None in values else sum(value or 0 for value in values)
    return totals


def _in_no_frame(ports: Sequence[str], recorded: Recorded) -> list[str]:
    """Ports and directions of which megabytes are recorded and not one frame is read, though none is missing."""
    names = {text_of(value).strip(): index for index, value in below(recorded, IF_NAME.oid).items()}
    complaints = []
    for port, counters in _read(ports, recorded).items():
        for octets in (counter for counter in COUNTERS if counter.name.endswith("_byte")):
            way = octets.name.removesuffix("_byte")
            frames = [counters[f"{way}_{cast}_frame"] for cast in ("unicast", "multicast", "broadcast")]
            recorded_byte = below(recorded, octets.oid).get(names[port], 0)
            if isinstance(recorded_byte, int) and recorded_byte > _MUCH_BYTE and not any(frames) and None not in frames:
                complaints.append(f"{port} {way}")
    return complaints
