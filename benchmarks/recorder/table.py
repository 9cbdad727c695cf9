"""All functions that are recorded, with their numbers in ranks' files, and the records that are of no function."""

from collections.abc import Mapping
from typing import Final

from eee_testbed.benchmarks.recorder.collectives import COLLECTIVES, NEIGHBOURS
from eee_testbed.benchmarks.recorder.communicators import COMMUNICATORS
from eee_testbed.benchmarks.recorder.function import Function, Group
from eee_testbed.benchmarks.recorder.left_out import LEFT_OUT_FUNCTIONS
from eee_testbed.benchmarks.recorder.messages import MESSAGES, REQUESTS

FOLDER: Final = "traces"
"""Of a trial's folder: where the files of its ranks are."""

FILE: Final = "rank"
"""A rank's file is FILE.RANK."""

MAGIC: Final = b"EEE-MPI\n"
"""The first bytes of a file."""

FORMAT: Final = 1
"""Grows when numbers or fields change."""

_OWN: Final = 16

OWN_RECORDS: Final[Mapping[str, tuple[int, str]]] = {
    "BEGIN": (
        0,
        "first: format, rank, ranks, 1 if several threads may call MPI at once, time of day (ns since 1970)",
    ),
    "END": (1, "last: MPI_Finalize was called; the file of a program that was killed has none"),
    "COMMUNICATOR": (
        2,
        (
            "a communicator: its number, the function that made it (0 unknown), 1 if it joins two groups, its topology "
            "(1 Cartesian, 2 graph, 3 distributed graph, 0 none), its group, and the other group or the sources and "
            "targets of its topology. A group is twice the number of its ranks, + 1 if they follow each other by one "
            "step; then the first world rank + 1 and the step, or each world rank + 1, 0 of one outside. Sources and "
            "targets: their number, then each"
        ),
    ),
    "ASKED": (3, "calls of one function in a row that found nothing: the function, how many; duration of all together"),
    "FLUSHED": (4, "the next part of the file was mapped"),
    "FAILED": (5, "a call that returned an error: the function"),
}
"""Records that are no call that succeeded: number and fields."""

FUNCTIONS: Final[tuple[Function, ...]] = (
    *MESSAGES,
    *REQUESTS,
    *COLLECTIVES,
    *NEIGHBOURS,
    *COMMUNICATORS,
    *LEFT_OUT_FUNCTIONS,
)

NUMBERS: Final[Mapping[str, int]] = {function.name: _OWN + at for at, function in enumerate(FUNCTIONS)}
"""Numbers of functions, by name."""

BY_NUMBER: Final[Mapping[int, Function]] = {NUMBERS[function.name]: function for function in FUNCTIONS}

ASKING: Final = frozenset({"Test", "Testall", "Testany", "Testsome", "Iprobe", "Improbe", "Request_get_status"})
"""Functions that ask whether something has come yet: how often says how long a program waited."""

_SILENT: Final = frozenset(
    {
        *("Request_get_status", "Request_free", "Cancel", "Win_create", "Win_allocate", "Win_allocate_shared"),
        *("Win_create_dynamic", "Win_free", "Win_sync", "Win_test"),
    }
)
COMMUNICATING: Final = frozenset(
    function.name
    for function in FUNCTIONS
    if function.group not in (Group.COMMUNICATOR, Group.FILE, Group.PARTITIONED)
    and function.name not in _SILENT
    and not function.name.endswith("_init")
)
"""Functions that communicate, as the counter of calls counts them (`benchmarks/on_nodes/count_calls.c`)."""
