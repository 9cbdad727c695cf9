"""Programs as OTF2 archives, with the records that Score-P would have written: for tools that show traces.

Nothing is simulated: a rank computes as the program says, and each call takes `CALL_NS`, so messages do not cross in
time as in a recording. Loops are written out. What a recording does not hold is lost: messages to MPI_PROC_NULL, and
requests that nobody waits for. A receive from any rank is refused, as a record names the sender.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.replay.calls import ANY, CALLS, NO_REQUEST, NOBODY, RECEIVES, SENDS, STARTS, Call
from eee_testbed.simulation.replay.loops import unrolled
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.otf2_sizes import OPERATIONS, Share, recorded

CALL_NS: Final = 1000
_TICKS_PER_S: Final = 10**9
_NO_ROOT: Final = (1 << 32) - 1
_STEP_NS: Final = 10
"""Nanoseconds between a function's begin and its records, and between them and its end."""

_NAMES: Final[Mapping[Call, str]] = {
    **{call: f"MPI_{call.name.capitalize()}" for call in Call},
    Call.WAIT: "MPI_Waitall",
}


def write_otf2(program: Program, folder: Path) -> Path:
    """Write an archive into a folder that must not exist; the path of its anchor file."""
    try:
        import otf2  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise LabError("OTF2 archives need the package otf2: run `pip install 'eee-testbed[traces]'`.") from error
    with otf2.writer.open(str(folder), timer_resolution=_TICKS_PER_S) as archive:
        _Archive(otf2, archive, program).write()
    return folder / "traces.otf2"


class _Archive:
    def __init__(self, otf2: Any, archive: Any, program: Program) -> None:
        self.otf2, self._archive, self.program = otf2, archive, program
        made = archive.definitions
        self.regions: dict[str, Any] = {}
        node = made.system_tree_node("machine")
        places = [made.location_group(f"MPI Rank {rank}", system_tree_parent=node) for rank in range(program.ranks)]
        self.locations = [made.location("Master thread", group=place) for place in places]
        mpi = otf2.Paradigm.MPI
        kinds = otf2.GroupType
        made.group("", group_type=kinds.COMM_LOCATIONS, paradigm=mpi, members=self.locations)
        self.communicators = []
        for number, ranks in enumerate(program.communicators):
            members = [self.locations[rank] for rank in ranks]
            group = made.group(f"group {number}", group_type=kinds.COMM_GROUP, paradigm=mpi, members=members)
            self.communicators.append(made.comm("MPI_COMM_WORLD" if number == 0 else f"comm {number}", group=group))

    def region(self, name: str) -> Any:
        """An MPI function."""
        if name not in self.regions:
            self.regions[name] = self._archive.definitions.region(name, paradigm=self.otf2.Paradigm.MPI)
        return self.regions[name]

    def write(self) -> None:
        """Write all ranks."""
        of_rank: list[list[dict[str, Any]]] = [[] for _ in range(self.program.ranks)]
        for row in self.program.calls.iter_rows(named=True):
            of_rank[row["rank"]].append(row)
        for rank, rows in enumerate(of_rank):
            _Rank(self, self._archive.event_writer_from_location(self.locations[rank]), rank).write(unrolled(rows))


class _Rank:
    def __init__(self, whole: _Archive, writer: Any, rank: int) -> None:
        self._whole, self._writer, self._rank = whole, writer, rank
        self._time = 0
        self._next = 1
        self._open: dict[int, tuple[int, Call, dict[str, Any]]] = {}

    def write(self, rows: Iterator[dict[str, Any]]) -> None:
        """Write the calls, between MPI_Init and MPI_Finalize."""
        self._function("MPI_Init", lambda: None)
        for row in rows:
            self._time += row["compute_ns"]
            call = Call(row["call"])
            if call is not Call.COMPUTE:
                name = _NAMES[call]
                if row["request"] != NO_REQUEST and call not in STARTS and call is not Call.CANCEL:
                    name = f"MPI_I{call.name.lower()}"
                self._function(name, lambda call=call, row=row: self._records(call, row))  # type: ignore[misc]
        self._function("MPI_Finalize", lambda: None)

    def _function(self, name: str, records: Callable[[], None]) -> None:
        region = self._whole.region(name)
        self._writer.enter(self._time, region)
        end = self._time + CALL_NS
        self._time += _STEP_NS
        records()
        self._time = end
        self._writer.leave(self._time, region)

    def _records(self, call: Call, row: dict[str, Any]) -> None:
        if call in SENDS | RECEIVES:
            self._point(call, row)
        elif call is Call.WAIT:
            for request in row["sizes"] or ():
                self._complete(*self._open.pop(request))
        elif call is Call.CANCEL:
            self._writer.mpi_request_cancelled(self._time, self._open.pop(row["request"])[0])
        elif row["request"] != NO_REQUEST:
            number = self._begin(call, row)
            self._writer.non_blocking_collective_request(self._time, number)
        else:
            self._writer.mpi_collective_begin(self._time)
            self._writer.mpi_collective_end(self._time, *self._collective(call, row))

    def _point(self, call: Call, row: dict[str, Any]) -> None:
        if call in RECEIVES and (row["peer"] == ANY or row["tag"] == ANY):
            raise LabError(
                "the program has receives from any rank, and a trace has to name the sender: replay it instead."
            )
        if row["peer"] == NOBODY:
            if row["request"] != NO_REQUEST:
                self._open[row["request"]] = (0, call, row)
            return
        if call is Call.IRECV:
            self._writer.mpi_irecv_request(self._time, self._begin(call, row))
        elif call is Call.RECV:
            self._writer.mpi_recv(self._time, *self._message(row))
        elif call in STARTS:
            self._writer.mpi_isend(self._time, *self._message(row), self._begin(call, row))
        else:
            self._writer.mpi_send(self._time, *self._message(row))

    def _begin(self, call: Call, row: dict[str, Any]) -> int:
        number, self._next = self._next, self._next + 1
        self._open[row["request"]] = (number, call, row)
        return number

    def _complete(self, number: int, call: Call, row: dict[str, Any]) -> None:
        if call not in SENDS | RECEIVES:
            self._writer.non_blocking_collective_complete(self._time, *self._collective(call, row), number)
        elif row["peer"] == NOBODY:
            return
        elif call is Call.IRECV:
            self._writer.mpi_irecv(self._time, *self._message(row), number)
        else:
            self._writer.mpi_isend_complete(self._time, number)

    def _message(self, row: dict[str, Any]) -> tuple[int, Any, int, int]:
        return row["peer"], self._whole.communicators[row["communicator"]], row["tag"], row["bytes"]

    def _collective(self, call: Call, row: dict[str, Any]) -> tuple[Any, Any, int, int, int]:
        members = self._whole.program.communicators[row["communicator"]]
        root = row["peer"] if CALLS[call].peer else _NO_ROOT
        share = Share(row["bytes"], tuple(row["sizes"]) if row["sizes"] else None, row["flags"])
        sent, received = recorded(call, list(members).index(self._rank), root, share, len(members))
        operation = getattr(self._whole.otf2.CollectiveOp, OPERATIONS[OPERATIONS.index(call)].name)
        return operation, self._whole.communicators[row["communicator"]], root, sent, received
