"""The MPI records of an OTF2 archive as rows of numbers, read in a process of its own.

The library is in C and trusts the archive: a damaged one can end the process, and what it prints belongs to nobody. So
`events_of` starts this file as a program, which writes what it read into a folder, and gives up with one sentence.
"""

import json
import os
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

import numpy as np

from eee_testbed.lab.errors import LabError, UnreadableFile

_REMEDY: Final = "record the program again, or restore the archive from a copy"
_MOST_S: Final = 3600.0
_NO_PACKAGE: Final = 3
_UNREADABLE: Final = 4
_SIGN: Final = 1 << 63


class Kind(IntEnum):
    """Kinds of rows. Columns `a` to `f` hold what a record has, in the order of the comment."""

    ENTER = 0  # region
    LEAVE = 1  # region
    SEND = 2  # receiver, communicator, tag, bytes
    ISEND = 3  # receiver, communicator, tag, bytes, request
    ISEND_COMPLETE = 4  # request
    IRECV_REQUEST = 5  # request
    RECV = 6  # sender, communicator, tag, bytes
    IRECV = 7  # sender, communicator, tag, bytes, request
    CANCELLED = 8  # request
    TEST = 9  # request
    COLLECTIVE = 10  # operation, communicator, root, bytes sent, bytes received
    COLLECTIVE_REQUEST = 11  # request
    COLLECTIVE_COMPLETE = 12  # operation, communicator, root, bytes sent, bytes received, request
    OFF = 13
    ON = 14
    ONE_SIDED = 15
    FLUSH = 16  # end


ROW: Final = np.dtype([(name, "<i8") for name in ("rank", "kind", "time", "a", "b", "c", "d", "e", "f")])
_WIDTH: Final = len(ROW.names or ())


@dataclass(frozen=True, slots=True)
class Archive:
    """What an archive says.

    `regions` are the names of MPI functions by number. A communicator is its world ranks, None for MPI_COMM_SELF, or an
    empty list for one between two groups. `rows` are ordered by rank and time.
    """

    ranks: int
    ticks_per_s: int
    regions: dict[int, str]
    communicators: list[list[int] | None]
    names: list[str]
    rows: Any


def events_of(anchor: Path) -> Archive:
    """Read an archive by its anchor file; UnreadableFile says what is wrong with it, LabError that otf2 is missing."""
    with tempfile.TemporaryDirectory(prefix="otf2-") as place:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", __name__, str(anchor.absolute()), place]
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_MOST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UnreadableFile(str(anchor), 0, f"was not read within {_MOST_S:g} s", _REMEDY) from None
        if done.returncode == _NO_PACKAGE:
            raise LabError("OTF2 archives need the package otf2: run `pip install 'eee-testbed[traces]'`.")
        if done.returncode == _UNREADABLE:
            sentence = (Path(place) / "sentence").read_text(encoding="utf-8")
            raise UnreadableFile(str(anchor), 0, sentence, _REMEDY)
        if done.returncode != 0:
            raise UnreadableFile(str(anchor), 0, "is damaged: the library that read it failed", _REMEDY)
        return load(Path(place))


def load(folder: Path) -> Archive:
    """What `main` has written."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    regions = {int(number): name for number, name in about.pop("regions").items()}
    return Archive(**about, regions=regions, rows=np.load(folder / "rows.npy"))


class Unusable(Exception):
    """An archive that cannot be replayed; the text goes on after its name."""


def main(anchor: str, folder: str) -> int:
    """Read an archive and write it to a folder; the exit status says how that went."""
    try:
        import otf2  # noqa: PLC0415 - an optional package
    except ImportError:
        return _NO_PACKAGE
    try:
        events = read(otf2, anchor)
    except Unusable as error:
        sentence = str(error)
    except TypeError:  # version 3.2 of the package cannot make an object of an inter-communicator
        sentence = "has definitions that the package otf2 cannot read, such as inter-communicators"
    except Exception as error:  # noqa: BLE001 - the library raises many kinds of damaged archives
        said = " ".join(str(error).split())[:200]
        sentence = f"is damaged or no OTF2 archive ({type(error).__name__}: {said})"
    else:
        about = {one.name: getattr(events, one.name) for one in fields(events) if one.name != "rows"}
        (Path(folder) / "about.json").write_text(json.dumps(about), encoding="utf-8")
        np.save(Path(folder) / "rows.npy", events.rows)
        return 0
    (Path(folder) / "sentence").write_text(sentence, encoding="utf-8")
    return _UNREADABLE


def read(otf2: Any, anchor: str) -> Archive:
    """An archive; Unusable, or whatever the library raises."""
    with otf2.reader.open(anchor) as trace:
        definitions = trace.definitions
        locations = _locations(otf2, definitions)
        reading = _Reading(otf2, definitions, locations)
        expected = sum(location.number_of_events for location in definitions.locations)
        seen = 0
        for location, event in trace.events:
            seen += 1
            reading.take(location, event)
        if seen < expected:
            raise Unusable(f"is cut off: it has {seen} of its {expected} records")
        ticks_per_s = int(trace.timer_resolution)
        communicators = [_members(otf2, one, locations) for one in definitions.comms]
        names = [str(one.name) for one in definitions.comms]
    if ticks_per_s <= 0:
        raise Unusable("has a clock that does not run")
    return Archive(len(locations), ticks_per_s, reading.regions, communicators, names, reading.rows())


def _locations(otf2: Any, definitions: Any) -> dict[Any, int]:
    """The rank of each location that is one."""
    mpi = otf2.Paradigm.MPI
    for group in definitions.groups:
        if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == mpi and len(group.members):
            return {location: rank for rank, location in enumerate(group.members)}
    raise Unusable("has no MPI ranks, so there is no program to replay")


def _members(otf2: Any, communicator: Any, locations: dict[Any, int]) -> list[int] | None:
    if isinstance(communicator, otf2.definitions.InterComm):
        return []
    group = communicator.group
    if group.group_type == otf2.GroupType.COMM_SELF:
        return None
    if group.paradigm != otf2.Paradigm.MPI or group.group_type != otf2.GroupType.COMM_GROUP:
        return []
    return [locations[member] for member in group.members]


class _Reading:
    """Turns events into rows. Only regions of MPI are kept: a program's own are transparent."""

    def __init__(self, otf2: Any, definitions: Any, locations: dict[Any, int]) -> None:
        self._locations = locations
        self._mpi = otf2.Paradigm.MPI
        self._numbers = array("q")
        self._communicators = {one: number for number, one in enumerate(definitions.comms)}
        self._region_numbers: dict[Any, int] = {}
        self.regions: dict[int, str] = {}
        for number, region in enumerate(definitions.regions):
            if region.paradigm == self._mpi:
                self._region_numbers[region] = number
                self.regions[number] = str(region.name)
        self._modes = otf2.MeasurementMode
        self._probed: dict[tuple[int, int], tuple[int, int, int]] = {}
        self._requested: dict[tuple[int, int], tuple[int, int, int]] = {}
        events = otf2.events
        self._takers: dict[type, Callable[[int, Any], None]] = {
            events.Enter: self._enter,
            events.Leave: self._leave,
            events.MpiSend: self._send,
            events.MpiIsend: self._isend,
            events.MpiIsendComplete: self._plain(Kind.ISEND_COMPLETE),
            events.MpiIrecvRequest: self._plain(Kind.IRECV_REQUEST),
            events.MpiRecv: self._receive,
            events.MpiIrecv: self._ireceive,
            events.MpiRequestCancelled: self._plain(Kind.CANCELLED),
            events.MpiRequestTest: self._plain(Kind.TEST),
            events.MpiCollectiveEnd: self._collective,
            events.NonBlockingCollectiveRequest: self._plain(Kind.COLLECTIVE_REQUEST),
            events.NonBlockingCollectiveComplete: self._collective_complete,
            events.MeasurementOnOff: self._measurement,
            events.BufferFlush: lambda rank, event: self._row(rank, Kind.FLUSH, event.time, event.stop_time),
            events.RmaPut: self._one_sided,
            events.RmaGet: self._one_sided,
            events.RmaAtomic: self._one_sided,
            **self._of_probes(events),
        }
        self._elsewhere = frozenset({events.MpiSend, events.MpiIsend, events.MpiRecv, events.MpiIrecv})

    def take(self, location: Any, event: Any) -> None:
        """One event."""
        rank = self._locations.get(location)
        if rank is not None:
            taker = self._takers.get(type(event))
            if taker is not None:
                taker(rank, event)
        elif type(event) in self._elsewhere:
            raise Unusable("has messages of threads beside those of the ranks, whose order is unknown")

    def rows(self) -> Any:
        """All rows, ordered by rank; those of a rank are in the order of the archive."""
        flat = np.frombuffer(self._numbers, dtype=np.int64) if self._numbers else np.zeros(0, dtype=np.int64)
        rows = flat.reshape(-1, _WIDTH)
        return np.ascontiguousarray(rows[np.argsort(rows[:, 0], kind="stable")]).view(ROW).reshape(-1)

    def _row(self, rank: int, kind: Kind, time: int, *numbers: int) -> None:
        self._numbers.extend((rank, kind, _signed(time), *map(_signed, numbers), *(0,) * (6 - len(numbers))))

    def _plain(self, kind: Kind) -> Callable[[int, Any], None]:
        return lambda rank, event: self._row(rank, kind, event.time, event.request_id)

    def _enter(self, rank: int, event: Any) -> None:
        number = self._region_numbers.get(event.region)
        if number is not None:
            self._row(rank, Kind.ENTER, event.time, number)

    def _leave(self, rank: int, event: Any) -> None:
        number = self._region_numbers.get(event.region)
        if number is not None:
            self._row(rank, Kind.LEAVE, event.time, number)

    def _message(self, rank: int, kind: Kind, event: Any, peer: int, *more: int) -> None:
        number = self._communicators[event.communicator]
        self._row(rank, kind, event.time, peer, number, event.msg_tag, event.msg_length, *more)

    def _send(self, rank: int, event: Any) -> None:
        self._message(rank, Kind.SEND, event, event.receiver)

    def _isend(self, rank: int, event: Any) -> None:
        self._message(rank, Kind.ISEND, event, event.receiver, event.request_id)

    def _receive(self, rank: int, event: Any) -> None:
        self._message(rank, Kind.RECV, event, event.sender)

    def _ireceive(self, rank: int, event: Any) -> None:
        self._message(rank, Kind.IRECV, event, event.sender, event.request_id)

    def _collective(self, rank: int, event: Any) -> None:
        self._any_collective(rank, Kind.COLLECTIVE, event)

    def _collective_complete(self, rank: int, event: Any) -> None:
        self._any_collective(rank, Kind.COLLECTIVE_COMPLETE, event, event.request_id)

    def _any_collective(self, rank: int, kind: Kind, event: Any, *more: int) -> None:
        number = self._communicators[event.communicator]
        operation = int(getattr(event.collective_op, "value", event.collective_op))
        self._row(rank, kind, event.time, operation, number, event.root, event.size_sent, event.size_received, *more)

    def _measurement(self, rank: int, event: Any) -> None:
        off = event.measurement_mode == self._modes.OFF
        self._row(rank, Kind.OFF if off else Kind.ON, event.time)

    def _one_sided(self, rank: int, event: Any) -> None:
        if getattr(event.win.comm.group, "paradigm", None) == self._mpi:
            self._row(rank, Kind.ONE_SIDED, event.time)

    # -- matched probes: the message is known by its number, until it is received

    def _of_probes(self, events: Any) -> dict[type, Callable[[int, Any], None]]:
        """Newer versions of the package have these."""
        takers = {
            "MpiProbe": self._probe,
            "MpiMrecv": self._mrecv,
            "MpiImrecvRequest": self._imrecv_request,
            "MpiImrecv": self._imrecv,
        }
        return {getattr(events, name): taker for name, taker in takers.items() if hasattr(events, name)}

    def _probe(self, rank: int, event: Any) -> None:
        self._probed[rank, event.message_id] = (event.sender, self._communicators[event.communicator], event.tag)

    def _mrecv(self, rank: int, event: Any) -> None:
        self._row(rank, Kind.RECV, event.time, *self._probed[rank, event.message_id], event.msg_length)

    def _imrecv_request(self, rank: int, event: Any) -> None:
        self._requested[rank, event.request_id] = self._probed[rank, event.message_id]
        self._row(rank, Kind.IRECV_REQUEST, event.time, event.request_id)

    def _imrecv(self, rank: int, event: Any) -> None:
        known = self._requested[rank, event.request_id]
        self._row(rank, Kind.IRECV, event.time, *known, event.msg_length, event.request_id)


def _signed(number: int) -> int:
    """The 64 bits of a number as a signed one."""
    return number - 2 * _SIGN if number >= _SIGN else number


if __name__ == "__main__":
    words: Sequence[str] = sys.argv[1:]
    sys.exit(main(words[0], words[1]))
