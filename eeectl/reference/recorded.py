"""The page of recorded traces: the file of a rank, its records and their fields, from the recorder's table."""

import inspect
from typing import Final

from eee_testbed.benchmarks.recorder.function import LEFT_OUT, Function, Group
from eee_testbed.benchmarks.recorder.table import FORMAT, FUNCTIONS, MAGIC, NUMBERS, OWN_RECORDS
from eee_testbed.eeectl.reference.models import cell, prose
from eee_testbed.simulation.replay.readers import recorder_file

_ABOUT: Final = """\
`eeectl bench PROGRAM --trace` and `eeectl run FILE --trace` record every call of MPI functions that moves data, ends
requests or makes communicators, in C, C++, Fortran and Python. `eeectl trace import FOLDER -o X.replay` makes a
[replay file](replay-files.md) of them. [Import a trace and replay it](../how-to/import-trace.md) shows both. Here is
what the files hold, for other readers.

A trial's folder has `traces/rank.0`, `traces/rank.1` and so on. A library that is loaded before the program writes them
(`benchmarks/on_nodes/record_calls.c`); nodes compile it with `mpicc`. It adds about 0.06 us to a call, and 0.1 us in
lab time (`python -m evaluation.speed.recorder_overhead`); calls with lists take a few ns more for each number. Times
are those of the clock that the program sees: in lab time they are lab time.

Not recorded: programs that have MPI linked in statically, processes that a program spawns, and the functions of MPI 4
with large counts (`MPI_Send_c`). With MPI_THREAD_MULTIPLE records are whole and in the order in which calls ended; a
call that took longer than the time since the record before overlapped it.
"""
_CODES: Final = """\
Ranks that are peers or roots are stored + 2: 0 is MPI_PROC_NULL, 1 MPI_ANY_SOURCE. Tags are stored + 1: 0 is
MPI_ANY_TAG. `request_and_1` is the number of a request + 1, 0 of one that is left out. Communicators and requests have
numbers of the rank's own; those of requests are used again, those of communicators are not. Communicator 0 is the
world, 1 MPI_COMM_SELF. Bytes are counts times the size of the type. `flags`: 1 in place, 2 an operation that does not
commute. Behind `request` a call on an intercommunicator has no fields.
"""


def recorded_traces() -> tuple[str, ...]:
    """The page below its title."""
    about = prose(inspect.getdoc(recorder_file) or "")
    magic = MAGIC.decode("ascii").replace("\n", "\\n")
    head = f"{about}\nA file begins with the bytes `{magic}`; the format is {FORMAT}.\n"
    own = "".join(f"| {number} | {name} | {cell(fields)} |\n" for name, (number, fields) in OWN_RECORDS.items())
    return (
        _ABOUT,
        f"## Files\n\n{head}",
        f"## Records that are no call\n\n| number | record | fields |\n| --- | --- | --- |\n{own}",
        f"## Records of calls\n\n{_CODES}",
        *(_group(group) for group in Group if group not in LEFT_OUT),
        _left_out(),
    )


def _group(group: Group) -> str:
    rows = "".join(
        f"| {NUMBERS[one.name]} | `{one.mpi_name}` | {cell(_fields(one))} |\n"
        for one in FUNCTIONS
        if one.group is group
    )
    return f"### {group.value.capitalize()}\n\n| number | function | fields |\n| --- | --- | --- |\n{rows}"


def _fields(function: Function) -> str:
    return ", ".join([*function.values, *([function.listed] if function.listed else [])])


def _left_out() -> str:
    named = {
        group: ", ".join(f"{NUMBERS[one.name]} `{one.mpi_name}`" for one in FUNCTIONS if one.group is group)
        for group in Group
        if group in LEFT_OUT
    }
    rows = "".join(f"| {group.value} | {names} |\n" for group, names in named.items())
    return (
        "### Without fields\n\nNames and times alone; an import counts them, says so and leaves them out.\n\n"
        f"| what | functions |\n| --- | --- |\n{rows}"
    )
