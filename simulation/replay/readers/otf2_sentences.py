"""What is said of a program that came from an OTF2 archive: what was filled in, and what was left out."""

from collections.abc import Iterator, Mapping
from typing import Final

from eee_testbed.simulation.replay.readers.otf2_sizes import Doubts

_IN_PLACE: Final = (
    "{} collective calls may have been MPI_IN_PLACE with larger blocks: the archive does not say, and they are "
    "replayed as if they were not."
)
_GUESSED: Final = (
    "{} reductions are taken as MPI_IN_PLACE: else they would have no whole number of elements of 4 bytes."
)
_FILLED: Final = (
    "{} MPI_Alltoallv calls have only the sums of each rank: blocks are in proportion to what the one sends and the "
    "other receives."
)
_OF_COUNTS: Final[Mapping[str, str]] = {
    "receives": "A receive has the sender that was recorded, also where the program named any rank.",
    "cancelled": "{} requests that were cancelled are left out.",
    "unfinished": "{} receives that never completed, or from MPI_PROC_NULL, are left out: their sender is unknown.",
    "late": "{} receives without a record of their begin are begun where they completed.",
    "loose": "{} non-blocking sends without a request are waited for in the next MPI_Wait or its kin.",
    "tests": "Time between tests of requests counts as computing.",
    "flushes": "Time in which the recording was written, {} times, is not computing.",
    "handles": "{} calls that make or free communicators and windows are left out.",
    "unrecorded": "{} non-blocking collective calls have no records and are left out.",
    "alone": "{} collective calls on communicators of one rank are left out.",
}


def sentences(counts: Mapping[str, int], doubts: Doubts) -> Iterator[str]:
    """Those of what happened, with how often; `counts` may have none of some."""
    known = {**_OF_COUNTS, "in_place": _IN_PLACE, "guessed": _GUESSED, "filled": _FILLED}
    happened = {**counts, "in_place": doubts.in_place, "guessed": doubts.guessed, "filled": doubts.filled}
    for key, sentence in known.items():
        if happened.get(key):
            yield sentence.format(happened[key])
