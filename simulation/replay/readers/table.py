"""Every format that `eeectl trace import` reads, in one visible table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.lab.plain_text import one_line
from eee_testbed.simulation.replay.agreement import disagreement
from eee_testbed.simulation.replay.checks import BadProgram, check_program
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.dumpi import looks_like_dumpi, read_dumpi
from eee_testbed.simulation.replay.readers.goal import looks_like_goal, read_goal
from eee_testbed.simulation.replay.readers.otf2 import looks_like_otf2, read_otf2
from eee_testbed.simulation.replay.readers.reading import REMEDY, Options, head_of
from eee_testbed.simulation.replay.readers.recorder import files_of, read_recorder
from eee_testbed.simulation.replay.readers.recorder_file import looks_like_recorder
from eee_testbed.simulation.replay.readers.ti import listed_files, looks_like_ti, read_ti
from eee_testbed.simulation.replay.readers.vef import looks_like_vef, read_vef


@dataclass(frozen=True, slots=True)
class Format:
    """A format: what it is, which files to name, how it is recognised by a file's first bytes, and its reader.

    `assumes` and `refuses` are for the reference page. `takes`: fields of `Options`, beside the name, that it needs.
    """

    title: str
    files: str
    assumes: str
    refuses: str
    looks_like: Callable[[bytes], bool]
    read: Callable[[Sequence[Path], Options], Program]
    takes: Sequence[str] = ()


RECORDED: Final = "recorder"
"""The format whose files may be named by their folder."""

_LISTED: Final = "ti"
"""The format whose files may be named by a list of them."""

FORMATS: Final[Mapping[str, Format]] = {
    "otf2": Format(
        "OTF2 archive (Score-P)",
        "the anchor file (`traces.otf2`)",
        "the sender that a receive from any rank took; blocks of MPI_Alltoallv between two ranks, from the sums of "
        "each; whether a collective call was in place, where its bytes leave that open",
        "inter-communicators, one-sided communication, messages of several threads of a rank",
        looks_like_otf2,
        read_otf2,
    ),
    "dumpi": Format(
        "DUMPI trace (SST)",
        "the `.meta` file, or the files of all ranks (`-0000.bin` and so on)",
        "the sender and bytes that a receive's status shows, else what its buffer can hold; no call is in place; ranks "
        "of Cartesian communicators keep their order",
        "traces that lack a rank's file, inter-communicators and graphs, one-sided communication, MPI_Comm_spawn",
        looks_like_dumpi,
        read_dumpi,
    ),
    "goal": Format(
        "GOAL schedule (LogGOPSim, ATLAHS), as text",
        "one file",
        "one processor a rank; computing ends before what may begin when it has begun (`irequires`)",
        "ranks that go on in one way or another, whichever message comes first; verbs that are not of MPI",
        looks_like_goal,
        read_goal,
    ),
    _LISTED: Format(
        "SimGrid time-independent trace",
        "one file, one for each rank, or the list of these that SMPI writes",
        "a speed (`--flops-per-s`), as it counts operations; tests take no time; all calls are on the world; a receive "
        "from -333 is from any rank if as many messages come, from none if none does",
        "messages without a tag (up to SimGrid 3.19), receives of unknown size, types that a program makes, "
        "persistent requests, waits and tests for some of several requests",
        looks_like_ti,
        read_ti,
        ("flops_per_s",),
    ),
    "vef": Format(
        "VEF trace (TraceLib)",
        "one file; `--codes` names a YAML file with its numeric codes, which are not published",
        "receives are begun when a rank starts; a rank's lines are in the order in which it made them",
        "traces without `--codes`, dependencies on what a rank does later",
        looks_like_vef,
        read_vef,
        ("codes",),
    ),
    RECORDED: Format(
        "recorded by `eeectl bench PROGRAM --trace` or `eeectl run FILE --trace`",
        "the folder of the run, of a trial or of its `traces`, or the files of all ranks (`rank.0` and so on)",
        "the message that a receive from any source or with any tag took; making communicators, probes and tests that "
        "find nothing take no time; of files that end early, what has both its ends",
        "messages and collective calls on inter-communicators and with spawned programs; one-sided communication, "
        "files and partitioned messages are left out and counted",
        looks_like_recorder,
        read_recorder,
    ),
}


_PARQUET: Final = b"PAR1"
"""A replay file begins with it."""

_COMPRESSED: Final[Mapping[bytes, str]] = {
    b"\x1f\x8b": "gunzip",
    b"\xfd7zXZ\0": "unxz",
    b"BZh": "bunzip2",
    b"\x28\xb5\x2f\xfd": "unzstd",
    b"PK\x03\x04": "unzip",
}
"""By their first bytes, what unpacks compressed files."""


def may_be_program(path: Path) -> bool:
    """Whether a file begins as a replay file; UnreadableFile if it cannot be read."""
    return head_of(path).startswith(_PARQUET)


def format_of(path: Path) -> str:
    """The name of the format that a file has; UnreadableFile if it looks like none."""
    head = head_of(path)
    if not head:
        raise UnreadableFile(str(path), 0, "is empty", "record the trace again, or restore the file from a copy")
    for name, one in FORMATS.items():
        if one.looks_like(head):
            return name
    if head.startswith(_PARQUET):
        raise UnreadableFile(str(path), 0, "is a replay file already", "use it as it is")
    raise UnreadableFile(str(path), 0, "looks like none of the formats", f"say --format ({', '.join(FORMATS)})")


def _require_unpacked(path: Path) -> None:
    head = head_of(path) if path.is_file() else b""
    for magic, tool in _COMPRESSED.items():
        if head.startswith(magic):
            raise UnreadableFile(str(path), 0, "is compressed", f"unpack it first, as with {tool}")


def _require_taken(path: Path, name: str, options: Options) -> None:
    """A format does not pass over what was given for another."""
    for field in ("flops_per_s", "codes"):
        if getattr(options, field) is not None and field not in FORMATS[name].takes:
            option = "--" + field.replace("_", "-")
            raise LabError(f"{path}: the format {name} takes no {option}: leave it out, or say another --format.")


def is_recorded(files: Sequence[Path], name: str) -> bool:
    """Whether the files of a trace, or their folder, are of the recorder; `name` as for `import_trace`."""
    return name == RECORDED or (not name and looks_like_recorder(head_of(files_of(files)[0])))


def import_trace(files: Sequence[Path], name: str, options: Options) -> Program:
    """The program of a trace, checked; `name` is the format, or empty to recognise it by the first file."""
    if not files:
        raise LabError("no file is named: name those of the trace.")
    if name and name not in FORMATS:
        raise LabError(f"the format {one_line(name)} is unknown: use {', '.join(FORMATS)}.")
    if name in ("", RECORDED):
        files = files_of(files)
    _require_unpacked(files[0])
    if name in ("", _LISTED):
        files = listed_files(files)
    name = name or format_of(files[0])
    _require_taken(files[0], name, options)
    program = FORMATS[name].read(files, options)
    try:
        check_program(program.calls, program.ranks, program.communicators)
    except BadProgram as error:
        raise UnreadableFile(str(files[0]), 0, str(error), REMEDY) from error
    if said := disagreement(program):
        raise UnreadableFile(str(files[0]), 0, said, REMEDY)
    return program
